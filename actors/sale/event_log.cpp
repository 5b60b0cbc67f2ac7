// SPDX-License-Identifier: Apache-2.0
// The event actor's public log. A decision's records are stored with it, in rows at the end of its batch;
// they come into the log a moment later, by turns of bounded work. A turn reads the log's right edge, and
// notes that are not in memory, and appends what changes to the journal: under the owner's epoch, exactly
// once. A checkpoint follows from what is stored (fair/note.hpp), so that a crash cannot come between the
// two.
#include "actors/protocol/log_messages.hpp"
#include "actors/protocol/witness_messages.hpp"
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "domain/base/planted.hpp"
#include "fair/bytes.hpp"
#include "fair/closing.hpp"
#include "fair/last_cosigned.hpp"
#include "fair/note.hpp"
#include "fair/proof_tiles.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

std::vector<char> root_bytes(const tree_hash& root) { return {root.begin(), root.end()}; }

log_growth growth_of(const log_rows& rows) {
  std::vector<log_part> edge;
  for (const auto& t : rows.tiles) {
    const bool is_bundle = t.level == bundle_level;
    edge.push_back(
      {is_bundle, is_bundle ? 0 : t.level, t.position, {t.content.begin(), t.content.end()}, t.last_number});
  }
  return {rows.state->size, rows.state->last_number, std::move(edge)};
}

growth_proof proof_of(const prove_growth& x, const std::vector<log_tile_row>& tiles) {
  tile_contents contents;
  for (const auto& t : tiles) contents[{t.level, t.position}] = {t.content.begin(), t.content.end()};
  try {
    return {{}, consistency_proof(x.old_size, x.size, subtrees_in(contents, x.size))};
  } catch (const std::out_of_range&) { return {reason::not_found, {}}; } // pruned
}

/// The join of an entry that the same decision has already removed from memory.
noted_join join_of(const changes& content, queue_number number) {
  for (const auto& c : content)
    if (const auto* joined = std::get_if<entry_joined>(&c); joined != nullptr && joined->row.number == number)
      return {number, joined->row.priority_class, joined->row.joined_at, joined->row.subject,
              joined->row.join_key};
  return {number, 0, {}, {}, 0};
}

/// Tiles are deleted some time after.
bool is_final(event_status s) { return s == event_status::ended || s == event_status::cancelled; }

log_tile_row row_of(std::uint32_t number, log_part part) {
  return {number,
          part.is_bundle ? bundle_level : part.level,
          part.position,
          part.last_number,
          {part.content.begin(), part.content.end()}};
}

} // namespace

// -- what decisions note

void event_state::start_log(const std::optional<log_state_row>& stored) {
  log_ = {};
  log_.nonces.emplace(nonce_secret_of(services_->stored_key, sale_->event().id));
  if (stored && !stored->is_lost) sale_->keep_log();
  if (stored) log_.state = *stored;
  const bool awaits_draw = root_of_lobby() && !is_set(sale_->lobby()->drawn_at);
  if (stored && !stored->is_lost && awaits_draw && stored->closing.empty()) // an older program was the owner
    log_.state.closing = sign_log(*stored, services_->stored_key) + stored->cosignatures;
  arm_log(log_pause); // an earlier owner may have left rows
}

/// Call this first in a decision. A log that replaces a lost one names the last checkpoint of the lost log.
void event_state::begin_log(decision& d) {
  if (sale_->is_logged() || sale_->event().status == event_status::draft) return;
  const auto& event = sale_->event();
  log_state_row state;
  state.number = next_log_number(log_.state.number, services_->env->wall_now());
  state.origin = services_->log_address + (sale_->sells() ? "/events/" : "/queues/") + to_string(event.id)
                 + "/log" + (state.number > 1 ? "/" + std::to_string(state.number) : "");
  state.root = root_bytes(sha256(""));
  state.taken_seq = journal_->last_seq();
  state.taken_ordinal = ~std::uint64_t{0} >> 1;
  const auto lost = log_.state.number > 0 ? sign_log(log_.state, services_->stored_key) : std::string{};
  sale_->begin_log(lost, d);
  log_.state = state;
  d.content.emplace_back(std::in_place_type<log_kept>, log_kept{std::move(state), {}});
}

void event_state::note_records(decision& d, timestamp t) {
  if (d.records.empty()) return;
  for (const auto& record : d.records) {
    const auto* joined = std::get_if<joined_record>(&record);
    if (joined == nullptr) {
      log_.notes.add(record, t);
      continue;
    }
    if (planted(bug::join_not_noted) && value_of(joined->number) % 3 == 0) continue;
    const auto* e = sale_->queue().find(joined->number);
    log_.notes.add(e != nullptr ? noted_join{e->number, joined->priority_class.value_or(e->priority_class),
                                             e->joined_at, e->subject, e->join_key}
                                : join_of(d.content, joined->number));
  }
  // The batch's rows come at its end; without another change there would be no batch.
  if (d.content.empty()) d.content.emplace_back(std::in_place_type<log_noted>);
}

/// Puts the noted records at the end of the batch.
void event_state::add_notes(batch& b) {
  auto pieces = log_.notes.take();
  if (pieces.empty()) return;
  std::vector<noted_rows> rows;
  const auto is_row = [](const change& c) { return std::holds_alternative<log_noted>(c); };
  auto ordinal = static_cast<std::uint64_t>(std::ranges::count_if(b.content, is_row));
  for (auto& piece : pieces) {
    rows.push_back({{b.to_seq, ordinal++}, {piece}});
    b.content.emplace_back(std::in_place_type<log_noted>, log_noted{{std::move(piece)}});
  }
  journal_->hold(b.to_seq, [this, rows = std::move(rows)]() mutable {
    log_.fresh.add(std::move(rows));
    if (!log_.is_growing) arm_log(log_pause);
  });
}

// -- turns

void event_state::arm_log(milliseconds pause) {
  if (!std::exchange(log_.is_armed, true)) set_timer(timer_kind::log, pause, 0);
}

void event_state::grow_log() {
  log_.is_armed = false;
  if (!serving_ || is_moving_ || !sale_->is_logged()) return;
  if (log_.is_growing || refuses() || journal_->is_stalled()) return arm_log(log_pause);
  log_.is_growing = true;
  const bool reads_notes = !log_.fresh.has_all();
  if (log_.growth && !reads_notes) return extend_log();
  if (reads_notes) log_.fresh.begin_read();
  const auto is_current = [this, epoch = journal_->epoch()] {
    return serving_ && journal_->epoch() == epoch;
  };
  const auto rows_max = reads_notes ? log_rows_per_turn : 0;
  self_
    ->request(services_->ledgers.reader(number_of(aggregate_)), log_read_timeout,
              read_log{aggregate_, {.noted = rows_max, .edge = true}})
    .then(
      [this, is_current, reads_notes](const log_read& x) {
        if (!is_current()) return;
        const auto is_mine = [this](const log_state_row& s) {
          return s.number == log_.state.number && s.size == log_.state.size;
        };
        if (x.no || !is_mine(*x.rows->state)) return end_turn(log_pause); // a new log is not committed yet
        log_.growth = growth_of(*x.rows);
        if (reads_notes) log_.fresh.end_read(x.rows->noted, x.rows->noted.size() < log_rows_per_turn);
        extend_log();
      },
      [this, is_current](const caf::error&) {
        if (is_current()) end_turn(log_pause);
      });
}

/// `pause`: until the next turn; without it, the next commit with notes sets the timer.
void event_state::end_turn(std::optional<milliseconds> pause) {
  log_.is_growing = false;
  log_.growth.reset();
  if (pause) arm_log(*pause);
}

/// Once after a load, because the turn is tried again each second.
void event_state::warn_of_stop(std::string_view why) {
  if (std::exchange(log_.has_warned, true) || !services_->warn) return;
  services_->warn("the public log of " + to_string(sale_->event().id) + " stands still: " + std::string{why});
}

/// Root of the entrants; nullopt: not computed yet.
std::optional<sha256_digest> event_state::root_of_lobby() const {
  const auto* lobby = sale_->lobby();
  if (lobby == nullptr || lobby->root.empty()) return std::nullopt;
  return digest_of_hex(lobby->root);
}

/// Sends the newest checkpoint to the witnesses. No request waits for their answers.
void event_state::tell_witnesses() {
  if (!services_->witnesses) return;
  const auto note = sign_log(log_.state, services_->stored_key);
  std::optional<std::string> cosigned;
  if (!std::exchange(log_.has_told, true)) cosigned = log_.state.cosigned;
  self_->send(services_->witnesses,
              checkpoint_signed{aggregate_, note, caf::actor_cast<cosigned_log_handle>(self_->ctrl()),
                                closing_proof{log_.state.closing}.first(), std::move(cosigned)});
}

caf::result<growth_proof> event_state::on_prove_growth(const prove_growth& x) {
  if (refuses() || !sale_->is_logged()) return growth_proof{reason::unavailable, {}};
  if (x.old_size > x.size || x.size > log_.state.size) return growth_proof{reason::not_found, {}};
  log_wish wish;
  for (const auto& t : tiles_of_consistency(x.old_size, x.size)) wish.tiles.push_back({t.level, t.index});
  auto promise = self_->make_response_promise<growth_proof>();
  self_
    ->request(services_->ledgers.reader(number_of(aggregate_)), log_read_timeout,
              read_log{aggregate_, std::move(wish)})
    .then(
      [promise, x](const log_read& found) mutable {
        growth_proof proof{found.no, {}};
        if (found.rows) proof = proof_of(x, found.rows->tiles);
        promise.deliver(std::move(proof));
      },
      [promise](const caf::error&) mutable {
        promise.deliver(growth_proof{reason::unavailable, {}});
      });
  return promise;
}

/// Adds the cosignature to the newest checkpoint; false: the log has grown since, or it has it.
bool event_state::cosign_newest(const checkpoint_cosigned& x) {
  auto& lines = log_.state.cosignatures;
  if (x.size != log_.state.size || lines.size() + x.lines.size() > cosignatures_bytes_max) return false;
  if (lines.find(x.lines) != std::string::npos) return false;
  lines += x.lines;
  return true;
}

/// An earlier checkpoint counts, too, because joins may make the log grow all the time. While the ledger is
/// away the journal keeps it, because the witness is not asked again: two for each witness at most.
void event_state::on_cosigned(const checkpoint_cosigned& x) {
  if (!serving_ || is_moving_ || !x.note.starts_with(log_.state.origin + '\n')) return; // of a lost log
  closing_proof closing{log_.state.closing};
  const bool proves_closing = closing.cosigned(x.note, x.lines);
  log_.state.closing = closing.note();
  auto cosigned = keep_cosigned(log_.state.cosigned, {x.note, x.witness, x.lines}, cosignatures_bytes_max);
  const bool is_known = cosigned == log_.state.cosigned;
  log_.state.cosigned = std::move(cosigned);
  const bool is_newest = cosign_newest(x);
  const bool has_turn = !log_.fresh.rows().empty(); // it writes what may wait
  if (!is_newest && !proves_closing && (is_known || has_turn)) return;
  changes content;
  content.emplace_back(std::in_place_type<log_kept>, log_kept{log_.state, {}});
  journal_->append(std::move(content), now(), false);
}

/// Takes the first notes into the log, as many as a turn may.
void event_state::extend_log() {
  auto& fresh = log_.fresh;
  if (fresh.rows().empty()) {
    if (!fresh.has_all()) return end_turn(log_pause); // too much came while the ledger was read
    if (!log_.has_told) tell_witnesses(); // the last owner may not have heard all of theirs
    return end_turn(std::nullopt);
  }
  auto& growth = *log_.growth;
  const bool is_pruned = !growth.has_edge(); // its sale is over: what comes now is taken and not kept
  if (is_pruned && !is_final(sale_->event().status)) {
    warn_of_stop("the ledger has lost its last tiles");
    return end_turn(log_pause);
  }
  const auto root = root_of_lobby();
  closing_proof closing{log_.state.closing};
  const auto append = [&](const std::string& record, queue_number n) {
    if (is_pruned) return;
    growth.append(closing.complete(root ? with_root(record, *root) : record), n);
  };
  log_kept kept{log_.state, {}};
  bool has_taken = false;
  for (std::size_t bytes = 0; !fresh.rows().empty(); has_taken = true) {
    const auto& [place, row] = fresh.rows().front();
    const std::string_view content{row.content.data(), row.content.size()};
    bytes += content.size();
    if (has_taken && bytes > log_bytes_per_turn) break;
    if (!root && has_open_closing(content)) break; // until the root of the entrants is computed
    if (!read_notes(content, place.seq, aggregate_, *log_.nonces, append)) {
      warn_of_stop("a row of log_batch is damaged");
      break;
    }
    kept.state.taken_seq = place.seq;
    kept.state.taken_ordinal = place.ordinal;
    fresh.pop();
  }
  if (!has_taken) return end_turn(log_pause);
  if (!is_pruned) {
    kept.state.size = growth.size();
    kept.state.cosignatures.clear();
    kept.state.root = root_bytes(growth.root());
    kept.state.last_number = growth.last_number();
    if (closing.is_due()) closing.begin(sign_log(kept.state, services_->stored_key));
    kept.state.closing = closing.note(); // stored before a witness gets it
  }
  for (auto& part : growth.take()) kept.tiles.push_back(row_of(kept.state.number, std::move(part)));
  log_.state = kept.state;
  changes content;
  content.emplace_back(std::in_place_type<log_kept>, std::move(kept));
  journal_->hold(journal_->append(std::move(content), now(), false), [this] { turn_committed(); });
}

/// With less than log_bytes_per_turn left, the next turn waits log_pause: each turn writes the edge again.
void event_state::turn_committed() {
  tell_witnesses();
  const auto& fresh = log_.fresh;
  if (fresh.has_all() && fresh.bytes() < log_bytes_per_turn)
    return end_turn(fresh.rows().empty() ? std::nullopt : std::optional{log_pause});
  log_.is_growing = false;
  arm_log(milliseconds{0});
}

// -- receipts

caf::result<receipt_reply> event_state::on_find_receipt(const find_receipt& x) {
  if (refuses()) return refused(x);
  const auto* e = x.ticket.is_nil() ? sale_->queue().find(x.customer) : entry_of(x.ticket);
  const bool is_here = x.ticket.is_nil() ? !is_no_sale(x.event) : e != nullptr;
  if (!is_here || !sale_->is_logged()) return receipt_reply{reason::not_found};
  if (e == nullptr) return reveal(receipt_reply{reason::not_in_queue});
  receipt_reply reply;
  reply.entry = make_entry_id(e->joined_at, aggregate_, e->number);
  reply.number = e->number;
  const auto nonce = (*log_.nonces)(e->number, e->subject, e->join_key);
  for (std::size_t i = 0; i < 8; ++i) {
    reply.nonce.hi = reply.nonce.hi << 8 | nonce[i];
    reply.nonce.lo = reply.nonce.lo << 8 | nonce[i + 8];
  }
  return reveal(std::move(reply), change_of(e->number));
}

} // namespace fq
