// SPDX-License-Identifier: Apache-2.0
#include "net/pages/page_sign_in.hpp"

#include "net/http/cors.hpp"
#include "net/pages/challenge_box.hpp"
#include "net/pages/limits.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/json_in.hpp"

#include <filesystem>

namespace fq::net {

void set_sign_in(page_data& data, const sign_in_state& state, std::string_view mail_folder,
                 std::string_view mailbox) {
  data.show("SIGN_IN");
  data.show(state.step == sign_in_step::address ? "STEP_ADDRESS" : "STEP_CODE");
  data.set_optional("EMAIL", state.email);
  data.set_optional("HANDLE", state.handle);
  data.show("WAS_WRONG", state.was_wrong);
  data.set_optional("MAILBOX", mailbox);
  if (mailbox.empty()) data.set_optional("FOLDER", mail_folder);
}

awaitable<sign_in_turn> send_code_to(const visit& v) {
  sign_in_turn turn;
  auto email = lower_email(v.sent.find("email"));
  if (!is_email(email)) {
    turn.next = {sign_in_step::address, std::move(email), true};
    turn.status = 400;
    co_return turn;
  }
  const auto asked = code_box_of(v.ctx).kind;
  auto proof = co_await proof_of(v, {}, asked);
  if (proof.no) {
    turn.no = std::move(proof.no);
    co_return turn;
  }
  const bool may_work = !proof.solved.salt.empty();
  code_proof given{std::move(proof.solved), may_work};
  auto sent =
    co_await mail_code(v.ctx, v.rq, email, std::string{cookie(v.rq, v.cookie_name(code_cookie))},
                       std::string{cookie(v.rq, v.cookie_name(mark_cookie))}, v.in, std::move(given));
  turn.no = std::move(sent.no);
  turn.next = {sign_in_step::code, std::move(email), false, std::move(sent.handle)};
  co_return turn;
}

awaitable<sign_in_turn> enter_code(const visit& v) {
  sign_in_turn turn;
  auto email = lower_email(v.sent.find("email"));
  const std::string code{v.sent.find("otp").substr(0, code_max)};
  if (!is_email(email)) {
    turn.no =
      problem(fault::invalid_field, v.rq.request_id, {{"email", "invalid", "Must be an e-mail address."}});
    co_return turn;
  }
  std::string handle{v.sent.find("handle").substr(0, handle_max)};
  auto got = co_await redeem_code(v.ctx, v.rq, email, code, handle, v.in);
  if (got.was_wrong) {
    turn.status = got.no->status;
    turn.next = {sign_in_step::code, std::move(email), true, std::move(handle)};
    co_return turn;
  }
  turn.no = std::move(got.no);
  turn.customer = got.customer;
  turn.mark = std::move(got.mark);
  co_return turn;
}

void keep_turn(const visit& v, response& answer, const sign_in_turn& turn) {
  if (turn.customer.is_nil()) {
    if (turn.next.step == sign_in_step::code && !turn.next.was_wrong)
      set_cookie(answer, v.cookie_name(code_cookie), turn.next.handle,
                 {v.base(), code_seconds, v.is_secure()});
    return;
  }
  keep_shopper(v, answer, token_kind::customer, turn.customer);
  set_cookie(answer, v.cookie_name(mark_cookie), turn.mark,
             {v.base(), browser_mark_life.count(), v.is_secure()});
}

/// Only outside production, because it reveals a folder name.
std::string mail_folder_of(const config::options& options) {
  const bool is_told =
    options.mail.mode == "file" && options.environment != config::environment_kind::production;
  return is_told ? std::filesystem::absolute(options.data_dir / "mail").lexically_normal().string()
                 : std::string{};
}

} // namespace fq::net
