// SPDX-License-Identifier: Apache-2.0
// Signing in on a page: first the address, then the code from the mail.
#pragma once
#include "net/pages/page_templates.hpp"
#include "net/pages/visit.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Step of the sign-in: enter the address, or the code.
enum class sign_in_step : std::uint8_t { address, code };

struct sign_in_state {
  sign_in_step step = sign_in_step::address;
  std::string email = {}; ///< as typed
  bool was_wrong = false; ///< the address or the code was wrong
  std::string handle = {}; ///< of the request for the code
};

/// The values of _sign_in.html. `mail_folder`: with the mailed code, outside production; empty: not shown.
/// `mailbox`: path of the demo's mailbox; empty: none.
void set_sign_in(page_data& data, const sign_in_state& state, std::string_view mail_folder,
                 std::string_view mailbox);

/// What a form of the sign-in leads to.
struct sign_in_turn {
  std::optional<response> no;
  sign_in_state next = {}; ///< to show, with `status`, unless `customer` is set
  unsigned status = 200;
  uuid customer = {}; ///< signed in
  std::string mark = {}; ///< a browser mark for the address
};
/// Form `code`: mails a code.
awaitable<sign_in_turn> send_code_to(const visit& v);
/// Form `enter`: the code.
awaitable<sign_in_turn> enter_code(const visit& v);

/// The browser keeps what belongs to the turn: the request's handle, or the sign-in.
void keep_turn(const visit& v, response& answer, const sign_in_turn& turn);

/// With the mailed codes, outside production; empty: none.
[[nodiscard]] std::string mail_folder_of(const config::options& options);

} // namespace fq::net
