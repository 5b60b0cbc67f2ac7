// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.hpp"

#include "actors/cluster/cluster.hpp"
#include "actors/protocol/protocol.hpp"
#include "actors/protocol/system_config.hpp"
#include "app/limits.hpp"
#include "app/mesh_frames.hpp"
#include "config/toml_source.hpp"
#include "crypto/base45.hpp"
#include "crypto/digest.hpp"
#include "crypto/event_ticket_code.hpp"
#include "crypto/session_token.hpp"
#include "crypto/subject_token.hpp"
#include "domain/money/promo_codes.hpp"
#include "domain/seats/drawing.hpp"
#include "fair/tiles.hpp"
#include "fair/witness.hpp"
#include "net/http/client_address.hpp"
#include "net/http/parser.hpp"
#include "net/http/query.hpp"
#include "net/websocket/ws_frames.hpp"
#include "net/wire/cursor.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/seat_plan_codec.hpp"
#include "net/wire/settings_codec.hpp"
#include "outbound/paystack_gateway.hpp"
#include "outbound/stripe_gateway.hpp"
#include "outbound/webhook_url.hpp"
#include "tests/outbound/fixed_environment.hpp"

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/message.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace fq::fuzz {
namespace {

/// The result of a reader does not matter, only that it has one.
template <class Result>
void ignore(Result&&) {}

void demand(bool holds) {
  if (!holds) std::abort();
}

/// The text before the first line feed, and the rest.
std::pair<std::string_view, std::string_view> halves(std::string_view bytes) {
  const auto end = std::min(bytes.find('\n'), bytes.size());
  return {bytes.substr(0, end), bytes.substr(std::min(end + 1, bytes.size()))};
}

// -- HTTP

void read_http(std::string_view bytes) {
  std::string text{bytes};
  net::request_parser parser;
  for (const auto size : {text.size() / 2, text.size()}) { // as it arrives
    const auto step = parser.parse_head(text.data(), size);
    if (step == net::request_parser::step::failed) return;
    if (step == net::request_parser::step::need_more) continue;
    demand(parser.head_size() <= size);
    const auto frame = net::check_framing(parser.head());
    if (frame.no || frame.kind != net::body_kind::chunked) return;
    std::string body;
    std::size_t consumed = 0;
    parser.parse_chunks(text.data() + parser.head_size(), size - parser.head_size(), 1000, body, consumed);
    demand(body.size() <= 1000 && consumed <= size - parser.head_size());
    return;
  }
}

net::request request_of(std::string_view body) {
  net::request rq;
  rq.verb = net::method::post;
  rq.target = rq.path = "/x";
  rq.body = body;
  rq.fields = {{"Content-Type", "application/json"}};
  return rq;
}

void read_body(std::string_view bytes) {
  const auto rq = request_of(bytes);
  event_patch patch;
  ignore(net::read_json(rq, net::body_need::optional, [&](net::object_reader& body) {
    net::read_settings(body, patch, net::settings_api::events);
    body.ids("ids", {0, 3});
    body.texts("texts", {0, 3}, {1, 20});
    body.time_or_null("at");
    body.objects("ticket_types", {0, 3}, [](net::object_reader& type) {
      ticket_type_patch of_type;
      net::read_settings(type, of_type);
    });
  }));
}

void read_query(std::string_view bytes) {
  auto rq = request_of({});
  rq.query = bytes;
  net::page_wish wish;
  ignore(net::read_page(rq, wish));
  ignore(net::parse_forwarded(bytes));
}

class quiet_listener final : public net::ws_listener {
public:
  void on_message() override {}
  void on_ping(std::string_view payload) override { demand(payload.size() <= 125); }
  void on_pong() override {}
  void on_close(net::ws_close) override { ended = true; }
  void on_violation(net::ws_close) override { ended = true; }
  bool ended = false;
};

void read_frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto part = static_cast<unsigned char>(bytes.front()) % 32u + 1;
  std::string text{bytes.substr(1)};
  net::ws_reader reader;
  quiet_listener listener;
  for (std::size_t at = 0; at < text.size(); at += part) {
    const bool goes_on =
      reader.feed({text.data() + at, std::min<std::size_t>(part, text.size() - at)}, listener);
    demand(goes_on != listener.ended);
    if (!goes_on) return;
  }
}

// -- tokens and cursors

constexpr std::string_view tenant_key =
  R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
  R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";

void read_subject_token(std::string_view bytes) {
  const auto [token, jwk] = halves(bytes);
  const auto now = from_unix_ms(1'795'000'000'000);
  demand(!verify_subject_token(token, tenant_key, now)); // no one has its private key
  if (subject_key_problem(jwk).empty()) ignore(verify_subject_token(token, jwk, now));
}

void read_cursor(std::string_view bytes) {
  static const net::cursor_codec codec{secret_key{}};
  ignore(codec.decode({}, bytes));
  if (const auto id = parse_uuid(bytes)) demand(parse_uuid(to_string(*id)) == id);
  ignore(session_token_entry(bytes));
  if (const auto code = normalized_code(bytes)) demand(normalized_code(*code) == code);
}

void read_ticket_code(std::string_view bytes) {
  static const event_ticket_keys keys{secret_key{}, {}, 0};
  static const auto secret = keys.secret_of({}, 0);
  const auto code = read_event_ticket_code(bytes);
  if (!code) return;
  demand(!is_signed(*code, keys.public_key()) && !is_current(*code, secret, from_unix_ms(0)));
  std::array<std::uint8_t, 101> decoded{}; // a code has no second text
  demand(to_base45(byte_view{decoded}.first(from_base45(bytes, decoded).value())) == bytes);
}

/// Paths of tiles, and what logs send to a witness: each has one text.
void read_log_text(std::string_view bytes) {
  if (const auto path = parse_tile_path(bytes))
    demand((path->is_bundle ? bundle_path_of(path->what) : path_of(path->what)) == bytes);
  if (const auto verifier = parse_note_verifier(bytes)) demand(verifier->text() == bytes);
  if (const auto request = parse_add_checkpoint(bytes)) {
    const auto note = request->note.text + "\n" + request->note.signatures;
    demand(add_checkpoint_body(request->old_size, request->proof, note) == bytes);
    const note_verifier log{request->note.content.origin, note_key_kind::log, {}};
    demand(judge(*request, &log, {}) != witness_verdict::cosign);
  }
}

// -- money

template <class Gateway>
void read_webhook(const Gateway& gateway, std::string_view bytes, std::string_view signature) {
  const auto now = from_unix_ms(1'700'000'000'000);
  ignore(gateway.parse_webhook(bytes, signature, now));
  const auto [header, body] = halves(bytes);
  ignore(gateway.parse_webhook(body, header, now));
}

void read_stripe(std::string_view bytes) {
  static test::fixed_environment env;
  stripe_gateway::settings settings;
  settings.secret_key = "sk_test";
  settings.webhook_secrets = {"whsec_test"};
  static const stripe_gateway gateway{settings, env};
  const auto signature = to_hex(hmac_sha256(view_bytes("whsec_test"), "1700000000." + std::string{bytes}));
  read_webhook(gateway, bytes, "t=1700000000,v1=" + signature);
}

void read_paystack(std::string_view bytes) {
  static test::fixed_environment env;
  paystack_gateway::settings settings;
  settings.secret_keys = {"sk_test"};
  static const paystack_gateway gateway{settings, env};
  read_webhook(gateway, bytes, to_hex(hmac_sha512(view_bytes("sk_test"), bytes)));
}

void read_webhook_url(std::string_view bytes) { ignore(wrong_with_url(bytes)); }

// -- other nodes and files

/// What is read once can be written and read again.
template <class Message>
void read_message(std::string_view bytes) {
  if constexpr (!caf::allowed_unsafe_message_type<Message>::value) {
    Message x{}, again{};
    caf::binary_deserializer source{nullptr, bytes.data(), bytes.size()};
    if (source(x)) return;
    std::vector<char> written;
    caf::binary_serializer sink{nullptr, written};
    demand(!sink(x));
    caf::binary_deserializer second{nullptr, written.data(), written.size()};
    demand(!second(again));
  }
}

void read_messages(std::string_view bytes) {
  using reader = void (*)(std::string_view);
#define FQ_READER(T) &read_message<fq::T>,
  static constexpr reader readers[] = {FQ_MESSAGES(FQ_READER)};
#undef FQ_READER
  if (bytes.empty()) return;
  readers[static_cast<unsigned char>(bytes.front()) % std::size(readers)](bytes.substr(1));
}

caf::node_id process(std::uint32_t number) {
  return caf::make_node_id(number, "000102030405060708090a0b0c0d0e0f10111213").value_or(caf::node_id{});
}

/// Handles that CAF reads: none but the peer's.
struct handles_of_peer final : caf::proxy_registry::backend {
  caf::node_id peer;
  caf::strong_actor_ptr make_proxy(caf::node_id owner, caf::actor_id actor) override {
    demand(owner == peer || (!owner && actor == 0));
    return {};
  }
  void set_last_hop(caf::node_id*) override {}
};

/// What CAF reads of a message that the guard lets through.
void read_as_caf(std::string_view payload, const caf::node_id& peer) {
  static auto& config = *new system_config; // CAF's system cannot be destroyed at exit
  static auto& system = *new caf::actor_system{config};
  static caf::scoped_execution_unit context{&system};
  handles_of_peer handles;
  handles.peer = peer;
  caf::proxy_registry registry{system, handles};
  context.proxy_registry_ptr(&registry);
  caf::binary_deserializer source{&context, payload.data(), payload.size()};
  std::vector<caf::strong_actor_ptr> stages;
  caf::message content;
  ignore(source(stages, content));
}

void read_node_frames(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto side =
    static_cast<unsigned char>(bytes.front()) % 2 == 0 ? mesh_side::accepted : mesh_side::dialed;
  bytes.remove_prefix(1);
  const auto here = process(8);
  frame_guard guard{side, here};
  unsigned char kind = 0;
  while (guard.next_size() <= bytes.size()) {
    const bool is_header = guard.is_header_next();
    const auto part = bytes.substr(0, guard.next_size());
    bytes.remove_prefix(part.size());
    if (!guard.read(part).empty()) return;
    demand(guard.next_size() <= frame_bytes_max && guard.process() != here);
    if (is_header)
      kind = static_cast<unsigned char>(part.front());
    else if (kind == 2)
      read_as_caf(part, guard.process());
    demand(kind != 3);
  }
}

// -- seat plans

void read_seat_plan(std::string_view bytes) {
  for (const auto& made : {net::plan_of_json(bytes), net::plan_of_csv(bytes)}) {
    demand((made.plan == nullptr) != made.errors.empty());
    demand(made.errors.size() <= plan_errors_max);
    for (const auto& e : made.errors) demand(e.line > 0 && !e.what.empty());
    if (!made.plan) continue;
    demand(*net::plan_of_json(net::json_of(*made.plan)).plan == *made.plan);
    demand(*net::plan_of_csv(net::csv_of(*made.plan)).plan == *made.plan);
    ignore(draw(*made.plan));
  }
}

void read_toml_file(std::string_view bytes) {
  static const int file = memfd_create("toml", 0);
  static const auto path = "/proc/self/fd/" + std::to_string(file);
  demand(ftruncate(file, 0) == 0);
  demand(pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::vector<config::problem> problems;
  ignore(config::read_toml(path, problems));
}

constexpr target all[] = {
  {"http", read_http},
  {"body", read_body},
  {"query", read_query},
  {"frames", read_frames},
  {"subject_token", read_subject_token},
  {"cursor", read_cursor},
  {"event_ticket_code", read_ticket_code},
  {"log_text", read_log_text},
  {"stripe", read_stripe},
  {"paystack", read_paystack},
  {"webhook_url", read_webhook_url},
  {"messages", read_messages},
  {"node_frames", read_node_frames},
  {"seat_plan", read_seat_plan},
  {"toml", read_toml_file},
};

} // namespace

std::span<const target> targets() { return all; }

} // namespace fq::fuzz
