// SPDX-License-Identifier: Apache-2.0
// main() of the configuration tests.
#define CAF_SUITE config_main
#include "caf/test/unit_test_impl.hpp"
