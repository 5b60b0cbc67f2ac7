// SPDX-License-Identifier: Apache-2.0
// The tickets of a refund as one text: "ordinal:quantity" pairs with a blank between them ("0:2 3:1"),
// nothing for none. What the SQL engines store.
#pragma once
#include "domain/model/rows.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

std::string text_of(const std::vector<refund_item>& items);

/// Nothing unless `text` is what text_of makes of items with a quantity each.
std::optional<std::vector<refund_item>> refund_items_of(std::string_view text);

} // namespace fq
