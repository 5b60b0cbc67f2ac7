// SPDX-License-Identifier: Apache-2.0
#include "load/checks/entry_checks.hpp"

#include <algorithm>
#include <unordered_map>

namespace fq::load {

namespace {

bool is_live(place_kind kind) {
  return kind == place_kind::waiting || kind == place_kind::away || kind == place_kind::admitted;
}

bool names_an_entry(place_kind kind) { return is_live(kind) || kind == place_kind::over; }

// One place in the line, collected from all its sightings.
struct entry_facts {
  std::size_t fan = 0;
  std::uint64_t number = 0;
  std::uint64_t batch = 0; // 0: never seen admitted
  bool admitted = false; // seen, or named by its end
  bool was_away = false;
  run_time_us admitted_seen_us = never_us; // arrival of the first answer that says ADMITTED
  run_time_us last_waiting_sent_us = -1; // send time of the last request that found it WAITING
};

using entry_map = std::unordered_map<uuid, entry_facts, uuid_hash>;

void add_sight(entry_facts& facts, const place_sight& observation) {
  switch (observation.kind) {
    case place_kind::waiting:
      facts.last_waiting_sent_us = std::max(facts.last_waiting_sent_us, observation.sent_us);
      break;
    case place_kind::away: facts.was_away = true; break;
    case place_kind::admitted:
      facts.admitted = true;
      facts.admitted_seen_us = std::min(facts.admitted_seen_us, observation.at_us);
      if (facts.batch == 0) facts.batch = observation.batch;
      break;
    case place_kind::over: // names the admission, also one that the fan never saw
      facts.admitted |= observation.batch > 0;
      if (facts.batch == 0) facts.batch = observation.batch;
      break;
    case place_kind::absent:
    case place_kind::left: break;
  }
}

entry_map gather_entries(const sale_history& history) {
  entry_map entries;
  entries.reserve(history.fans.size() * 2);
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& observation : history.fans[fan].places) {
      if (!names_an_entry(observation.kind)) continue;
      auto [at, fresh] = entries.try_emplace(observation.entry);
      if (fresh) {
        at->second.fan = fan;
        at->second.number = observation.number;
      }
      add_sight(at->second, observation);
    }
  }
  return entries;
}

std::vector<const entry_facts*> by_number(const entry_map& entries) {
  std::vector<const entry_facts*> sorted;
  sorted.reserve(entries.size());
  for (const auto& [id, facts] : entries) sorted.push_back(&facts);
  std::sort(sorted.begin(), sorted.end(),
            [](const entry_facts* a, const entry_facts* b) { return a->number < b->number; });
  return sorted;
}

// I6. Walks the line from its end to its head. It keeps, over all later numbers, the earliest batch and the
// earliest moment at which a fan saw an admission. A lower number always joined earlier, so two admitted
// places are compared without times, also those whose admission is known from their end only: a node cut off
// from the owner answers WAITING for a second after it (line_trust). A place without an admission was
// overtaken if a request still found it WAITING that was *sent* after a later number's admission had
// *arrived*. AWAY places may be passed.
void check_overtakes(const entry_map& entries, check_result& check) {
  std::uint64_t earliest_batch_behind = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t batch_holder = 0;
  run_time_us earliest_seen_behind_us = never_us;
  std::uint64_t seen_holder = 0;
  const auto line = by_number(entries);
  for (auto at = line.rbegin(); at != line.rend(); ++at) {
    const auto& place = **at;
    if (!place.was_away) {
      if (place.admitted && place.batch > 0 && earliest_batch_behind < place.batch)
        add_violation(check, "number " + std::to_string(place.number) + " in batch "
                               + std::to_string(place.batch) + ", number " + std::to_string(batch_holder)
                               + " already in batch " + std::to_string(earliest_batch_behind));
      else if (!place.admitted && earliest_seen_behind_us < place.last_waiting_sent_us)
        add_violation(check, "number " + std::to_string(place.number) + " still waited after number "
                               + std::to_string(seen_holder) + " was admitted");
    }
    if (!place.admitted) continue;
    if (place.batch > 0 && place.batch < earliest_batch_behind) {
      earliest_batch_behind = place.batch;
      batch_holder = place.number;
    }
    if (place.admitted_seen_us < earliest_seen_behind_us) {
      earliest_seen_behind_us = place.admitted_seen_us;
      seen_holder = place.number;
    }
  }
}

void check_batches(const entry_map& entries, const sale_terms& terms, check_result& check, judgement& out) {
  std::unordered_map<std::uint64_t, std::int64_t> sizes;
  for (const auto& [id, facts] : entries) {
    if (!facts.admitted) continue;
    ++out.admitted_entries;
    if (facts.batch > 0) out.largest_batch = std::max(out.largest_batch, ++sizes[facts.batch]);
  }
  check.detail = "largest " + std::to_string(out.largest_batch) + " of "
                 + (terms.batch_size > 0 ? std::to_string(terms.batch_size) : std::string("no limit"));
  if (terms.batch_size <= 0) {
    check.result = verdict::not_judged;
    return;
  }
  for (const auto& [batch, size] : sizes)
    if (size > terms.batch_size)
      add_violation(check, "batch " + std::to_string(batch) + " has " + std::to_string(size) + " entries");
}

// Finds two places with one number, and one place with two fans.
void check_duplicates(const sale_history& history, const entry_map& entries, check_result& check) {
  const auto line = by_number(entries);
  for (std::size_t i = 1; i < line.size(); ++i)
    if (line[i]->number == line[i - 1]->number)
      add_violation(check, "number " + std::to_string(line[i]->number) + " given to "
                             + fan_name(line[i - 1]->fan) + " and " + fan_name(line[i]->fan));
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    uuid last;
    for (const auto& observation : history.fans[fan].places) {
      if (!names_an_entry(observation.kind) || observation.entry == last) continue;
      last = observation.entry;
      const auto at = entries.find(observation.entry);
      if (at != entries.end() && at->second.fan != fan)
        add_violation(check, "entry " + to_string(observation.entry) + " belongs to "
                               + fan_name(at->second.fan) + " and " + fan_name(fan));
    }
  }
}

// ---- one fan's walk through its places ----------------------------------------------------------------

// Follows one fan's sightings in order of arrival: I7 (place and number stay), I8 (position falls), I10 (no
// step goes back).
class place_walk {
public:
  place_walk(std::size_t fan, const fan_history& history, check_result& lost, check_result& grew,
             check_result& illegal) :
      fan_(fan), history_(history), lost_(lost), grew_(grew), illegal_(illegal) {}

  void run() {
    for (const auto& observation : history_.places) step(observation);
  }

private:
  void step(const place_sight& observation) {
    if (observation.kind == place_kind::absent) return on_absent();
    if (observation.kind == place_kind::left) {
      known_ = place_kind::left;
      return;
    }
    if (!has_place_ || observation.entry != entry_) return on_new_entry(observation);
    on_same_entry(observation);
  }

  void on_absent() {
    if (has_place_ && is_live(known_) && !history_.leave_requested)
      add_violation(lost_, fan_name(fan_) + ": place " + std::to_string(number_) + " answered 404");
    has_place_ = false;
  }

  // A fan gets a new entry only by joining again after the old one ended. A waiting place never ends without
  // a cause. An admitted one may have expired unseen.
  void on_new_entry(const place_sight& observation) {
    const bool was_waiting = has_place_ && (known_ == place_kind::waiting || known_ == place_kind::away);
    if (was_waiting && !history_.leave_requested)
      add_violation(lost_, fan_name(fan_) + ": waiting place " + std::to_string(number_)
                             + " became another entry, " + std::to_string(observation.number));
    has_place_ = true;
    entry_ = observation.entry;
    number_ = observation.number;
    batch_ = observation.batch;
    known_ = observation.kind;
    position_ = observation.position;
  }

  void on_same_entry(const place_sight& observation) {
    if (observation.number != number_) {
      add_violation(lost_, fan_name(fan_) + ": number " + std::to_string(number_) + " became "
                             + std::to_string(observation.number));
      number_ = observation.number;
    }
    const bool went_back =
      (known_ == place_kind::admitted
       && (observation.kind == place_kind::waiting || observation.kind == place_kind::away))
      || ((known_ == place_kind::over || known_ == place_kind::left) && is_live(observation.kind));
    if (went_back)
      add_violation(illegal_,
                    fan_name(fan_) + ": entry " + std::to_string(number_) + " came back from a later state");
    if (observation.batch != 0 && batch_ != 0 && observation.batch != batch_)
      add_violation(illegal_, fan_name(fan_) + ": admission batch " + std::to_string(batch_) + " became "
                                + std::to_string(observation.batch));
    if (observation.batch != 0) batch_ = observation.batch;
    if (position_ != 0 && observation.position > position_)
      add_violation(grew_, fan_name(fan_) + ": position " + std::to_string(position_) + " became "
                             + std::to_string(observation.position));
    if (observation.position != 0) position_ = observation.position;
    known_ = observation.kind;
  }

  std::size_t fan_;
  const fan_history& history_;
  check_result& lost_;
  check_result& grew_;
  check_result& illegal_;
  bool has_place_ = false;
  uuid entry_;
  std::uint64_t number_ = 0;
  std::uint64_t batch_ = 0;
  std::uint32_t position_ = 0;
  place_kind known_ = place_kind::waiting;
};

} // namespace

void judge_entries(const sale_history& history, judgement& out) {
  const auto entries = gather_entries(history);
  check_overtakes(entries, check_of(out, check_id::overtakes));
  check_batches(entries, history.terms, check_of(out, check_id::batch_too_large), out);
  check_duplicates(history, entries, check_of(out, check_id::duplicate_numbers));
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan)
    place_walk(fan, history.fans[fan], check_of(out, check_id::lost_places),
               check_of(out, check_id::position_grew), check_of(out, check_id::illegal_history))
      .run();
}

} // namespace fq::load
