// SPDX-License-Identifier: Apache-2.0
// The seats of a run with --seats: the coordinator polls the changes of the event's map and reads it whole at
// the end. Fans name seats that were free when it looked last. Fans with a WebSocket follow maps of their
// own, as a shop's page does (fan_seats.cpp).
#include "load/fans/fan_parts.hpp"

#include <algorithm>

namespace fq::load {

asio::awaitable<boost::json::value> crowd::ask_seats(std::string path, std::string_view token) {
  std::string text = "GET " + target("/events/" + options_.event + path)
                     + " HTTP/1.1\r\nHost: " + server_.authority() + "\r\n";
  if (!token.empty()) text.append("Authorization: Bearer ").append(token) += "\r\n";
  text += "\r\n";
  http_reply reply;
  const auto result = co_await seat_pool_->exchange(text, reply, steady::now() + std::chrono::seconds(5));
  if (result != transfer::answered || reply.status != 200) co_return nullptr;
  co_return parse_object(reply.body);
}

// False: the event has no seats.
asio::awaitable<bool> crowd::read_first_seats() {
  const auto plan = co_await ask_seats("/seat-plan");
  const auto map = co_await ask_seats("/seats");
  auto hall = read_hall(plan);
  if (!hall || !apply_seats(map, seats_) || seats_.states.size() != hall->size()) {
    result_.failure = "--seats: the event has no seat plan that can be read";
    co_return false;
  }
  hall_ = std::move(*hall);
  auto& books = result_.history.seats;
  for (const auto& seat : hall_) {
    seat_numbers_.emplace(seat.name, books.names.size());
    books.names.push_back(seat.name);
  }
  claimed_at_us_.assign(hall_.size(), -1);
  books.is_followed = true;
  co_return true;
}

asio::awaitable<void> crowd::follow_seats() {
  auto& books = result_.history.seats;
  if (!books.is_followed) co_return;
  const auto before = seats_.version;
  const auto answer = co_await ask_seats("/seats?since=" + std::to_string(before));
  if (answer.is_null()) co_return; // the server may be away: what is missing comes with the next answer
  take_seats(answer, seats_);
  books.answers += seats_.version != before;
}

bool crowd::take_seats(const boost::json::value& answer, seat_states& map) {
  const bool is_usable = apply_seats(answer, map) && map.states.size() == hall_.size();
  result_.history.seats.unusable += !is_usable;
  return is_usable;
}

void crowd::see_claimed(const std::vector<std::string>& seats, run_time_us at_us) {
  for (const auto& seat : seats)
    if (const auto found = seat_numbers_.find(seat); found != seat_numbers_.end())
      claimed_at_us_[found->second] = at_us;
}

// Measures how late a fan's map shows claims that were answered.
void crowd::see_map(const seat_states& map) {
  run_time_us oldest_us = -1;
  for (const auto n : map.changed) {
    auto& claimed_us = claimed_at_us_[n];
    if (map.states[n] == '0') claimed_us = -1; // the next claim's answer sets it
    if (map.states[n] == '1' && claimed_us >= 0)
      oldest_us = oldest_us < 0 ? claimed_us : std::min(oldest_us, claimed_us);
  }
  if (oldest_us >= 0) steps().of(step::seat_shown).add(oldest_us, now_us());
}

// Reads until the changes and the whole map are of one version: the last holds may end meanwhile.
asio::awaitable<void> crowd::read_last_seats() {
  auto& books = result_.history.seats;
  if (!books.is_followed) co_return;
  const auto until =
    steady::now() + std::chrono::microseconds(static_cast<run_time_us>(options_.books_s * 1e6));
  while (steady::now() < until) {
    co_await follow_seats();
    const auto map = co_await ask_seats("/seats");
    seat_states last;
    const bool is_same = apply_seats(map, last) && last.version == seats_.version;
    if (is_same && co_await read_last_maps(last.version)) {
      books.followed = seats_.states;
      books.last = last.states;
      books.read = true;
      co_return;
    }
    books_timer_.expires_after(books_pause);
    co_await books_timer_.async_wait(as_result);
  }
}

// Brings the fans' maps to that version by their changes. False: the server's has moved on, or gave no
// answer.
asio::awaitable<bool> crowd::read_last_maps(std::uint64_t version) {
  auto& books = result_.history.seats;
  books.maps.clear();
  books.maps_by_changes = 0;
  std::unordered_map<std::uint64_t, boost::json::value> answers; // of each version that a fan has
  for (std::size_t i = 0; i < fans_.size(); ++i) {
    auto& map = fans_[i]->map();
    if (map.states.empty()) continue;
    auto& answer = answers[map.version];
    if (answer.is_null()) answer = co_await ask_seats("/seats?since=" + std::to_string(map.version));
    if (answer.is_null()) co_return false;
    books.maps_by_changes += answer.as_object().if_contains("states") == nullptr;
    if (take_seats(answer, map) && map.version != version) co_return false;
    books.maps.push_back({i, map.states});
  }
  co_return true;
}

// Free ones side by side; fewer than `count`, or none, if there are not so many behind a random place.
std::vector<std::size_t> crowd::free_seats(std::size_t count) {
  std::vector<std::size_t> chosen;
  if (hall_.empty()) return chosen;
  const auto start = random_.under(hall_.size());
  for (std::size_t i = 0; i < hall_.size(); ++i) {
    const auto n = (start + i) % hall_.size();
    const bool fits = seats_.states[n] == '0'
                      && (chosen.empty()
                          || (n == chosen.back() + 1 && hall_[n].row == hall_[chosen[0]].row
                              && hall_[n].type == hall_[chosen[0]].type));
    if (fits) chosen.push_back(n);
    if (chosen.size() == count || (!fits && !chosen.empty())) break;
  }
  return chosen;
}

// The items of an order: half of the fans name seats, the others leave them to the server.
std::vector<order_item> crowd::wanted_seats(bool is_modest) {
  order_item item;
  const auto seats = is_modest || random_.unit() < 0.5 ? std::vector<std::size_t>{} : free_seats(2);
  const auto type = seats.empty() ? random_.under(seats_.type_ids.size()) : hall_[seats[0]].type;
  item.ticket_type = parse_uuid(seats_.type_ids[type]).value_or(uuid{});
  for (const auto n : seats) item.seats.push_back(hall_[n].name);
  item.quantity =
    seats.empty() ? (is_modest || random_.unit() < 0.5 ? 1 : 2) : static_cast<std::int64_t>(seats.size());
  return {item};
}

// The body of a claim: half of the fans name seats, the others want the best ones.
std::string crowd::claim_text(const std::string& admission_token, bool is_modest) {
  std::string body = R"({"admission_token":")" + admission_token + '"';
  if (!options_.seats) return body + '}';
  const auto seats = is_modest || random_.unit() < 0.5 ? std::vector<std::size_t>{} : free_seats(2);
  if (seats.empty()) return body + R"(,"best":)" + (is_modest || random_.unit() < 0.5 ? "1}" : "2}");
  body += R"(,"items":[{"ticket_type_id":")" + seats_.type_ids[hall_[seats[0]].type] + R"(","seats":[)";
  for (const auto n : seats) body += (n == seats[0] ? "\"" : ",\"") + hall_[n].name + '"';
  return body + "]}]}";
}

} // namespace fq::load
