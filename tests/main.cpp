// SPDX-License-Identifier: Apache-2.0
// main() of every test program: CAF's framework. How long a case may take is said on the command line
// (cmake/fairqueue.cmake).
#define CAF_SUITE main
#include "caf/test/unit_test_impl.hpp"
