// SPDX-License-Identifier: Apache-2.0
#include "domain/line/mirror.hpp"

#include "domain/line/queue.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace fq {

mirrored_session session_of(const entry_row& row) {
  return {row.number,    row.admission_no, row.subject,
          row.joined_at, deadline_of(row), row.subject_name.text()};
}

mirror_delta mirror_of(const changes& content) {
  // The first status and the last row of every entry in the batch. Intermediate states were never visible.
  struct span {
    bool was_in_line = false, was_admitted = false;
    const entry_row* last = nullptr;
  };
  std::unordered_map<std::uint64_t, span> moved;
  mirror_delta d;
  for (const auto& c : content) {
    if (const auto* joined = std::get_if<entry_joined>(&c)) {
      moved[value_of(joined->row.number)].last = &joined->row;
    } else if (const auto* m = std::get_if<entry_moved>(&c)) {
      const auto [i, fresh] = moved.try_emplace(value_of(m->row.number));
      if (fresh) i->second = {is_in_line(m->from), m->from == entry_status::admitted, nullptr};
      i->second.last = &m->row;
    }
  }
  for (const auto& [number, s] : moved) {
    const auto now = s.last->status;
    if (is_in_line(now) && !s.was_in_line) d.joined.push_back(s.last->number);
    if (now == entry_status::admitted) d.sessions.push_back(session_of(*s.last));
    if (now != entry_status::admitted && s.was_admitted) d.ended.push_back(session_of(*s.last));
    if (!is_in_line(now) && s.was_in_line && now != entry_status::admitted) d.left.push_back(s.last->number);
  }
  std::ranges::sort(d.joined);
  std::ranges::sort(d.left);
  std::ranges::sort(d.sessions, {}, &mirrored_session::number);
  std::ranges::sort(d.ended, {}, &mirrored_session::number);
  return d;
}

bool moves_stock(const changes& content) {
  return std::ranges::any_of(content, [](const change& c) {
    return std::holds_alternative<stock_moved>(c) || std::holds_alternative<ticket_type_added>(c)
           || std::holds_alternative<ticket_type_changed>(c);
  });
}

mirror_image mirror_of(std::span<const entry_row> entries, std::span<const ticket_type_row> types) {
  mirror_image all;
  for (const auto& row : entries) {
    if (is_in_line(row.status)) all.waiting.push_back(row.number);
    if (row.status == entry_status::admitted) all.sessions.push_back(session_of(row));
  }
  for (const auto& t : types) all.stock.push_back({t.id, t.total, t.held, t.sold});
  std::ranges::sort(all.stock, {}, &mirrored_stock::id);
  return all;
}

expected_mirror expected_of(const queue_line& line, std::vector<mirrored_stock> stock) {
  return {line.ranks(), {line.in_line().begin(), line.in_line().end()}, line.digests(), std::move(stock)};
}

void apply_deltas(std::span<const mirror_delta> deltas, mirror_image& image) {
  struct place {
    bool waits = false;
    const mirrored_session* session = nullptr;
  };
  std::map<queue_number, place> last; // per entry in a delta; neither in line nor in a session: removed
  for (const auto& d : deltas) {
    for (const auto n : d.joined) last[n] = {true, nullptr};
    for (const auto n : d.left) last[n] = {};
    for (const auto& s : d.ended) last[s.number] = {};
    for (const auto& s : d.sessions) last[s.number] = {false, &s};
    if (!d.stock.empty()) image.stock = d.stock;
  }
  std::erase_if(image.waiting, [&](queue_number n) { return last.contains(n); });
  std::erase_if(image.sessions, [&](const mirrored_session& s) { return last.contains(s.number); });
  const auto waiting = std::ssize(image.waiting), sessions = std::ssize(image.sessions);
  for (const auto& [number, p] : last) {
    if (p.waits) image.waiting.push_back(number);
    if (p.session) image.sessions.push_back(*p.session);
  }
  std::ranges::inplace_merge(image.waiting, image.waiting.begin() + waiting);
  std::ranges::inplace_merge(image.sessions, image.sessions.begin() + sessions, {},
                             &mirrored_session::number);
}

namespace {

/// Merges two ordered lists and reports every element that is in only one of them, or in both with different
/// content.
template <class Row, class Key, class Tell>
void compare(const std::vector<Row>& expected, const std::vector<Row>& found, Key key, Tell tell) {
  auto e = expected.begin();
  auto f = found.begin();
  while (e != expected.end() || f != found.end()) {
    if (f == found.end() || (e != expected.end() && key(*e) < key(*f)))
      tell("is missing", *e++);
    else if (e == expected.end() || key(*f) < key(*e))
      tell("should not be there", *f++);
    else if (*e == *f)
      ++e, ++f;
    else
      tell("differs", *e++), ++f;
  }
}

/// Collects the lines of a report.
struct difference_list {
  std::vector<std::string> lines;
  void tell(const std::string& what, const char* how) {
    if (lines.size() < differences_max) lines.push_back(what + ' ' + how);
  }
  void compare_stock(const std::vector<mirrored_stock>& expected, const std::vector<mirrored_stock>& found) {
    compare(expected, found, std::mem_fn(&mirrored_stock::id),
            [this](const char* how, const auto& s) { tell("stock of " + to_string(s.id), how); });
  }
};

} // namespace

std::vector<std::string> differences(const mirror_image& expected, const mirror_image& found, timestamp now) {
  difference_list all;
  const auto ends_soon = [now](const mirrored_session& s) { return s.expires_at < now + seconds{1}; };
  auto expected_sessions = expected.sessions, found_sessions = found.sessions;
  std::erase_if(expected_sessions, ends_soon);
  std::erase_if(found_sessions, ends_soon);
  compare(expected.waiting, found.waiting, std::identity{},
          [&](const char* how, queue_number n) { all.tell("waiting " + std::to_string(value_of(n)), how); });
  compare(expected_sessions, found_sessions, std::mem_fn(&mirrored_session::number),
          [&](const char* how, const mirrored_session& s) {
            all.tell("session of " + std::to_string(value_of(s.number)), how);
          });
  all.compare_stock(expected.stock, found.stock);
  return all.lines;
}

std::vector<std::string> differences(const expected_mirror& expected, const mirror_image& found,
                                     timestamp now) {
  difference_list all;
  std::vector<line_rank> places, found_places;
  for (const auto& part : expected.in_line) part.each([&](line_rank r) { places.push_back(r); });
  std::ranges::sort(places);
  for (const auto n : found.waiting) found_places.push_back(expected.ranks.rank_of(n));
  compare(places, found_places, std::identity{}, [&](const char* how, line_rank r) {
    all.tell("waiting " + std::to_string(value_of(expected.ranks.number_at(r))), how);
  });
  using digests = std::vector<std::pair<std::int64_t, session_digest>>;
  const auto compared = [now](const session_digests& of_all) {
    const auto first = unix_ms(now + seconds{1}) / digest_span.count() + 1;
    return digests{of_all.lower_bound(first), of_all.end()};
  };
  compare(compared(expected.sessions), compared(digests_of(found.sessions)),
          std::mem_fn(&digests::value_type::first), [&](const char* how, const auto& d) {
            all.tell("the group of sessions that end from " + std::to_string(d.first * digest_span.count())
                       + " ms on",
                     how);
          });
  all.compare_stock(expected.stock, found.stock);
  return all.lines;
}

session_digests digests_of(std::span<const mirrored_session> sessions) {
  session_digests all;
  for (const auto& s : sessions)
    count_session(all, s.number, s.admission_no, s.subject, s.joined_at, s.expires_at, s.subject_name, 1);
  return all;
}

} // namespace fq
