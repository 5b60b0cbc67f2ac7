// SPDX-License-Identifier: Apache-2.0
// main() of the transport's tests.
#define CAF_SUITE net_core_main
#include "caf/test/unit_test_impl.hpp"
