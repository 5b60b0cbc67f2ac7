// SPDX-License-Identifier: Apache-2.0
// main() of the domain tests.
#define CAF_SUITE domain_main
#include "caf/test/unit_test_impl.hpp"
