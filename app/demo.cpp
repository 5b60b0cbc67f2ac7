// SPDX-License-Identifier: Apache-2.0
#include "app/demo.hpp"

#include "app/control_requests.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <caf/scoped_actor.hpp>

#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace fq {
namespace {

constexpr std::string_view demo_email = "demo@fairqueue.local";
constexpr seconds answer_timeout{10};
constexpr std::int64_t demo_tickets = 1000;
constexpr money demo_price = 500'000; ///< 5,000 naira in kobo

create_event demo_event(const organizer_id& organizer, timestamp now) {
  create_event x;
  x.by = {principal_kind::organizer, default_tenant, organizer};
  x.event.name = "Demo sale";
  x.event.currency = "NGN";
  x.event.queue_opens_at = x.event.sale_start = now - seconds{1};
  x.event.sale_end = now + seconds{30 * 24 * 3600};
  x.event.queue.batch_size = 50;
  x.event.queue.admission_interval = milliseconds{250};
  x.event.queue.over_admission_percent = 110;
  x.event.queue.claim_window = seconds{5};
  x.event.queue.session_ttl = seconds{15};
  x.event.claim_ttl = seconds{8};
  ticket_type_row type;
  type.name = "Standard";
  type.price = demo_price;
  type.total = demo_tickets;
  x.ticket_types.push_back(std::move(type));
  return x;
}

/// Asks until the owner has loaded; throws when the time is over.
template <class Reply, class Handle, class Message>
Reply ask(caf::scoped_actor& self, const Handle& target, const Message& message) {
  const auto deadline = std::chrono::steady_clock::now() + answer_timeout;
  for (;;) {
    std::optional<Reply> got;
    self->request(target, answer_timeout, message).receive([&](Reply& reply) { got = std::move(reply); }, [](const caf::error&) {});
    if (got) return std::move(*got);
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the demo sale could not be made: no answer");
    std::this_thread::sleep_for(milliseconds{50});
  }
}

event_id make_sale(node& node, const organizer_id& organizer, timestamp now) {
  caf::scoped_actor self{node.system()};
  const auto made = ask<event_reply>(self, node.catalog(), demo_event(organizer, now));
  if (made.no) throw std::runtime_error("the demo sale was refused: " + made.no.detail);
  const auto& event = made.event.event;
  const auto owner = ask<event_handle>(self, node.region(), resolve_event{event.aggregate});
  const auto turned = ask<event_reply>(self, owner, turn_event{{event.id, {principal_kind::organizer, default_tenant, organizer}}, {}, event_trigger::activate});
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
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!written) throw std::runtime_error("cannot write " + draft);
  std::filesystem::rename(draft, path);
}

std::string text_of(const boost::json::object& o, std::string_view name) {
  const auto* v = o.if_contains(name);
  return v != nullptr && v->is_string() ? std::string{v->get_string()} : std::string{};
}

std::string advice(const boost::json::object& demo, const config::options& options) {
  const auto url = text_of(demo, "base_url");
  const auto event = text_of(demo, "event_id");
  const auto data = options.data_dir.string();
  return "\nFairQueue is serving a demo sale (1,000 tickets) on " + url + "\n\n"
         + "  Look at it      curl " + url + "/events/" + event + "\n"
         + "  Send a crowd    build/release/load/fairqueue-load --url " + url + " --data-dir " + data + " --fans 5000\n"
         + "  Be a fan        export FAN=$(build/release/app/fairqueue token --kind customer --data-dir " + data + ")\n"
         + "                  curl -X POST -H \"Authorization: Bearer $FAN\" " + url + "/events/" + event + "/queue\n"
         + "  Organizer       " + text_of(demo, "organizer_email") + " / " + text_of(demo, "organizer_password") + "\n"
         + "  All routes      " + url + "/docs\n"
         + "  Start afresh    stop it, then remove " + data + "\n\n";
}

} // namespace

std::string prepare_demo(node& node, const config::options& options, environment& env) {
  const auto path = options.data_dir / "demo.json";
  boost::json::object demo;
  if (std::ifstream file{path}) {
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    demo = boost::json::parse(text).as_object();
  } else {
    const auto password = random_password(env);
    const auto added = add_organizer_now(node.system(), node.accounts(), {std::string{demo_email}, password, true});
    const auto organizer = parse_uuid(added.organizer_id);
    if (!organizer) throw std::runtime_error("the demo organizer could not be made: " + added.error);
    caf::scoped_actor self{node.system()};
    ask<ack_reply>(self, node.directory(), refresh_directory{}); // the new organizer may come at once
    const auto event = make_sale(node, *organizer, env.wall_now());
    demo = {{"organizer_email", demo_email}, {"organizer_password", password}, {"event_id", to_string(event)}};
  }
  demo["base_url"] = options.http.public_url;
  write_private(path, boost::json::serialize(demo) + "\n");
  return advice(demo, options);
}

} // namespace fq
