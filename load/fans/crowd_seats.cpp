// SPDX-License-Identifier: Apache-2.0
// The seats of a run with --seats: the coordinator follows the event's map by its changes, as a shop's page
// does, and reads it whole at the end. Fans name seats that were free when it looked last.
#include "load/fans/fan_parts.hpp"

#include <algorithm>

namespace fq::load {

// Null if there was no usable answer.
asio::awaitable<boost::json::value> crowd::ask_seats(std::string path) {
  const std::string text = "GET " + target("/events/" + options_.event + path)
                           + " HTTP/1.1\r\nHost: " + server_.authority() + "\r\n\r\n";
  http_reply reply;
  const auto result = co_await watch_link_->exchange(text, reply, steady::now() + std::chrono::seconds(5));
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
  for (const auto& seat : hall_) books.names.push_back(seat.name);
  books.is_followed = true;
  co_return true;
}

asio::awaitable<void> crowd::follow_seats() {
  auto& books = result_.history.seats;
  if (!books.is_followed) co_return;
  const auto before = seats_.version;
  const auto answer = co_await ask_seats("/seats?since=" + std::to_string(before));
  if (answer.is_null()) co_return; // the server may be away: what is missing comes with the next answer
  if (!apply_seats(answer, seats_)) ++books.unusable;
  books.answers += seats_.version != before;
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
    if (apply_seats(map, last) && last.version == seats_.version) {
      books.followed = seats_.states;
      books.last = last.states;
      books.read = true;
      co_return;
    }
    books_timer_.expires_after(books_pause);
    co_await books_timer_.async_wait(as_result);
  }
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
