// SPDX-License-Identifier: Apache-2.0
#include "app/demo.hpp"

#include "app/control_requests.hpp"
#include "app/limits.hpp"
#include "net/http/cors.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace fq {
namespace {

constexpr std::string_view demo_email = "demo@fairqueue.local";
constexpr std::int64_t demo_tickets = 1000;
constexpr money demo_price = 500'000; ///< in kobo: 5,000 naira

create_event demo_event(const organizer_id& organizer, timestamp now, std::string name,
                        std::string currency) {
  create_event x;
  x.by = {principal_kind::organizer, default_tenant, organizer};
  x.event.name = std::move(name);
  x.event.currency = std::move(currency);
  x.event.queue_opens_at = x.event.sale_start = now - seconds{1};
  x.event.sale_end = now + seconds{30 * 24 * 3600};
  return x;
}

void add_type(create_event& x, std::string name, money price, std::int64_t total,
              std::uint32_t max_per_order) {
  ticket_type_row type;
  type.name = std::move(name);
  type.price = price;
  type.total = total;
  type.max_per_order = max_per_order;
  x.ticket_types.push_back(std::move(type));
}

/// For simulated crowds: short windows, so that a whole sale runs in one or two minutes. Its name warns
/// people, because no person types that fast.
create_event crowd_sale(const organizer_id& organizer, timestamp now) {
  auto x = demo_event(organizer, now, "Demo sale for simulated crowds", "NGN");
  x.event.queue.batch_size = 50;
  x.event.queue.admission_interval = milliseconds{250};
  x.event.queue.over_admission_percent = 110;
  x.event.queue.claim_window = seconds{5};
  x.event.queue.session_ttl = seconds{15};
  x.event.claim_ttl = seconds{8};
  add_type(x, "Standard", demo_price, demo_tickets, 1);
  return x;
}

/// For a person with a browser: admits one entry every ten seconds and leaves time to read and type.
create_event shop_sale(const organizer_id& organizer, timestamp now) {
  auto x = demo_event(organizer, now, "Demo open air", "EUR");
  x.event.queue.batch_size = 1;
  x.event.queue.admission_interval = seconds{10};
  x.event.queue.claim_window = seconds{300};
  x.event.queue.session_ttl = seconds{1'200};
  x.event.claim_ttl = seconds{600};
  x.event.claims_per_customer = 5;
  x.event.guests = true;
  const auto noon = std::chrono::floor<std::chrono::days>(now) + seconds{12 * 3600};
  x.event.facts = {noon + seconds{60 * 86'400},
                   noon + seconds{62 * 86'400},
                   noon + seconds{60 * 86'400 - 7'200},
                   "Europe/Zagreb",
                   "Jarun Lake",
                   "Aleja Matije Ljubeka, Zagreb",
                   45'781'400,
                   15'919'600,
                   "Three days of music **by the lake**.\n\n* Four stages\n* Camping from Thursday on\n"};
  add_type(x, "Weekend pass", 14'900, 500, 4);
  add_type(x, "Saturday", 7'900, 500, 4);
  add_type(x, "Friend of the festival", 0, 50, 1);
  return x;
}

/// Retries until the owner has loaded; throws after demo_answer_timeout.
template <class Reply, class Handle, class Message>
Reply ask(caf::scoped_actor& self, const Handle& target, const Message& message) {
  const auto deadline = std::chrono::steady_clock::now() + demo_answer_timeout;
  for (;;) {
    std::optional<Reply> got;
    self->request(target, demo_answer_timeout, message)
      .receive([&](Reply& reply) { got = std::move(reply); }, [](const caf::error&) {});
    if (got) return std::move(*got);
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("the demo sale could not be made: no answer");
    std::this_thread::sleep_for(milliseconds{50});
  }
}

event_id make_sale(node& node, const organizer_id& organizer, const create_event& wish) {
  caf::scoped_actor self{node.system()};
  const auto made = ask<event_reply>(self, node.catalog(), wish);
  if (made.no) throw std::runtime_error("the demo sale was refused: " + made.no.detail);
  const auto& event = made.event.event;
  const auto owner = ask<event_handle>(self, node.region(), resolve_event{event.aggregate});
  const auto turned = ask<event_reply>(
    self, owner,
    turn_event{
      {event.id, {principal_kind::organizer, default_tenant, organizer}}, {}, event_trigger::activate});
  if (turned.no) throw std::runtime_error("the demo sale could not be activated");
  return event.id;
}

std::string random_password(environment& env) {
  std::array<std::uint8_t, 12> bytes{};
  env.random_bytes(std::as_writable_bytes(std::span{bytes}));
  return to_base64url(bytes);
}

void write_private(const std::filesystem::path& path, const std::string& text) {
  const auto draft = path.string() + ".new";
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written =
    fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!written) throw std::runtime_error("cannot write " + draft);
  std::filesystem::rename(draft, path);
}

/// Whether the demo pages may show the mails. Only at a local address: another public address means that a
/// proxy forwards strangers.
bool has_mailbox(const config::options& options) {
  const auto origin = net::origin_of(options.http.public_url);
  const bool is_local =
    net::names_this_machine(origin.substr(std::min(origin.find("://") + 3, origin.size())));
  return options.mail.mode == "file" && config::is_loopback(options.http.listen) && is_local;
}

std::string advice(const boost::json::object& demo, const config::options& options) {
  const auto url = text_of(demo, "base_url");
  const auto event = text_of(demo, "event_id");
  const auto data = options.data_dir.string();
  return "\nFairQueue is serving a demo sale (1,000 tickets) on " + url + "\n\n" + "  Buy a ticket    open "
         + url + "/shop (what it mails: "
         + (has_mailbox(options) ? url + std::string{net::mailbox_path} : data + "/mail") + ")\n"
         + "  Look at it      curl " + url + "/events/" + event + "\n"
         + "  Send a crowd    build/release/load/fairqueue-load --url " + url + " --data-dir " + data
         + " --fans 5000\n"
         + "  Be a fan        export FAN=$(build/release/app/fairqueue token --kind customer --data-dir "
         + data + ")\n" + "                  curl -X POST -H \"Authorization: Bearer $FAN\" " + url
         + "/events/" + event + "/queue\n" + "  Watch it        open " + url
         + "/console, signed in as the organizer\n" + "  Organizer       " + text_of(demo, "organizer_email")
         + " / " + text_of(demo, "organizer_password") + "\n" + "  All routes      " + url + "/docs\n"
         + "  Start afresh    stop it, then remove " + data + "\n\n";
}

} // namespace

prepared_demo prepare_demo(node& node, const config::options& options, environment& env) {
  const auto path = options.data_dir / "demo.json";
  boost::json::object demo;
  if (std::ifstream file{path}) {
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    demo = boost::json::parse(text).as_object();
  } else {
    const auto password = random_password(env);
    const auto added =
      add_organizer_now(node.system(), node.accounts(), {std::string{demo_email}, password, true});
    const auto organizer = parse_uuid(added.organizer_id);
    if (!organizer) throw std::runtime_error("the demo organizer could not be made: " + added.error);
    caf::scoped_actor self{node.system()};
    ask<ack_reply>(self, node.directory(), refresh_directory{}); // the new organizer may sign in at once
    const auto event = make_sale(node, *organizer, crowd_sale(*organizer, env.wall_now()));
    const auto shop = make_sale(node, *organizer, shop_sale(*organizer, env.wall_now()));
    demo = {{"organizer_email", demo_email},
            {"organizer_password", password},
            {"event_id", to_string(event)},
            {"shop_event_id", to_string(shop)}};
  }
  demo["base_url"] = options.http.public_url;
  write_private(path, boost::json::serialize(demo) + "\n");
  prepared_demo prepared{advice(demo, options), {}};
  if (has_mailbox(options))
    prepared.shown = {options.data_dir / "mail", text_of(demo, "organizer_email"),
                      text_of(demo, "organizer_password")};
  return prepared;
}

} // namespace fq
