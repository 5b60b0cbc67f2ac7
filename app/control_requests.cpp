// SPDX-License-Identifier: Apache-2.0
#include "app/control_requests.hpp"

#include "actors/errors.hpp"

#include <boost/json/array.hpp>

#include <caf/scoped_actor.hpp>

#include <chrono>
#include <thread>

namespace fq {
namespace {

constexpr seconds accounts_timeout{10};
/// For one event: a comparison of a long line takes a while.
constexpr seconds verify_timeout{20};

std::string text_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

bool flag_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

boost::json::object add_organizer_request(caf::actor_system& system, const accounts_handle& accounts, const boost::json::object& request) {
  const auto done = add_organizer_now(system, accounts,
                                      {text_of(request, "email"), text_of(request, "password"), flag_of(request, "replace")});
  return {{"organizer_id", done.organizer_id}, {"error", done.error}};
}

boost::json::array lines_of(const std::vector<std::string>& lines) {
  boost::json::array all;
  for (const auto& line : lines) all.emplace_back(line);
  return all;
}

std::string_view state_of(const ledger_report& report) {
  if (!report.was_read) return "unavailable";
  return report.differences.empty() ? "sound" : "different";
}

boost::json::object verify_request(caf::actor_system& system, const region_handle& region, const boost::json::object& request) {
  boost::json::array events;
  for (const auto& [cache, ledger] : verify_events_now(system, region, flag_of(request, "rebuild"))) {
    auto differences = lines_of(cache.differences);
    for (const auto& line : lines_of(ledger.differences)) differences.push_back(line);
    events.push_back(boost::json::object{{"event_id", to_string(cache.event)},
                                         {"generation", cache.generation},
                                         {"cache", name_of(cache.state)},
                                         {"ledger", state_of(ledger)},
                                         {"differences", std::move(differences)}});
  }
  return {{"error", ""}, {"events", std::move(events)}};
}

/// For one event; nothing if it is not ours any more.
std::optional<event_verification> verify_one(caf::scoped_actor& self, const region_handle& region, aggregate_id aggregate, bool rebuild) {
  event_verification result;
  result.cache.state = mirror_state::unavailable;
  event_handle owner;
  bool went_elsewhere = false;
  self->request(region, accounts_timeout, resolve_event{aggregate})
    .receive([&](const event_handle& found) { owner = found; },
             [&](const caf::error& why) { went_elsewhere = is(why, errc::absent) || is(why, errc::not_owner); });
  if (went_elsewhere) return std::nullopt;
  if (!owner) {
    result.cache.differences = {"aggregate " + std::to_string(number_of(aggregate)) + " does not answer"};
    return result;
  }
  self->request(owner, verify_timeout, verify_mirror{rebuild})
    .receive([&](const mirror_report& report) { result.cache = report; }, [](const caf::error&) {});
  self->request(owner, verify_timeout, verify_ledger{})
    .receive([&](const ledger_report& report) { result.ledger = report; }, [](const caf::error&) {});
  return result;
}

} // namespace

std::string_view name_of(mirror_state state) {
  switch (state) {
    case mirror_state::equal: return "equal";
    case mirror_state::lost: return "lost";
    case mirror_state::different: return "different";
    case mirror_state::unavailable: return "unavailable";
    case mirror_state::none: return "none";
  }
  return {};
}

organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts, const organizer_request& request) {
  organizer_answer answer;
  caf::scoped_actor self{system};
  const auto deadline = std::chrono::steady_clock::now() + accounts_timeout;
  do { // accounts may still be loading
    answer.error.clear();
    self->request(accounts, accounts_timeout, add_organizer{request.email, request.password, request.replace})
      .receive(
        [&](const person_reply& reply) {
          if (reply.no)
            answer.error = std::string{code_of(reply.no.why)};
          else
            answer.organizer_id = to_string(reply.person);
        },
        [&](const caf::error& why) { answer.error = is(why, errc::not_owner) ? "not_owner" : "unavailable"; });
    if (answer.error == "unavailable") std::this_thread::sleep_for(milliseconds{50});
  } while (answer.error == "unavailable" && std::chrono::steady_clock::now() < deadline);
  return answer;
}

std::vector<event_verification> verify_events_now(caf::actor_system& system, const region_handle& region, bool rebuild) {
  caf::scoped_actor self{system};
  std::vector<event_verification> all;
  std::vector<aggregate_id> aggregates;
  self->request(region, accounts_timeout, list_owned{})
    .receive([&](const owned_aggregates& owned) { aggregates = owned.aggregates; },
             [&](const caf::error&) { all.push_back({{{}, 0, mirror_state::unavailable, {"the region does not answer"}}, {}}); });
  for (const auto aggregate : aggregates)
    if (auto one = verify_one(self, region, aggregate, rebuild)) all.push_back(std::move(*one));
  return all;
}

control_handlers control_requests(caf::actor_system& system, const accounts_handle& accounts, const region_handle& region) {
  return {
    {"organizer_add", [&system, accounts](const auto& request) { return add_organizer_request(system, accounts, request); }},
    {"verify", [&system, region](const auto& request) { return verify_request(system, region, request); }},
  };
}

std::optional<organizer_answer> ask_for_organizer(const std::filesystem::path& data_dir, const organizer_request& request) {
  const auto answer = ask_running_server(data_dir, {{"command", "organizer_add"},
                                                    {"email", request.email},
                                                    {"password", request.password},
                                                    {"replace", request.replace}});
  if (!answer) return std::nullopt;
  return organizer_answer{text_of(*answer, "organizer_id"), text_of(*answer, "error")};
}

} // namespace fq
