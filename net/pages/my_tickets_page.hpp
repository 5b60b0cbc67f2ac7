// SPDX-License-Identifier: Apache-2.0
// A customer's event tickets with their codes, and offers to and from other people. Pure: views in, page out.
#pragma once
#include "crypto/event_ticket_code.hpp"
#include "net/pages/page_sign_in.hpp"
#include "net/pages/site_page.hpp"
#include "net/wire/order_codec.hpp"

#include <functional>
#include <string>

namespace fq::net {

struct ticket_holder {
  language in = language::en;
  const std::string& base;
  timestamp now;
  customer_id customer; ///< nil: with the link to an order
  std::string link = {}; ///< path of that link; empty: signed in
};

/// `keys_of`: of a ticket's event. `problem`: what was wrong with a form; empty: nothing.
[[nodiscard]] site_page my_tickets_page(
  const ticket_holder& who, const held_tickets_reply& held, const transfers_reply& offers,
  const std::function<event_ticket_keys(const event_ticket_listing&)>& keys_of, std::string problem);

/// The tickets of one order as a list of held ones. They cannot be given away: that needs a sign-in.
[[nodiscard]] held_tickets_reply linked_tickets(const ticket_papers_reply& found);

/// Whether the link to an order opens nothing more: the event, or the sale of one without dates, was long
/// ago.
[[nodiscard]] bool is_link_over(const event_row& event, timestamp now);

/// For a visitor who is not signed in.
[[nodiscard]] site_page my_sign_in_page(language in, const sign_in_state& state, std::string_view mail_folder,
                                        std::string_view mailbox);

} // namespace fq::net
