// SPDX-License-Identifier: Apache-2.0
// Mail addresses that lead to one mailbox: the large providers ignore what stands behind a plus, and some the
// dots. Pure.
#pragma once
#include <string>
#include <string_view>

namespace fq {

/// One text for all addresses of a mailbox. `email`: in lower case. The same text for other providers.
[[nodiscard]] std::string mailbox_of(std::string_view email);

} // namespace fq
