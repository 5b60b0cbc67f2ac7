// SPDX-License-Identifier: Apache-2.0
// The waiting page of an event or a standalone queue, in every state that a visitor can be in: one address
// from joining to "your turn". Pure: views in, page out. Also the pieces that shop_page shares.
#pragma once
#include "config/branding.hpp"
#include "domain/sale/views.hpp"
#include "net/pages/site_page.hpp"

#include <string>
#include <string_view>

namespace fq::net {

/// How far signing in is; the address and whether the last code was wrong come along.
enum class sign_in_step : std::uint8_t { address, code };

struct wait_view {
  language in = language::en;
  const std::string& base;
  const event_view& line;
  const entry_view* place = nullptr; ///< null: none
  timestamp now = {};
  bool signed_in = false; ///< events only
  std::string_view token = {}; ///< for the script: the customer's (events) or the place's (queues)
  std::string session_token = {}; ///< queues, while admitted
  std::string admission_pass = {}; ///< the same
  std::string join_key = {}; ///< queues: makes a join that comes twice one place
  std::string_view return_url = {}; ///< queues: where an admitted visitor goes; empty: nowhere
  std::string_view home_url = {}; ///< the tenant's own site; empty: not known
  std::string_view reason =
    {}; ///< why the visitor was sent here: "already_claimed", "queue_full", "expired", ...
  sign_in_step step = sign_in_step::address;
  std::string email = {}; ///< as typed
  bool was_wrong = false; ///< the address or the code
  std::string mail_folder =
    {}; ///< where somebody who tries the server out finds the code; empty: in the mail
  bool has_mailbox = false; ///< the demo's, where it is found more easily
};
[[nodiscard]] site_page wait_page(const wait_view& v);

/// How a queue's visitor takes the place to another device: a code for its camera, and the same as a link.
/// `link`: an address whose fragment has a token of the place, valid for `minutes`.
struct device_view {
  language in = language::en;
  const std::string& base;
  const event_view& line;
  const entry_view& place;
  timestamp now = {};
  std::string_view token = {}; ///< the place's, for the script
  std::string link = {};
  std::uint64_t minutes = 0;
};
[[nodiscard]] site_page device_page(const device_view& v);

// -- pieces --------------------------------------------------------------------------------------------

/// A text in which {time} becomes a time element, which scripts put into the visitor's own zone.
void append_timed(std::string& out, language in, std::string_view tag, std::string_view attributes,
                  std::string_view key, timestamp when);
/// "Time left: 4:59", with script only.
void append_countdown(std::string& out, language in, timestamp until);
void append_hidden(std::string& out, std::string_view name, std::string_view value);
/// A labelled text field. `more`: further attributes, safe HTML.
void append_field(std::string& out, std::string_view label, std::string_view name, std::string_view value,
                  std::string_view more, std::string_view problem = {});
/// A form of one button that posts `action` to `path`.
void append_action(std::string& out, std::string_view path, std::string_view action, std::string_view label,
                   std::string_view style = "button");

} // namespace fq::net
