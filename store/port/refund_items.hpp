// SPDX-License-Identifier: Apache-2.0
// The tickets of a refund as text, empty for none: "ordinal:quantity" pairs separated by blanks ("0:2 3:1"),
// and ids separated by blanks. Stored by the SQL engines.
#pragma once
#include "domain/model/rows.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

std::string text_of(const std::vector<refund_item>& items);

/// Empty unless `text` is a text_of() result for items with non-zero quantities.
std::optional<std::vector<refund_item>> refund_items_of(std::string_view text);

std::string text_of(const std::vector<uuid>& ids);

/// Empty unless `text` is a text_of() result.
std::optional<std::vector<uuid>> ids_of(std::string_view text);

} // namespace fq
