// SPDX-License-Identifier: Apache-2.0
// The public log of a line as C2SP's tlog-tiles has it, and the receipt of an entry. Any node reads them in
// the ledger; a checkpoint follows from what is stored.
#include "fair/note.hpp"
#include "fair/tiles.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/public_log.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace fq::net {
namespace {

constexpr std::string_view log_text = "text/plain; charset=utf-8";
constexpr std::string_view log_bytes = "application/octet-stream";
constexpr std::string_view kept_for_ever = "public, max-age=31536000, immutable";
/// A crowd that follows the log asks a proxy once a second.
constexpr std::string_view kept_a_moment = "public, max-age=1";

response log_answer(std::string_view type, std::string body, std::string_view cached) {
  response answer{.status = 200, .content_type = type};
  answer.body = std::move(body);
  answer.fields.emplace_back("Cache-Control", cached);
  return answer;
}

/// The aggregate of the log whose address has this id; empty for what cannot be one.
std::optional<aggregate_id> aggregate_in(std::string_view id) {
  const auto parsed = parse_uuid(id);
  return parsed && owner_of(*parsed) >= first_event_aggregate ? std::optional{owner_of(*parsed)}
                                                              : std::nullopt;
}

/// Whether the address is that of the log: the id, and that it is an event or a queue.
bool is_at(const log_state_row& log, std::string_view path) {
  const auto at = log.origin.find(path);
  return at != std::string::npos && at + path.size() <= log.origin.size();
}

/// "/events/{id}/log" of the request's path.
std::string_view address_in(std::string_view path) {
  const auto at = path.find("/log/");
  return path.substr(0, at == path.npos ? path.size() : at + 4);
}

/// Rows of the log as it goes on. A lost one is not shown: the answer is 503, and the event is loaded, which
/// begins another log.
awaitable<log_reading> read_kept_rows(context& ctx, const request& rq, aggregate_id aggregate,
                                      log_wish wish) {
  auto asking = read_log_rows(ctx, rq, aggregate, std::move(wish));
  auto got = co_await asking;
  if (got.no || !got.rows->state->is_lost) co_return got;
  [[maybe_unused]] auto loaded = co_await ask_event(ctx, aggregate, find_entry{});
  co_return log_reading{
    problem(fault::unavailable, rq.request_id, "The public log begins anew.", receipt_retry_after), nullptr};
}

awaitable<log_reading> read_log_head(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return log_reading{std::move(no), nullptr};
  const auto aggregate = aggregate_in(path.values[0]);
  if (!aggregate) co_return log_reading{problem(fault::not_found, rq.request_id), nullptr};
  auto asking = read_kept_rows(ctx, rq, *aggregate, {});
  auto got = co_await asking;
  if (!got.no && !is_at(*got.rows->state, address_in(rq.path)))
    co_return log_reading{problem(fault::not_found, rq.request_id), nullptr};
  co_return got;
}

awaitable<response> show_log_checkpoint(context& ctx, const request& rq, const path_parameters& path) {
  auto asking = read_log_head(ctx, rq, path);
  auto head = co_await asking;
  if (head.no) co_return std::move(*head.no);
  co_return log_answer(log_text, checkpoint_note_of(ctx, *head.rows->state), kept_a_moment);
}

awaitable<response> show_cosigned_checkpoints(context& ctx, const request& rq, const path_parameters& path) {
  auto asking = read_log_head(ctx, rq, path);
  auto head = co_await asking;
  if (head.no) co_return std::move(*head.no);
  const auto& notes = head.rows->state->cosigned;
  if (notes.empty()) co_return problem(fault::not_found, rq.request_id);
  co_return log_answer(log_text, notes, kept_a_moment);
}

awaitable<response> show_log_key(context& ctx, const request& rq, const path_parameters& path) {
  auto asking = read_log_head(ctx, rq, path);
  auto head = co_await asking;
  if (head.no) co_return std::move(*head.no);
  const auto key = ed25519_public_key_of(log_seed_of(ctx.shared->stored_key));
  const note_verifier verifier{head.rows->state->origin, note_key_kind::log, key};
  co_return log_answer(log_text, verifier.text() + "\n", kept_a_moment);
}

// -- tiles

/// The records of a bundle, the first `count`; empty if it has fewer.
std::optional<std::string> first_records(const std::vector<char>& bundle, std::uint64_t count) {
  std::string_view rest{bundle.data(), bundle.size()};
  for (; count > 0; --count)
    if (!next_entry(rest)) return std::nullopt;
  return std::string{bundle.data(), bundle.size() - rest.size()};
}

std::optional<std::string> part_of(const tile_path& asked, const std::vector<char>& content) {
  if (asked.is_bundle) return first_records(content, asked.what.width);
  const auto bytes = asked.what.width * sizeof(tree_hash);
  return bytes <= content.size() ? std::optional{std::string{content.data(), bytes}} : std::nullopt;
}

/// "tile/0/x001/234.p/7" of the request's path.
std::string_view tile_in(std::string_view path) {
  const auto at = path.find("/log/");
  return at == path.npos ? std::string_view{} : path.substr(at + 5);
}

awaitable<response> show_log_tile(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return std::move(*no);
  const auto aggregate = aggregate_in(path.values[0]);
  const auto asked = parse_tile_path(tile_in(rq.path));
  if (!aggregate || !asked) co_return problem(fault::not_found, rq.request_id);
  const auto& [is_bundle, what] = *asked;
  log_wish wish;
  wish.tiles.push_back({is_bundle ? bundle_level : what.level, what.index});
  auto asking = read_kept_rows(ctx, rq, *aggregate, std::move(wish));
  auto got = co_await asking;
  if (got.no) co_return std::move(*got.no);
  const auto& rows = *got.rows;
  const bool is_there = is_at(*rows.state, address_in(rq.path)) && !rows.tiles.empty();
  auto part = is_there ? part_of(*asked, rows.tiles.front().content) : std::nullopt;
  if (!part) co_return problem(fault::not_found, rq.request_id);
  co_return log_answer(log_bytes, std::move(*part), kept_for_ever);
}

// -- receipts

awaitable<response> show_receipt(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_receipt{c.id, c.who, {}});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto making = answer_receipt(c.ctx, c.rq, owner_of(c.id), got.reply);
  co_return co_await making;
}

awaitable<response> show_ticket_receipt(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_receipt{{}, {}, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto making = answer_receipt(c.ctx, c.rq, owner_of(c.id), got.reply);
  co_return co_await making;
}

template <handler run>
constexpr guarded_handler for_log_readers = self_guarded_for_anybody<run, address_limit::public_log>;

} // namespace

/// A tile has up to four segments after its level: "x001/x234/067.p/7".
std::span<const route> log_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/log/checkpoint", for_log_readers<show_log_checkpoint>},
    {get, "/events/{id}/log/checkpoint.cosigned", for_log_readers<show_cosigned_checkpoints>},
    {get, "/events/{id}/log/key", for_log_readers<show_log_key>},
    {get, "/events/{id}/log/tile/{level}/{n}", for_log_readers<show_log_tile>},
    {get, "/events/{id}/log/tile/{level}/{n}/{m}", for_log_readers<show_log_tile>},
    {get, "/events/{id}/log/tile/{level}/{n}/{m}/{o}", for_log_readers<show_log_tile>},
    {get, "/queues/{id}/log/checkpoint", for_log_readers<show_log_checkpoint>},
    {get, "/queues/{id}/log/checkpoint.cosigned", for_log_readers<show_cosigned_checkpoints>},
    {get, "/queues/{id}/log/key", for_log_readers<show_log_key>},
    {get, "/queues/{id}/log/tile/{level}/{n}", for_log_readers<show_log_tile>},
    {get, "/queues/{id}/log/tile/{level}/{n}/{m}", for_log_readers<show_log_tile>},
    {get, "/queues/{id}/log/tile/{level}/{n}/{m}/{o}", for_log_readers<show_log_tile>},
    {get, "/events/{id}/queue/receipt", for_customers_or_guests<show_receipt>},
    {get, "/tickets/{id}/receipt", for_ticket_holders<show_ticket_receipt>},
  };
  return table;
}

} // namespace fq::net
