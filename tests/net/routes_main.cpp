// SPDX-License-Identifier: Apache-2.0
// main() of the tests of routes, codecs and limits.
#define CAF_SUITE routes_main
#include "caf/test/unit_test_impl.hpp"
