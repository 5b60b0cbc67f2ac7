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
  customer_id customer;
};

/// `keys_of`: of a ticket's event. `problem`: what was wrong with a form; empty: nothing.
[[nodiscard]] site_page my_tickets_page(
  const ticket_holder& who, const held_tickets_reply& held, const transfers_reply& offers,
  const std::function<event_ticket_keys(const event_ticket_listing&)>& keys_of, std::string problem);

/// For a visitor who is not signed in.
[[nodiscard]] site_page my_sign_in_page(language in, const sign_in_state& state, std::string_view mail_folder,
                                        std::string_view mailbox);

} // namespace fq::net
