// SPDX-License-Identifier: Apache-2.0
// The waiting page of an event or a standalone queue, in every state from joining to admission, at one URL.
// Pure: views in, page out.
#pragma once
#include "config/branding.hpp"
#include "domain/sale/views.hpp"
#include "net/pages/challenge_box.hpp"
#include "net/pages/page_sign_in.hpp"
#include "net/pages/site_page.hpp"

#include <string>
#include <string_view>

namespace fq::net {

struct wait_view {
  language in = language::en;
  const std::string& base;
  const event_view& line;
  std::string url = {}; ///< public address of the page
  std::string picture_url = {}; ///< public address of the event's picture; empty: none
  const entry_view* place = nullptr; ///< null: no entry
  timestamp now = {};
  bool signed_in = false; ///< events only: as a customer or a guest
  bool is_guest = false;
  bool mails_turns = true; ///< the tenant mails an offer of the waiting list to customers
  std::string_view token = {}; ///< for the script: the shopper's token (events) or the entry's (queues)
  std::string session_token = {}; ///< queues, while admitted
  std::string admission_pass = {}; ///< queues, while admitted
  std::string join_key = {}; ///< queues: makes a join that is sent twice one entry
  std::string_view return_url = {}; ///< queues: target of an admitted visitor; empty: none
  std::string_view home_url = {}; ///< the tenant's own site; empty: unknown
  std::string_view reason = {}; ///< ?reason=: "already_claimed", "queue_full", "expired", …
  challenge_box challenge = {}; ///< of a join, or for those who must sign in of the code
  std::string_view solved = {}; ///< a challenge from a mail; empty: none
  sign_in_state sign_in = {};
  std::string mail_folder = {}; ///< folder with the mailed code, outside production; empty: not shown
  bool has_mailbox = false; ///< the demo's mailbox shows the mail
};
[[nodiscard]] site_page wait_page(const wait_view& v);

/// Takes a queue's entry to another device, by QR code or link. `link`: a URL whose fragment has a token of
/// the entry, valid for `minutes`.
struct device_view {
  language in = language::en;
  const std::string& base;
  const event_view& line;
  const entry_view& place;
  timestamp now = {};
  std::string_view token = {}; ///< the entry's token, for the script
  std::string link = {};
  std::uint64_t minutes = 0;
};
[[nodiscard]] site_page device_page(const device_view& v);

/// "Free", or the price.
[[nodiscard]] std::string price_text(language in, money price, std::string_view currency);

} // namespace fq::net
