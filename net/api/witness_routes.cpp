// SPDX-License-Identifier: Apache-2.0
// This installation as a witness of others' logs (c2sp.org/tlog-witness): cosigns a checkpoint that is
// consistent with the last one that it cosigned.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/witness.hpp"

namespace fq::net {
namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";

response text_answer(unsigned status, std::string_view type, std::string body) {
  response answer{.status = status, .content_type = type};
  answer.body = std::move(body);
  return answer;
}

response refusal_of(witness_verdict verdict, const witnessed& latest, const request& rq) {
  switch (verdict) {
    case witness_verdict::unknown_log:
      return problem(fault::not_found, rq.request_id, "This witness does not know the log.");
    case witness_verdict::not_signed: return problem(fault::log_not_signed, rq.request_id);
    case witness_verdict::shrinks:
      return problem(fault::bad_request, rq.request_id, "The old size is above that of the checkpoint.");
    case witness_verdict::other_size:
    case witness_verdict::other_root:
      return text_answer(409, "text/x.tlog.size", std::to_string(latest.size) + "\n");
    case witness_verdict::inconsistent: return problem(fault::log_inconsistent, rq.request_id);
    case witness_verdict::cosign: break;
  }
  return problem(fault::internal_error, rq.request_id);
}

struct reading {
  std::optional<response> no;
  std::shared_ptr<const witnessed_row> row; ///< null: nothing was cosigned
};

awaitable<reading> read_row(call c, std::string id) {
  find_witnessed wish{std::move(id)};
  auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  if (!got.error && got.reply.no.why == reason::not_found) co_return reading{};
  if (auto no = refused(c.rq, got)) co_return reading{std::move(no), nullptr};
  co_return reading{std::nullopt, std::move(got.reply.row)};
}

/// Judges and stores, unless this checkpoint is stored already. Empty: another request was first, and the log
/// must be judged anew.
awaitable<std::optional<response>> try_to_cosign(call c, const add_checkpoint_request& asked,
                                                 const note_verifier& log) {
  auto asking = read_row(c, witnessed_id(log.name));
  auto known = co_await asking;
  if (known.no) co_return std::move(known.no);
  const auto latest = state_of(known.row.get());
  const auto verdict = judge(asked, &log, latest);
  if (verdict != witness_verdict::cosign) co_return refusal_of(verdict, latest, c.rq);
  const auto now = c.ctx.environment.wall_now();
  auto line = c.ctx.shared->as_witness.cosign(asked.note, now);
  if (asked.note.content.size == latest.size) co_return text_answer(200, plain_text, std::move(line));
  store_witnessed wish{std::make_shared<const witnessed_row>(witnessed_next(asked.note, log, line, now)),
                       before(latest)};
  auto stored = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  if (auto no = refused(c.rq, stored)) co_return std::move(no);
  if (!stored.reply.is_stored) co_return std::nullopt;
  co_return text_answer(200, plain_text, std::move(line));
}

awaitable<response> add_checkpoint(call c) {
  const auto asked = parse_add_checkpoint(c.rq.body);
  if (!asked)
    co_return problem(fault::bad_request, c.rq.request_id, "This is no request to add a checkpoint.");
  const auto log = c.ctx.shared->as_witness.find(asked->note.content.origin);
  if (!log) co_return refusal_of(witness_verdict::unknown_log, {}, c.rq);
  if (!is_signed_by(asked->note, *log)) co_return refusal_of(witness_verdict::not_signed, {}, c.rq);
  for (int tries = 0; tries < cosign_tries_max; ++tries) {
    auto trying = try_to_cosign(c, *asked, *log);
    if (auto answer = co_await trying) co_return std::move(*answer);
  }
  co_return problem(fault::unavailable, c.rq.request_id, "This witness takes no more from this log now.");
}

awaitable<response> show_key(call c) {
  return ready(text_answer(200, plain_text, c.ctx.shared->as_witness.key() + "\n"));
}

/// The last checkpoint that was cosigned of the log with this hash of its origin.
awaitable<response> show_checkpoint(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return std::move(*no);
  auto asking = read_row({ctx, rq, {}, {}}, std::string{path.values[0]});
  auto known = co_await asking;
  if (known.no) co_return std::move(*known.no);
  if (!known.row) co_return problem(fault::not_found, rq.request_id);
  co_return text_answer(200, plain_text, known.row->note);
}

} // namespace

std::span<const route> witness_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/witness/add-checkpoint", for_anybody<add_checkpoint, address_limit::checkpoint>,
     witness_body_max},
    {get, "/witness/key", for_anybody<show_key, address_limit::anonymous>},
    {get, "/witness/{log}/checkpoint", self_guarded_for_anybody<show_checkpoint>},
  };
  return table;
}

} // namespace fq::net
