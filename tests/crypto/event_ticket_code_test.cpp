// SPDX-License-Identifier: Apache-2.0
// Codes of event tickets against vectors that node's crypto made (docs/design/tickets.md), and hostile texts.
#define CAF_SUITE event_ticket_code
#include "caf/test/unit_test.hpp"

#include "crypto/event_ticket_code.hpp"

#include <algorithm>
#include <set>

using namespace fq;

namespace {

const uuid event{0x0123456789abcdef, 0xfedcba9876543210};
const uuid ticket{0x019ab2c3d4e57f60, 0xa1b2c3d4e5f60718};
const event_ticket_claims claims{event, ticket, 7};

const std::string known_public_key = "335d76c926f4bce069c622ef9ab001861a61509e5964c7c1b726588b4e35a420";
const std::string known_secret = "b9661e726af301b0016d578cdadc85efdb35c548ebe19cca2a1f483326d5cd2b";
const std::string known_fixed =
  "W50TK404DGWLDFUV+RFCJ:SA2122PJ2YOQ0TW9C/QM6-QS4VO130003+0UZS%N0:6KWFCFM5FJO09I$ZPZQ4:Q0XLDH "
  "7B*C8E6XDU136*Q291NDMC5AEQPL133K2MPJ3 X4HEP43V$:2J3SBHALKU80";
const std::string known_rotating =
  "IB0TK404DGWLDFUV+RFCJ:SA2122PJ2YOQ0TW9C/QM6-QS4VO13000C01:EWMTAEFH/+QY 7YKDR4BK0";
constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";

timestamp at(std::int64_t unix_seconds) { return from_unix_ms(unix_seconds * 1000); }
const auto known_time = at(1'795'000'000); // step 59,833,333, from 1,794,999,990 on

secret_key key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

event_ticket_keys known_keys() { return {key_of(0x0b), event, 3}; }

bool is_code_of(std::string_view text, const event_ticket_public_key& key) {
  const auto code = read_event_ticket_code(text);
  return code && is_signed(*code, key);
}

bool is_current_at(std::string_view text, const secret_key& secret, timestamp now) {
  const auto code = read_event_ticket_code(text);
  return code && is_current(*code, secret, now);
}

} // namespace

CAF_TEST(keys and codes are those of the vectors) {
  const auto keys = known_keys();
  CAF_CHECK_EQUAL(to_hex(keys.public_key()), known_public_key);
  CAF_CHECK_EQUAL(to_hex(keys.secret_of(ticket, 7).bytes()), known_secret);
  CAF_CHECK_EQUAL(keys.fixed_code(ticket, 7), known_fixed);
  CAF_CHECK_EQUAL(rotating_code(keys.secret_of(ticket, 7), claims, known_time), known_rotating);
}

CAF_TEST(a code says what it is for and has only characters of the QR alphanumeric set) {
  for (const auto& [text, kind, size] : {std::tuple{known_fixed, event_ticket_code_kind::fixed, 152u},
                                         std::tuple{known_rotating, event_ticket_code_kind::rotating, 80u}}) {
    CAF_CHECK_EQUAL(text.size(), size);
    CAF_CHECK_EQUAL(text.find_first_not_of(alphabet), std::string::npos);
    const auto code = read_event_ticket_code(text);
    CAF_REQUIRE(code.has_value());
    CAF_CHECK(code->kind == kind);
    CAF_CHECK(code->claims == claims);
  }
}

CAF_TEST(a fixed code is valid under the public key of its event only) {
  CAF_CHECK(is_code_of(known_fixed, known_keys().public_key()));
  const event_ticket_keys other_event{key_of(0x0b), uuid{event.hi, event.lo + 1}, 3};
  const event_ticket_keys other_number{key_of(0x0b), event, 4};
  const event_ticket_keys other_installation{key_of(0x0c), event, 3};
  for (const auto* keys : {&other_event, &other_number, &other_installation}) {
    CAF_CHECK(!is_code_of(known_fixed, keys->public_key()));
    CAF_CHECK(keys->secret_of(ticket, 7).bytes()[0] != known_keys().secret_of(ticket, 7).bytes()[0]);
  }
  CAF_CHECK(!is_code_of(known_fixed, event_ticket_public_key{}));
}

CAF_TEST(every changed character is refused) {
  const auto key = known_keys().public_key();
  const auto secret = known_keys().secret_of(ticket, 7);
  for (std::size_t i = 0; i < known_fixed.size(); ++i) {
    auto changed = known_fixed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (is_code_of(changed, key)) CAF_ERROR("a change is accepted at " << i);
  }
  for (std::size_t i = 0; i < known_rotating.size(); ++i) {
    auto changed = known_rotating;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (is_current_at(changed, secret, known_time)) CAF_ERROR("a change is accepted at " << i);
  }
}

CAF_TEST(only a code itself is read) {
  for (const auto& code : {known_fixed, known_rotating}) {
    CAF_CHECK(!read_event_ticket_code(""));
    CAF_CHECK(!read_event_ticket_code(code + "0"));
    CAF_CHECK(!read_event_ticket_code(code + "00"));
    CAF_CHECK(!read_event_ticket_code(code + "000"));
    CAF_CHECK(!read_event_ticket_code(code + "\n"));
    CAF_CHECK(!read_event_ticket_code(" " + code));
    CAF_CHECK(!read_event_ticket_code(code + code));
    for (std::size_t size = 0; size < code.size(); ++size)
      CAF_CHECK(!read_event_ticket_code(std::string_view{code}.substr(0, size)));
    auto lower = code;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c == 'W' ? 'w' : c; });
    CAF_CHECK(!read_event_ticket_code(lower));
  }
  auto mixed = known_fixed; // a fixed code's length with a rotating code's kind, and other kinds
  for (const std::string_view first : {"IB0", "000", "UP0", "FGW"}) {
    mixed.replace(0, 3, first);
    CAF_CHECK(!read_event_ticket_code(mixed));
  }
}

CAF_TEST(a signature is not accepted in another form) {
  // The order of the curve added to the second half of the signature: the same to lenient verifiers.
  constexpr std::array<std::uint8_t, 32> order{
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};
  auto code = read_event_ticket_code(known_fixed).value();
  CAF_CHECK(is_signed(code, known_keys().public_key()));
  unsigned carry = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    carry += code.proof[32 + i] + order[i];
    code.proof[32 + i] = static_cast<std::uint8_t>(carry);
    carry >>= 8;
  }
  CAF_CHECK_EQUAL(carry, 0u);
  CAF_CHECK(!is_signed(code, known_keys().public_key()));
}

CAF_TEST(a rotating code is valid for its step and the steps beside it) {
  const auto secret = known_keys().secret_of(ticket, 7);
  for (const std::int64_t second : {1'794'999'960, 1'794'999'990, 1'795'000'019, 1'795'000'049})
    CAF_CHECK(is_current_at(known_rotating, secret, at(second)));
  for (const std::int64_t second : {0, 1'794'999'959, 1'795'000'050, 1'895'000'000})
    CAF_CHECK(!is_current_at(known_rotating, secret, at(second)));
  std::set<std::string> codes;
  for (std::int64_t second = 0; second < 300; ++second)
    codes.insert(rotating_code(secret, claims, at(1'794'999'990 + second)));
  CAF_CHECK_EQUAL(codes.size(), 10u);
}

CAF_TEST(a rotating code is valid under the secret of its ticket and generation only) {
  const auto keys = known_keys();
  for (const auto& other : {keys.secret_of(ticket, 6), keys.secret_of(ticket, 8), keys.secret_of(event, 7),
                            key_of(0), key_of(0x0b)})
    CAF_CHECK(!is_current_at(known_rotating, other, known_time));
  // The claims are signed too: a secret does not serve another ticket.
  const auto secret = keys.secret_of(ticket, 7);
  const auto moved = rotating_code(secret, {event, event, 7}, known_time);
  CAF_CHECK(is_current_at(moved, secret, known_time));
  auto code = read_event_ticket_code(moved).value();
  code.claims = claims;
  CAF_CHECK(!is_current(code, secret, known_time));
}

CAF_TEST(no kind passes as the other) {
  const auto keys = known_keys();
  const auto secret = keys.secret_of(ticket, 7);
  CAF_CHECK(!is_current_at(known_fixed, secret, known_time));
  CAF_CHECK(!is_code_of(known_rotating, keys.public_key()));
  auto code = read_event_ticket_code(known_fixed).value();
  code.kind = event_ticket_code_kind::rotating;
  CAF_CHECK(!is_current(code, secret, known_time));
  code = read_event_ticket_code(known_rotating).value();
  code.kind = event_ticket_code_kind::fixed;
  CAF_CHECK(!is_signed(code, keys.public_key()));
}

CAF_TEST(codes of other tickets and generations differ) {
  const auto keys = known_keys();
  std::set<std::string> all;
  for (const auto& id : {ticket, event, uuid{}})
    for (const std::uint32_t generation : {0u, 1u, 256u, 0xffff'ffffu}) {
      const auto code = keys.fixed_code(id, generation);
      CAF_CHECK(is_code_of(code, keys.public_key()));
      CAF_CHECK_EQUAL(read_event_ticket_code(code)->claims.generation, generation);
      all.insert(code);
    }
  CAF_CHECK_EQUAL(all.size(), 12u);
}
