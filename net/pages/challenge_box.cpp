// SPDX-License-Identifier: Apache-2.0
#include "net/pages/challenge_box.hpp"

#include "net/http/cors.hpp"
#include "net/pages/limits.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/challenge_codec.hpp"
#include "outbound/captcha.hpp"

namespace fq::net {
namespace {

constexpr std::string_view hcaptcha_script = "https://js.hcaptcha.com";
/// As hCaptcha's documentation asks for.
constexpr std::string_view hcaptcha_origins = "https://hcaptcha.com https://*.hcaptcha.com";

} // namespace

challenge_box box_of(const context& ctx, const challenge_target& of, challenge_kind kind) {
  challenge_box box{kind, of};
  if (const auto* port = ctx.shared->captcha_of(kind)) box.site_key = port->site_key();
  if (kind == challenge_kind::turnstile) box.origin = origin_of(ctx.options.challenges.turnstile_url);
  if (kind == challenge_kind::hcaptcha) box.origin = hcaptcha_script;
  return box;
}

challenge_box code_box_of(const context& ctx) {
  return box_of(ctx, {}, parse_challenge_kind(ctx.options.otp.challenge).value_or(challenge_kind::none));
}

void set_challenge(site_page& page, const std::string& base, const challenge_box& box) {
  if (box.kind == challenge_kind::none) return;
  if (page.script.empty()) page.script = "challenge.mjs"; // else the page's own script loads it
  auto& data = page.data;
  data.set_optional("CHALLENGE", name_of(box.kind));
  const auto id = box.of.id.is_nil() ? std::string{} : to_string(box.of.id);
  data.set("CHALLENGE_URL", base
                              + (id.empty()                         ? std::string{"/auth"}
                                 : box.of.kind == event_kind::queue ? "/queues/" + id
                                                                    : "/events/" + id)
                              + "/challenge");
  data.set("CHALLENGE_ACTION", box.of.action());
  data.set("CHALLENGE_OF", id);
  data.set("SITE_KEY", box.site_key);
  data.set("SCRIPT_ORIGIN", box.origin);
  if (box.kind == challenge_kind::turnstile) page.captcha = {box.origin, box.origin, {}};
  if (box.kind == challenge_kind::hcaptcha)
    page.captcha = {std::string{hcaptcha_origins}, std::string{hcaptcha_origins},
                    std::string{hcaptcha_origins}};
}

awaitable<given_proof> proof_of(const visit& v, challenge_target of, challenge_kind kind) {
  const auto captcha = v.sent.find("captcha").substr(0, captcha_bytes_max);
  const bool is_captcha = kind == challenge_kind::turnstile || kind == challenge_kind::hcaptcha;
  if (!is_captcha || captcha.empty()) co_return given_proof{{}, read_solved(v.sent.find("challenge"))};
  if (auto no = limit_address(v.ctx, v.rq, address_limit::anonymous)) co_return given_proof{std::move(no)};
  auto passed = co_await pass_captcha(v.ctx, v.rq, of, kind, std::string{captcha});
  if (passed.no && passed.no->status != 403) co_return given_proof{std::move(passed.no)};
  co_return given_proof{{}, std::move(passed.reply.solved)};
}

} // namespace fq::net
