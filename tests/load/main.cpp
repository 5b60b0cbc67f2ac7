// SPDX-License-Identifier: Apache-2.0
// The test program's main(), from CAF's framework. The suites are in the other files of this folder.
#define CAF_SUITE load
#include "caf/test/unit_test_impl.hpp"
