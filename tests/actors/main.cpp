// SPDX-License-Identifier: Apache-2.0
// main() of the tests of the actors.
#define CAF_SUITE actors_main
#include "caf/test/unit_test_impl.hpp"

namespace {

// CAF's watchdog gives a test 30 s, too little under a sanitizer on a busy machine; ctest has a limit of its
// own.
[[maybe_unused]] const bool patient = (caf::test::engine::max_runtime(240), true);

} // namespace
