// SPDX-License-Identifier: Apache-2.0
#include "net/service/public_log.hpp"

#include "fair/bytes.hpp"
#include "fair/note.hpp"
#include "fair/proof_tiles.hpp"
#include "fair/records.hpp"
#include "fair/tiles.hpp"
#include "net/http/json_text.hpp"
#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"

#include <stdexcept>
#include <utility>

namespace fq::net {

awaitable<log_reading> read_log_rows(context& ctx, const request& rq, aggregate_id aggregate, log_wish what) {
  read_log wish{aggregate, std::move(what)};
  auto got = co_await ask(ctx, ctx.notices, std::move(wish));
  if (auto no = refused(rq, got)) co_return log_reading{std::move(no), nullptr};
  co_return log_reading{std::nullopt, std::move(got.reply.rows)};
}

std::vector<std::string> witness_keys(const context& ctx) {
  std::vector<std::string> keys;
  for (auto& w : ctx.options.witness.parsed_urls().value_or(std::vector<config::witness_address>{}))
    keys.push_back(std::move(w.key));
  return keys;
}

std::string witness_keys_json(const context& ctx) {
  std::string out = "[";
  for (const auto& key : witness_keys(ctx)) {
    if (out.size() > 1) out += ',';
    append_text(out, key);
  }
  return out + ']';
}

std::string checkpoint_note_of(const context& ctx, const log_state_row& log) {
  return sign_log(log, ctx.shared->stored_key) + log.cosignatures;
}

namespace {

/// Where a bundle has the record of a join.
struct found_join {
  std::uint64_t index = 0; ///< in the log
  std::string record;
};

std::optional<found_join> find_join(const log_tile_row& bundle, queue_number number) {
  constexpr std::size_t number_at = 1 + 8 + 8; // after kind, sequence and time
  std::string_view rest{bundle.content.data(), bundle.content.size()};
  for (auto index = bundle.position * tile_width; const auto record = next_entry(rest); ++index)
    if (record->size() > number_at + 8 && record->front() == static_cast<char>(log_record_kind::joined)
        && read_number(*record, number_at, 8) == value_of(number))
      return found_join{index, std::string{*record}};
  return std::nullopt;
}

/// Empty: its tiles are pruned.
std::optional<std::string> receipt_text(const context& ctx, const receipt_reply& entry,
                                        const found_join& join, const log_state_row& log,
                                        const std::vector<log_tile_row>& tiles) {
  record_nonce nonce;
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[i] = static_cast<std::uint8_t>(entry.nonce.hi >> (56 - 8 * i) & 0xff);
    nonce[i + 8] = static_cast<std::uint8_t>(entry.nonce.lo >> (56 - 8 * i) & 0xff);
  }
  tile_contents contents;
  for (const auto& t : tiles) contents[{t.level, t.position}] = {t.content.begin(), t.content.end()};
  try {
    const auto proof = inclusion_proof(join.index, log.size, subtrees_in(contents, log.size));
    return proof_text(receipt_extra(nonce, entry.entry, join.record), join.index, proof,
                      checkpoint_note_of(ctx, log));
  } catch (const std::out_of_range&) { return std::nullopt; }
}

/// Not in the log yet: a moment later it is.
response not_covered(const request& rq) {
  return problem(fault::unavailable, rq.request_id, "The join is not in the public log yet.",
                 receipt_retry_after);
}

} // namespace

awaitable<response> answer_receipt(context& ctx, const request& rq, aggregate_id aggregate,
                                   receipt_reply entry) {
  auto finding = read_log_rows(ctx, rq, aggregate, {.joined = entry.number});
  auto bundle = co_await finding;
  if (bundle.no) co_return std::move(*bundle.no);
  if (bundle.rows->tiles.empty()) co_return not_covered(rq);
  const auto& log = *bundle.rows->state;
  const auto join = find_join(bundle.rows->tiles.front(), entry.number);
  if (!join) co_return problem(fault::not_found, rq.request_id); // it joined before the log began
  log_wish wish;
  wish.number = log.number;
  for (const auto& t : tiles_of_inclusion(join->index, log.size)) wish.tiles.push_back({t.level, t.index});
  auto reading_tiles = read_log_rows(ctx, rq, aggregate, std::move(wish));
  auto tiles = co_await reading_tiles;
  if (tiles.no) co_return std::move(*tiles.no);
  auto text = receipt_text(ctx, entry, *join, log, tiles.rows->tiles);
  if (!text) co_return problem(fault::not_found, rq.request_id);
  response answer{.status = 200, .content_type = "text/plain; charset=utf-8"};
  answer.body = std::move(*text);
  answer.fields.emplace_back("Content-Disposition", "attachment; filename=\"place.tlog-proof\"");
  co_return answer;
}

} // namespace fq::net
