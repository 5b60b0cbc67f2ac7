// SPDX-License-Identifier: Apache-2.0
// The event actor's public log. A decision's records are stored with it, one row for each batch; they come
// into the log a moment later, by turns of bounded work. A turn reads rows and the log's right edge, and
// appends what changes to the journal: under the owner's epoch, exactly once. A checkpoint follows from what
// is stored (fair/note.hpp), so that a crash cannot come between the two.
#include "actors/protocol/log_messages.hpp"
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "domain/base/planted.hpp"
#include "fair/bytes.hpp"
#include "fair/note.hpp"

#include <utility>

namespace fq {
namespace {

std::vector<char> root_bytes(const tree_hash& root) { return {root.begin(), root.end()}; }

std::string note_of(const log_state_row& log, const secret_key& stored) {
  checkpoint c{log.origin, log.size, {}};
  std::copy_n(log.root.begin(), std::min(log.root.size(), c.root.size()), c.root.begin());
  return sign_checkpoint(c, log_seed_of(stored));
}

log_growth growth_of(const log_rows& rows) {
  std::vector<log_part> edge;
  for (const auto& t : rows.tiles) {
    const bool is_bundle = t.level == bundle_level;
    edge.push_back({is_bundle, is_bundle ? 0 : t.level, t.position, {t.content.begin(), t.content.end()},
                    t.last_number});
  }
  return {rows.state->size, rows.state->last_number, std::move(edge)};
}

log_tile_row row_of(std::uint32_t number, log_part part) {
  return {number, part.is_bundle ? bundle_level : part.level, part.position, part.last_number,
          {part.content.begin(), part.content.end()}};
}

} // namespace

// -- what decisions note

void event_state::start_log(const std::optional<log_state_row>& stored) {
  log_ = {};
  log_.nonces.emplace(nonce_secret_of(services_->stored_key, sale_->event().id));
  if (stored && !stored->is_lost) sale_->keep_log();
  if (stored) log_.before = *stored;
  arm_log(log_pause); // an earlier owner may have left rows
}

/// Before anything else of the decision. Of a log that was lost, the new one names the last checkpoint that
/// is left.
void event_state::begin_log(decision& d) {
  if (sale_->is_logged() || sale_->event().status == event_status::draft) return;
  const auto& event = sale_->event();
  log_state_row state;
  state.number = log_.before.number + 1;
  state.origin = services_->log_address + (sale_->sells() ? "/events/" : "/queues/") + to_string(event.id)
                 + "/log" + (state.number > 1 ? "/" + std::to_string(state.number) : "");
  state.root = root_bytes(sha256(""));
  state.taken_seq = journal_->last_seq();
  state.taken_ordinal = ~std::uint64_t{0} >> 1;
  const auto lost = log_.before.number > 0 ? note_of(log_.before, services_->stored_key) : std::string{};
  sale_->begin_log(lost, d);
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
    const auto& e = *sale_->queue().find(joined->number);
    log_.notes.add(noted_join{e.number, e.priority_class, e.joined_at, e.subject, e.join_key});
  }
  // The batch's rows come at its end; without another change there would be no batch.
  if (d.content.empty()) d.content.emplace_back(std::in_place_type<log_noted>);
}

/// At the end of the batch.
void event_state::add_notes(batch& b) {
  auto pieces = log_.notes.take();
  if (pieces.empty()) return;
  for (auto& piece : pieces) b.content.emplace_back(std::in_place_type<log_noted>, log_noted{{std::move(piece)}});
  journal_->hold(b.to_seq, [this] { arm_log(log_pause); });
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
  const auto epoch = journal_->epoch();
  const auto is_current = [this, epoch] { return serving_ && journal_->epoch() == epoch; };
  self_
    ->request(services_->ledgers.reader(number_of(aggregate_)), log_read_timeout,
              read_log{aggregate_, {.noted = log_rows_per_turn, .edge = true}})
    .then(
      [this, is_current](const log_read& x) {
        if (!is_current()) return;
        if (!x.no) return extend_log(*x.rows);
        log_.is_growing = false;
        arm_log(log_pause);
      },
      [this, is_current](const caf::error&) {
        if (!is_current()) return;
        log_.is_growing = false;
        arm_log(log_pause);
      });
}

void event_state::extend_log(const log_rows& rows) {
  if (rows.noted.empty()) {
    log_.is_growing = false;
    return;
  }
  auto growth = growth_of(rows);
  for (const auto& noted : rows.noted) {
    const auto& content = noted.row.content;
    const bool is_read = read_notes({content.data(), content.size()}, noted.place.seq, aggregate_, *log_.nonces,
                                    [&](const std::string& record, queue_number n) { growth.append(record, n); });
    if (!is_read) return; // damaged: the log stays as it is
  }
  log_kept kept{*rows.state, {}};
  kept.state.size = growth.size();
  kept.state.root = root_bytes(growth.root());
  kept.state.last_number = growth.last_number();
  kept.state.taken_seq = rows.noted.back().place.seq;
  kept.state.taken_ordinal = rows.noted.back().place.ordinal;
  for (auto& part : growth.take()) kept.tiles.push_back(row_of(kept.state.number, std::move(part)));
  const bool has_more = rows.noted.size() == log_rows_per_turn;
  changes content;
  content.emplace_back(std::in_place_type<log_kept>, std::move(kept));
  const auto seq = journal_->append(std::move(content), now(), false);
  journal_->hold(seq, [this, has_more] {
    log_.is_growing = false;
    if (has_more) arm_log(milliseconds{0});
  });
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
