// SPDX-License-Identifier: Apache-2.0
// main() of the crypto tests.
#define CAF_SUITE crypto_main
#include "caf/test/unit_test_impl.hpp"
