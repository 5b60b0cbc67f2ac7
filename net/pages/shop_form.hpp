// SPDX-License-Identifier: Apache-2.0
// The form of the ticket choice beyond quantities and names: an event's questions, and a donation. Pure.
#pragma once
#include "net/pages/shop_page.hpp"

#include <optional>
#include <vector>

namespace fq::net {

/// The quantities and seats of the form. Nothing if one is invalid.
[[nodiscard]] std::optional<std::vector<item_wish>> items_of(const form& sent, const event_view& event);

/// Their tickets, named seats among them.
[[nodiscard]] std::uint32_t units_in(const std::vector<item_wish>& items);

[[nodiscard]] std::int64_t units_left(const ticket_type_row& type);

/// Key of the text why the form does not ask the attendees of so many tickets; empty: it asks them, or the
/// event asks none.
[[nodiscard]] std::string why_not_asked(const std::vector<item_wish>& items, const event_view& event);

/// The answers in the form to the buyer's questions, and to those of as many attendees.
[[nodiscard]] std::vector<answer_row> answers_in(const form& sent, const std::vector<question>& questions,
                                                 std::uint32_t units);

/// Minor units of "5", "5.00" or "5,00"; 0 for none; nothing for another text.
[[nodiscard]] std::optional<money> donation_in(const form& sent, std::string_view currency);

/// Values of _questions.html.
void add_questions(page_data& data, language in, const choice_view& choice);

} // namespace fq::net
