// SPDX-License-Identifier: Apache-2.0
// What a request without a login costs: the limit stands in the route's row and is asked before the body, and
// hostile input costs no more than three times a plain request of the same size, on every route.
#define CAF_SUITE routes_work_before_identity
#include "caf/test/unit_test.hpp"

#include "net/server/server.hpp"
#include "tests/net/api/world.hpp"
#include "tests/net/server/client.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace work_before_identity_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

/// Health checks ask often, and their answers are constants.
const std::set<std::string_view> probes{"/livez", "/readyz", "/health"};

std::string name_of_row(const route& r) {
  return std::string{net::name_of(r.verb)} + ' ' + std::string{r.pattern};
}

// -- a server, and the CPU time of its io thread

config::options open_options() {
  auto o = world_options();
  o.http.listen = o.http.admin_listen = {"127.0.0.1", 0};
  o.http.max_connections = 100;
  o.http.header_timeout = o.http.body_timeout = o.http.write_timeout = milliseconds{10'000};
  o.http.idle_timeout = milliseconds{75'000};
  o.http.body_limit = 16 * 1024;
  o.http.in_flight_per_event = 4096;
  o.io.threads = 1;
  o.rate_limits = {}; // no limit hides the work
  o.rate_limits.tracked_max = 1000;
  o.otp.requests_per_address = o.otp.requests_per_ip_per_minute = 0;
  return o;
}

struct open_server {
  open_server() {
    state.ready = true;
    served.start();
  }
  ~open_server() { served.stop(); }

  world w{open_options()};
  server_state state;
  server served{server_parts{.system = w.system,
                             .environment = w.clock,
                             .options = w.options,
                             .state = state,
                             .region = w.region,
                             .catalog = w.catalog,
                             .accounts = w.accounts,
                             .session_reader = {},
                             .verifier = w.verifier,
                             .issuer = w.issuer,
                             .sessions = w.sessions,
                             .shared = &w.shared,
                             .public_site = public_site(w.routes),
                             .admin_site = {}}};
};

/// CPU time of the thread "fq-io" in nanoseconds.
std::uint64_t cpu_of_io_thread() {
  static const auto folder = [] {
    for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
      std::string name;
      std::ifstream{task.path() / "comm"} >> name;
      if (name == "fq-io") return task.path();
    }
    throw std::logic_error("no io thread");
  }();
  std::uint64_t spent = 0;
  std::ifstream{folder / "schedstat"} >> spent;
  return spent;
}

// -- requests

std::string repeated(std::string_view text, std::size_t size) {
  std::string out;
  while (out.size() + text.size() <= size) out += text;
  return out;
}

std::string numbered(std::string_view before, std::string_view after, char separator, std::size_t size) {
  std::string out;
  for (int i = 0; out.size() + 20 < size; ++i)
    out.append(out.empty() ? "" : std::string(1, separator))
      .append(before)
      .append(std::to_string(i))
      .append(after);
  return out;
}

struct input {
  std::string what, query, fields, type, body;
};

constexpr std::size_t header_size = 7000, body_size = 14'000;

/// Hostile input in the header.
std::vector<input> hostile_headers() {
  const auto field = [](std::string name, std::string value) {
    return input{name, "", name + ": " + value + "\r\n", "", ""};
  };
  input many{"many fields", "", "", "", ""};
  for (int i = 0; i < 90; ++i)
    many.fields += "X-Field-" + std::to_string(i) + ": " + std::string(60, 'x') + "\r\n";
  return {many,
          {"many parameters", '?' + numbered("p", "=1", '&', header_size), "", "", ""},
          {"percent signs", "?external_id=" + repeated("%41", header_size), "", "", ""},
          field("Accept-Language", numbered("a", ";q=0.1", ',', header_size)),
          field("Accept-Encoding", numbered("a", ";q=0.1", ',', header_size)),
          field("Cookie", numbered("c", "=1", ';', header_size)),
          field("Authorization", "Bearer " + repeated("ab.", header_size)),
          field("Authorization", "Bearer wr_acme_" + repeated("x", header_size)),
          field("X-API-Key", "wr_acme_" + repeated("x", header_size)),
          field("X-Forwarded-For", repeated("1.2.3.4, ", header_size)),
          field("Prefer", numbered("wait=", "", ',', header_size))};
}

/// Hostile bodies.
std::vector<input> hostile_bodies() {
  const std::string json = "application/json", form = "application/x-www-form-urlencoded";
  const auto names = numbered("\"n", "\":1", ',', body_size / 2 - 20);
  return {{"two objects of many names", "", "", json, "{\"a\":{" + names + "},\"b\":{" + names + "}}"},
          {"many objects", "", "", json, "{\"a\":[" + repeated("{\"a\":1},", body_size) + "{}]}"},
          {"an object of many names", "", "", json, "{" + numbered("\"n", "\":1", ',', body_size) + "}"},
          {"many arrays", "", "", json, "{\"a\":[" + repeated("[],", body_size) + "0]}"},
          {"nesting", "", "", json, repeated("{\"a\":", body_size)},
          {"escapes", "", "", json, "{\"email\":\"" + repeated("\\u00e9", body_size) + "\"}"},
          {"numbers", "", "", json, "{\"a\":[" + repeated("1e300,", body_size) + "0]}"},
          {"many form fields", "", "", form, numbered("f", "=%41", '&', body_size)},
          {"one form field", "", "", form, "action=" + repeated("%41", body_size)},
          {"bytes", "", "", "application/octet-stream", repeated("\xff", body_size)}};
}

std::string path_of(const route& r, const world& w) {
  std::string path;
  for (std::string_view rest = r.pattern; !rest.empty();) {
    const auto open = std::min(rest.find('{'), rest.size());
    path += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    path += to_string(w.event_id);
    rest.remove_prefix(rest.find('}') + 1);
  }
  return path;
}

std::string bytes_of(const route& r, const world& w, const input& with) {
  auto out =
    std::string{net::name_of(r.verb)} + ' ' + path_of(r, w) + with.query + " HTTP/1.1\r\nHost: a\r\n";
  if (!with.type.empty()) out += "Content-Type: " + with.type + "\r\n";
  if (!with.body.empty()) out += "Content-Length: " + std::to_string(with.body.size()) + "\r\n";
  return out + with.fields + "\r\n" + with.body;
}

/// As many bytes at the same place, without any structure.
input plain_of(const input& hostile) {
  auto plain = hostile;
  if (!hostile.fields.empty() || !hostile.query.empty())
    plain = {"", "", "X-Padding: " + std::string(hostile.fields.size() + hostile.query.size(), 'x') + "\r\n",
             "", ""};
  if (!hostile.body.empty()) plain.body = std::string(hostile.body.size(), 'x');
  return plain;
}

/// Nanoseconds of the io thread for one of these requests.
std::uint64_t cost_of(open_server& s, std::unique_ptr<fake::client>& connection, const std::string& bytes) {
  constexpr int count = 8;
  const auto began = cpu_of_io_thread();
  for (int i = 0; i < count; ++i) {
    if (!connection || connection->was_closed())
      connection = std::make_unique<fake::client>(s.served.public_port());
    if (connection->ask(bytes).status == 0) throw std::runtime_error("no answer to " + bytes.substr(0, 200));
  }
  return (cpu_of_io_thread() - began) / count;
}

} // namespace

CAF_TEST(the row of every route without a login has a limit) {
  for (const auto& r : public_routes(1)) {
    const bool by_token = r.guarded.who > audience::anybody_or_persons;
    if (by_token || probes.contains(r.pattern)) {
      if (r.guarded.limit != address_limit::none) CAF_ERROR("a limit of the address at " + name_of_row(r));
    } else if (r.guarded.limit == address_limit::none) {
      CAF_ERROR("no limit at " + name_of_row(r));
    }
  }
}

CAF_TEST(the limit of the row is asked before the body is looked at) {
  auto o = world_options();
  o.rate_limits.login_failures_per_ip_per_minute = o.otp.requests_per_ip_per_minute = 3;
  o.rate_limits.access_failures_per_ip_per_minute = 3;
  world w{std::move(o)};
  for (const auto* path : {"/auth/organizer/login", "/auth/customer/otp/request", "/webhooks/sandbox"}) {
    for (int i = 0; i < 3; ++i) CAF_CHECK_NOT_EQUAL(w.send(method::post, path, "no JSON").status, 429u);
    CAF_CHECK_EQUAL(w.send(method::post, path, "no JSON").status, 429u);
    CAF_CHECK_NOT_EQUAL(w.send(method::post, path, "no JSON", {}, "192.0.2.7").status, 429u);
    w.clock.now_ms += 60'000;
  }
}

CAF_TEST(invalid tokens count against the address and valid ones do not) {
  auto o = world_options();
  o.rate_limits.access_failures_per_ip_per_minute = 3;
  world w{std::move(o)};
  const auto garbage = text_fields{{"Authorization", "Bearer garbage"}};
  for (const auto& path : {w.event_path("/queue/position"), w.event_path("/stats"), std::string{"/orders"}})
    CAF_CHECK_EQUAL(w.send(method::get, path, "", garbage).status, 401u);
  CAF_CHECK_EQUAL(w.send(method::get, w.event_path("/stats"), "", garbage).status, 429u);
  CAF_CHECK_EQUAL(w.send(method::get, w.event_path("/stats"), "", garbage, "192.0.2.7").status, 401u);
  CAF_CHECK_EQUAL(w.send(method::get, w.event_path("/stats"), "", w.as_organizer()).status, 200u);
}

// Only scripts/test --long measures: other programs disturb it.
#undef CAF_SUITE
#define CAF_SUITE hostile_cost

CAF_TEST(hostile input costs at most three times a plain request of the same size) {
  open_server s;
  std::unique_ptr<fake::client> connection;
  struct pair {
    const route* row;
    input hostile;
    std::uint64_t worst = 0, plain = 0;
    [[nodiscard]] bool is_fair() const { return worst <= 3 * plain; }
  };
  std::vector<pair> pairs;
  for (const auto& r : s.w.routes) {
    for (const auto& h : hostile_headers()) pairs.push_back({&r, h});
    if (r.verb != method::get)
      for (const auto& h : hostile_bodies()) pairs.push_back({&r, h});
  }
  cost_of(s, connection, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
  // The least of several rounds, because other programs disturb them.
  for (int round = 0; round < 4; ++round)
    for (auto& p : pairs) {
      if (round > 0 && p.is_fair()) continue;
      const auto least = [](std::uint64_t& kept, std::uint64_t now) {
        kept = kept == 0 ? now : std::min(kept, now);
      };
      least(p.worst, cost_of(s, connection, bytes_of(*p.row, s.w, p.hostile)));
      least(p.plain, cost_of(s, connection, bytes_of(*p.row, s.w, plain_of(p.hostile))));
    }
  std::ranges::sort(pairs, std::greater{},
                    [](const pair& p) { return static_cast<double>(p.worst) / p.plain; });
  for (std::size_t i = 0; i < 10; ++i)
    CAF_MESSAGE(name_of_row(*pairs[i].row) << ", " << pairs[i].hostile.what << ": " << pairs[i].worst / 1000
                                           << " against " << pairs[i].plain / 1000 << " us");
  for (const auto& p : pairs)
    if (!p.is_fair())
      CAF_ERROR(name_of_row(*p.row) + ", " + p.hostile.what + ": " + std::to_string(p.worst / 1000)
                + " against " + std::to_string(p.plain / 1000) + " us");
}

} // namespace work_before_identity_test
