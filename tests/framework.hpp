// SPDX-License-Identifier: Apache-2.0
// CAF's test framework in a form that can be precompiled: every file still names its suite before it includes
// the framework itself.
#pragma once
#include <caf/test/unit_test.hpp>
#undef CAF_SUITE
