// SPDX-License-Identifier: Apache-2.0
#include "tests/outbound/push_standins.hpp"

#include "tests/crypto/temp_folder.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace fq::test {
namespace {

namespace json = boost::json;

constexpr auto patience = std::chrono::seconds{30};
constexpr const char* google_email = "push@fairqueue-tests.iam.gserviceaccount.com";

/// Made once for all tests of the program.
struct key_files {
  temp_folder folder;
  key_files() {
    output_of("set -e; cd '" + folder.path().string() + R"('
      exec 2>&1
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj '/CN=Tests of FairQueue' -keyout ca.key -out ca.pem
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -subj /CN=push -keyout server.key -out server.csr
      printf 'subjectAltName=DNS:fcm.googleapis.com,DNS:oauth2.googleapis.com,' > server.ext
      printf 'DNS:api.push.apple.com,DNS:api.sandbox.push.apple.com\n' >> server.ext
      openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key \
        -set_serial 7 -days 2 -extfile server.ext -out server.pem
      openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out google.pem
      openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out apple.pem
      for k in google apple; do openssl pkey -in $k.pem -pubout -out $k.pub; done)");
  }
  [[nodiscard]] std::string operator()(const char* name) const { return (folder / name).string(); }
};

const key_files& keys() {
  static const key_files made;
  return made;
}

std::unique_ptr<child_process> start(const std::string& version) {
  const auto& k = keys();
  return std::make_unique<child_process>(std::vector<std::string>{"node",
                                                                  FQ_TEST_SUPPORT "/push_standins.mjs",
                                                                  "--certificate",
                                                                  k("server.pem"),
                                                                  "--key",
                                                                  k("server.key"),
                                                                  "--google-key",
                                                                  k("google.pub"),
                                                                  "--google-kid",
                                                                  "g-key-1",
                                                                  "--google-email",
                                                                  google_email,
                                                                  "--google-project",
                                                                  "fairqueue-tests",
                                                                  "--apple-key",
                                                                  k("apple.pub"),
                                                                  "--apple-kid",
                                                                  "APPLEKEY01",
                                                                  "--apple-team",
                                                                  "APPLETEAM1",
                                                                  "--apple-topic",
                                                                  "com.example.tickets",
                                                                  "--version",
                                                                  version});
}

} // namespace

push_standins::push_standins(const std::string& version) : child_{start(version)}, client_{{}, env_} {
  const auto where = json::parse(child_->line());
  for (const auto& [host, port] : where.at("ports").as_object())
    ways_.push_back(std::string{host} + ":443:127.0.0.1:" + std::to_string(port.as_int64()));
  control_ = "http://127.0.0.1:" + std::to_string(where.at("control").as_int64());
}

push_standins::~push_standins() = default;

http_response push_standins::ask(http_request::method_type method, const std::string& path,
                                 std::string body) {
  http_request rq;
  rq.method = method;
  rq.url = control_ + path;
  rq.body = std::move(body);
  std::promise<http_result> answered;
  client_.submit(std::move(rq), [&](http_result r) { answered.set_value(std::move(r)); });
  auto result = answered.get_future().get();
  if (const auto* failure = std::get_if<http_failure>(&result))
    throw std::runtime_error{"the push stand-ins are silent: " + failure->what};
  return std::get<http_response>(result);
}

void push_standins::script(const json::object& devices) {
  ask(http_request::method_type::post, "/script", json::serialize(devices));
}

json::object push_standins::state() {
  return json::parse(ask(http_request::method_type::get, "/state", {}).body).as_object();
}

void push_standins::wait_for_requests(std::size_t count) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (state().at("requests").as_array().size() < count) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"requests are missing"};
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

std::int64_t push_standins::count(const char* name) {
  const auto now = state();
  return now.at(name).as_int64();
}

http_client::settings push_standins::http() const {
  http_client::settings s;
  s.ca_file = keys()("ca.pem");
  s.in_flight_max = 100;
  s.connect_to = ways_;
  return s;
}

fcm_channel::settings push_standins::fcm() const {
  fcm_channel::settings s;
  s.account = read_google_account(service_account_json());
  s.http = http();
  return s;
}

apns_channel::settings push_standins::apns() const {
  apns_channel::settings s;
  s.team_id = "APPLETEAM1";
  s.key_id = "APPLEKEY01";
  s.key = private_key("apple");
  s.topic = "com.example.tickets";
  s.http = http();
  return s;
}

std::string service_account_json() {
  return json::serialize(json::object{{"type", "service_account"},
                                      {"project_id", "fairqueue-tests"},
                                      {"private_key_id", "g-key-1"},
                                      {"private_key", private_key("google")},
                                      {"client_email", google_email},
                                      {"client_id", "1"},
                                      {"token_uri", "https://oauth2.googleapis.com/token"}});
}

std::string private_key(const std::string& whose) { return read_file(keys()((whose + ".pem").c_str())); }

std::function<void(delivery_answer)> delivery_answers::next() {
  return [this](delivery_answer a) {
    const std::scoped_lock held{mutex_};
    all_.push_back(std::move(a));
    changed_.notify_all();
  };
}

std::vector<delivery_answer> delivery_answers::wait(std::size_t count) {
  std::unique_lock held{mutex_};
  if (!changed_.wait_for(held, patience, [&] { return all_.size() >= count; }))
    throw std::runtime_error{"answers are missing"};
  return all_;
}

std::size_t delivery_answers::count() {
  const std::scoped_lock held{mutex_};
  return all_.size();
}

delivery_answer deliver(channel_port& channel, const notice& what, const std::string& address,
                        bool is_sandbox) {
  std::promise<delivery_answer> answered;
  channel.deliver(what, {.id = uuid{1, 2}, .address = address, .is_sandbox = is_sandbox},
                  [&](delivery_answer a) { answered.set_value(std::move(a)); });
  auto answer = answered.get_future();
  if (answer.wait_for(patience) != std::future_status::ready)
    std::terminate(); // the promise must not go away before its answer
  return answer.get();
}

notice turn_granted(timestamp now) {
  return {.id = uuid{0x0190000000007000, 0x8000000000000001},
          .topic = "queue.turn_granted",
          .payload =
            R"({"event_id":"e-1","entry_id":"q-1","customer_id":"c-1","session_expires_at":1800000600000})",
          .created_at = now,
          .expires_at = now + seconds{600}};
}

std::string difference(const delivery_answer& got, const answer_row& wanted) {
  std::string out;
  const auto differs = [&](const char* what, const std::string& is) {
    out.append(out.empty() ? "" : ", ").append(what).append(" is ").append(is);
  };
  if (got.outcome != wanted.outcome) differs("the outcome", std::to_string(static_cast<int>(got.outcome)));
  if (got.status != wanted.status) differs("the status", std::to_string(got.status));
  if (got.reason != wanted.reason) differs("the reason", got.reason);
  if (got.is_channel_down != wanted.is_channel_down)
    differs("is_channel_down", got.is_channel_down ? "true" : "false");
  if (got.is_our_fault != wanted.is_our_fault) differs("is_our_fault", got.is_our_fault ? "true" : "false");
  if (got.gone_since != wanted.gone_since)
    differs("gone_since", got.gone_since ? std::to_string(unix_ms(*got.gone_since)) : "absent");
  return out.empty() ? out : std::string{wanted.name} + ": " + out;
}

} // namespace fq::test
