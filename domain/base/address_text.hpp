// SPDX-License-Identifier: Apache-2.0
// Finds in stored texts what is a customer's: by a mail address, by an order. Pure.
#pragma once
#include <string_view>

namespace fq {

/// Whether the text holds the address, and not only as a part of a longer one.
[[nodiscard]] bool names_address(std::string_view text, std::string_view address);

/// The same for what CAF serialized, where the length of a text stands before it.
[[nodiscard]] bool names_address_serialized(std::string_view bytes, std::string_view address);

/// The text of the id of the order that a mail is about: a payload of mail.send, or a dead letter's. Empty:
/// none.
[[nodiscard]] std::string_view order_of_mail(std::string_view text);

/// Whether a text is of the customer with this name: an address that it names, or the id of an order that it
/// is a mail about.
[[nodiscard]] bool is_of(std::string_view text, std::string_view name);

/// The same for what CAF serialized; there, the id of any order that it holds.
[[nodiscard]] bool is_of_serialized(std::string_view bytes, std::string_view name);

} // namespace fq
