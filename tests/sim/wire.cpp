// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/wire.hpp"

#include "actors/protocol/protocol.hpp"
#include "domain/base/planted.hpp"

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

namespace fq::sim {
namespace {

template <class Message, class Change>
void in(caf::message& content, Change change) {
  if (content.match_elements<Message>()) change(content.get_mutable_as<Message>(0));
}

/// What arrives if a message's `inspect` forgets a member.
void forget_members(caf::message& content) {
  if (planted(bug::key_not_sent)) {
    in<open_claim>(content, [](open_claim& x) { x.idempotency = {}; });
    in<open_payment>(content, [](open_payment& x) { x.idempotency = {}; });
    in<place_order>(content, [](place_order& x) { x.idempotency = {}; });
  }
  if (planted(bug::number_not_sent)) in<entry_reply>(content, [](entry_reply& x) { x.entry.number = {}; });
}

} // namespace

wire::wire(caf::actor_system& system) : unit_(&system), proxies_(system, backend_) {
  unit_.proxy_registry_ptr(&proxies_);
}

wire::~wire() = default;

caf::expected<caf::message> wire::carry(const caf::message& content) {
  bytes_.clear();
  auto sent = content;
  caf::binary_serializer sink{&unit_, bytes_};
  if (auto failed = sink(sent)) return failed;
  caf::message read;
  caf::binary_deserializer source{&unit_, bytes_};
  if (auto failed = source(read)) return failed;
  forget_members(read);
  return read;
}

} // namespace fq::sim
