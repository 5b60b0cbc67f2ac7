// SPDX-License-Identifier: Apache-2.0
// main() of the tests of outbound services.
#define CAF_SUITE outbound_main
#include "caf/test/unit_test_impl.hpp"
