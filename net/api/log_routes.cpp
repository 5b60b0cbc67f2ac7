// SPDX-License-Identifier: Apache-2.0
// The public log of a line as C2SP's tlog-tiles has it, and the receipt of an entry. Any node reads them in
// the ledger; a checkpoint follows from what is stored.
#include "actors/protocol/log_messages.hpp"
#include "fair/note.hpp"
#include "fair/proof_tiles.hpp"
#include "fair/records.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace fq::net {
namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";
constexpr std::string_view any_bytes = "application/octet-stream";
constexpr std::string_view for_ever = "public, max-age=31536000, immutable";
/// A crowd that follows the log asks a proxy once a second.
constexpr std::string_view for_a_moment = "public, max-age=1";

response shown(std::string_view type, std::string body, std::string_view cached) {
  response answer{.status = 200, .content_type = type};
  answer.body = std::move(body);
  answer.fields.emplace_back("Cache-Control", cached);
  return answer;
}

checkpoint checkpoint_of(const log_state_row& log) {
  checkpoint c{log.origin, log.size, {}};
  std::copy_n(log.root.begin(), std::min(log.root.size(), c.root.size()), c.root.begin());
  return c;
}

std::string note_of(const context& ctx, const log_state_row& log) {
  return sign_checkpoint(checkpoint_of(log), log_seed_of(ctx.shared->stored_key));
}

struct reading {
  std::optional<response> no;
  std::shared_ptr<const log_rows> rows;
};

awaitable<reading> read_rows(context& ctx, const request& rq, aggregate_id aggregate, log_wish what) {
  read_log wish{aggregate, std::move(what)};
  auto got = co_await ask(ctx, ctx.notices, std::move(wish));
  if (auto no = refused(rq, got)) co_return reading{std::move(no), nullptr};
  co_return reading{std::nullopt, std::move(got.reply.rows)};
}

/// The aggregate of the log whose address has this id; empty for what cannot be one.
std::optional<aggregate_id> log_of(std::string_view id) {
  const auto parsed = parse_uuid(id);
  return parsed && owner_of(*parsed) >= first_event_aggregate ? std::optional{owner_of(*parsed)} : std::nullopt;
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

awaitable<reading> read_head(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return reading{std::move(no), nullptr};
  const auto aggregate = log_of(path.values[0]);
  if (!aggregate) co_return reading{problem(fault::not_found, rq.request_id), nullptr};
  auto asking = read_rows(ctx, rq, *aggregate, {});
  auto got = co_await asking;
  if (!got.no && !is_at(*got.rows->state, address_in(rq.path)))
    co_return reading{problem(fault::not_found, rq.request_id), nullptr};
  co_return got;
}

awaitable<response> show_checkpoint(context& ctx, const request& rq, const path_parameters& path) {
  auto asking = read_head(ctx, rq, path);
  auto head = co_await asking;
  if (head.no) co_return std::move(*head.no);
  co_return shown(plain_text, note_of(ctx, *head.rows->state), for_a_moment);
}

awaitable<response> show_key(context& ctx, const request& rq, const path_parameters& path) {
  auto asking = read_head(ctx, rq, path);
  auto head = co_await asking;
  if (head.no) co_return std::move(*head.no);
  const auto key = ed25519_public_key_of(log_seed_of(ctx.shared->stored_key));
  const note_verifier verifier{head.rows->state->origin, note_key_kind::log, key};
  co_return shown(plain_text, verifier.text() + "\n", for_a_moment);
}

// -- tiles

/// The records of a bundle, the first `count`; empty if it has fewer.
std::optional<std::string> first_records(const std::vector<char>& bundle, std::uint64_t count) {
  std::size_t at = 0;
  for (; count > 0; --count) {
    if (at + 2 > bundle.size()) return std::nullopt;
    const auto high = static_cast<unsigned char>(bundle[at]), low = static_cast<unsigned char>(bundle[at + 1]);
    at += 2 + (static_cast<std::size_t>(high) << 8 | low);
  }
  return at <= bundle.size() ? std::optional{std::string{bundle.data(), at}} : std::nullopt;
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

awaitable<response> show_tile(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return std::move(*no);
  const auto aggregate = log_of(path.values[0]);
  const auto asked = parse_tile_path(tile_in(rq.path));
  if (!aggregate || !asked) co_return problem(fault::not_found, rq.request_id);
  const auto& [is_bundle, what] = *asked;
  log_wish wish;
  wish.tiles.push_back({is_bundle ? bundle_level : what.level, what.index});
  auto asking = read_rows(ctx, rq, *aggregate, std::move(wish));
  auto got = co_await asking;
  if (got.no) co_return std::move(*got.no);
  const auto& rows = *got.rows;
  const bool is_there = is_at(*rows.state, address_in(rq.path)) && !rows.tiles.empty();
  auto part = is_there ? part_of(*asked, rows.tiles.front().content) : std::nullopt;
  if (!part) co_return problem(fault::not_found, rq.request_id);
  co_return shown(any_bytes, std::move(*part), for_ever);
}

// -- receipts

/// Where a bundle has the record of a join.
struct found_join {
  std::uint64_t index = 0; ///< in the log
  std::string record;
};

std::optional<found_join> find_join(const log_tile_row& bundle, queue_number number) {
  const std::string_view all{bundle.content.data(), bundle.content.size()};
  std::string wanted;
  for (int shift = 56; shift >= 0; shift -= 8)
    wanted += static_cast<char>(value_of(number) >> shift & 0xff);
  std::uint64_t index = bundle.position * tile_width;
  for (std::size_t at = 0; at + 2 <= all.size(); ++index) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(all[at])) << 8
                      | static_cast<unsigned char>(all[at + 1]);
    const auto record = all.substr(at + 2, size);
    constexpr std::size_t number_at = 1 + 8 + 8; // after kind, sequence and time
    if (record.size() > number_at + 8 && record[0] == static_cast<char>(log_record_kind::joined)
        && record.substr(number_at, 8) == wanted)
      return found_join{index, std::string{record}};
    at += 2 + size;
  }
  return std::nullopt;
}

std::string receipt_text(const context& ctx, const receipt_reply& entry, const found_join& join,
                         const log_state_row& log, const std::vector<log_tile_row>& tiles) {
  record_nonce nonce;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[i] = static_cast<std::uint8_t>(entry.nonce.hi >> (56 - 8 * i) & 0xff);
    nonce[i + 8] = static_cast<std::uint8_t>(entry.nonce.lo >> (56 - 8 * i) & 0xff);
  }
  tile_contents contents;
  for (const auto& t : tiles) contents[{t.level, t.position}] = {t.content.begin(), t.content.end()};
  const auto proof = inclusion_proof(join.index, log.size, subtrees_in(contents, log.size));
  return proof_text(receipt_extra(nonce, entry.entry, join.record), join.index, proof, note_of(ctx, log));
}

/// Not in the log yet: a moment later it is.
response not_covered(const request& rq) {
  return problem(fault::unavailable, rq.request_id, "The join is not in the public log yet.", receipt_retry_after);
}

awaitable<response> receipt_of(call c, receipt_reply entry, aggregate_id aggregate) {
  auto finding = read_rows(c.ctx, c.rq, aggregate, {.joined = entry.number});
  auto bundle = co_await finding;
  if (bundle.no) co_return std::move(*bundle.no);
  if (bundle.rows->tiles.empty()) co_return not_covered(c.rq);
  const auto& log = *bundle.rows->state;
  const auto join = find_join(bundle.rows->tiles.front(), entry.number);
  if (!join) co_return problem(fault::not_found, c.rq.request_id); // it joined before the log began
  log_wish wish;
  wish.number = log.number;
  for (const auto& t : tiles_of_inclusion(join->index, log.size)) wish.tiles.push_back({t.level, t.index});
  auto reading_tiles = read_rows(c.ctx, c.rq, aggregate, std::move(wish));
  auto tiles = co_await reading_tiles;
  if (tiles.no) co_return std::move(*tiles.no);
  response answer{.status = 200, .content_type = plain_text};
  try {
    answer.body = receipt_text(c.ctx, entry, *join, log, tiles.rows->tiles);
  } catch (const std::out_of_range&) { // pruned
    co_return problem(fault::not_found, c.rq.request_id);
  }
  answer.fields.emplace_back("Content-Disposition", "attachment; filename=\"place.tlog-proof\"");
  co_return answer;
}

awaitable<response> show_receipt(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_receipt{c.id, c.who, {}});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto making = receipt_of(c, got.reply, owner_of(c.id));
  co_return co_await making;
}

awaitable<response> show_ticket_receipt(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_receipt{{}, {}, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto making = receipt_of(c, got.reply, owner_of(c.id));
  co_return co_await making;
}

} // namespace

/// A tile has up to four segments after its level: "x001/x234/067.p/7".
std::span<const route> log_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/log/checkpoint", self_guarded_for_anybody<show_checkpoint>},
    {get, "/events/{id}/log/key", self_guarded_for_anybody<show_key>},
    {get, "/events/{id}/log/tile/{level}/{n}", self_guarded_for_anybody<show_tile>},
    {get, "/events/{id}/log/tile/{level}/{n}/{m}", self_guarded_for_anybody<show_tile>},
    {get, "/events/{id}/log/tile/{level}/{n}/{m}/{o}", self_guarded_for_anybody<show_tile>},
    {get, "/queues/{id}/log/checkpoint", self_guarded_for_anybody<show_checkpoint>},
    {get, "/queues/{id}/log/key", self_guarded_for_anybody<show_key>},
    {get, "/queues/{id}/log/tile/{level}/{n}", self_guarded_for_anybody<show_tile>},
    {get, "/queues/{id}/log/tile/{level}/{n}/{m}", self_guarded_for_anybody<show_tile>},
    {get, "/queues/{id}/log/tile/{level}/{n}/{m}/{o}", self_guarded_for_anybody<show_tile>},
    {get, "/events/{id}/queue/receipt", for_customers<show_receipt>},
    {get, "/tickets/{id}/receipt", for_ticket_holders<show_ticket_receipt>},
  };
  return table;
}

} // namespace fq::net
