// SPDX-License-Identifier: Apache-2.0
// Which of our messages carry handles of actors: the guard of frames must know all of them.
#define CAF_SUITE mesh_handles
#include "caf/test/unit_test.hpp"

#include "actors/protocol/protocol.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/protocol/type_ids.hpp"
#include "app/mesh_frames.hpp"
#include "tests/app/mesh_bytes.hpp"

#include <caf/actor_system.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deserializer.hpp>
#include <caf/io/basp/header.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace fq;
using test::process, test::wire_bytes;

namespace {

struct counting_handles final : caf::proxy_registry::backend {
  int found = 0;
  caf::strong_actor_ptr make_proxy(caf::node_id, caf::actor_id) override {
    ++found;
    return {};
  }
  void set_last_hop(caf::node_id*) override {}
};

/// Reads zeros and handles of another process. Lists have one element, and what is optional is there.
class plain_source final : public caf::deserializer {
public:
  using deserializer::deserializer;
  caf::error begin_object(std::uint16_t& type, std::string& name) override {
    type = 0;
    name = "@<>";
    return {};
  }
  caf::error end_object() override { return {}; }
  caf::error begin_sequence(std::size_t& size) override { return set(size, std::size_t{1}); }
  caf::error end_sequence() override { return {}; }
  caf::error apply_raw(std::size_t size, void* to) override {
    std::memset(to, 0, size);
    return {};
  }

protected:
  caf::error apply_impl(std::int8_t& x) override { return set(x, std::int8_t{1}); }
  caf::error apply_impl(std::uint8_t& x) override { return set(x, std::uint8_t{1}); }
  caf::error apply_impl(std::int16_t& x) override { return set(x); }
  caf::error apply_impl(std::uint16_t& x) override { return set(x); }
  caf::error apply_impl(std::int32_t& x) override { return set(x); }
  caf::error apply_impl(std::uint32_t& x) override { return set(x); }
  caf::error apply_impl(std::int64_t& x) override { return set(x); }
  caf::error apply_impl(std::uint64_t& x) override { // the kind of id that a process has
    return set(x, static_cast<std::uint64_t>(caf::node_id::default_data::class_id));
  }
  caf::error apply_impl(float& x) override { return set(x); }
  caf::error apply_impl(double& x) override { return set(x); }
  caf::error apply_impl(long double& x) override { return set(x); }
  caf::error apply_impl(std::string& x) override { return set(x); }
  caf::error apply_impl(std::u16string& x) override { return set(x); }
  caf::error apply_impl(std::u32string& x) override { return set(x); }

private:
  template <class T>
  static caf::error set(T& x, T value = {}) {
    x = std::move(value);
    return {};
  }
};

template <class T>
bool has_handles(caf::actor_system& system) {
  if constexpr (caf::allowed_unsafe_message_type<T>::value)
    return false;
  else {
    counting_handles handles;
    caf::proxy_registry registry{system, handles};
    caf::scoped_execution_unit context{&system};
    context.proxy_registry_ptr(&registry);
    plain_source source{&context};
    T x{};
    static_cast<void>(source(x));
    return handles.found > 0;
  }
}

/// Whether the guard lets a message of this type pass without a look at its values.
bool passes_unread(const std::string& name) {
  using namespace caf::io::basp;
  frame_guard guard{mesh_side::accepted, process(2)};
  const auto send = [&](message_type kind, std::uint64_t to, const std::vector<char>& payload) {
    const auto size = static_cast<std::uint32_t>(payload.size());
    return guard.read(wire_bytes(header{kind, 0, size, 0, 0, to})).empty() && guard.read(payload).empty();
  };
  CAF_REQUIRE(send(message_type::client_handshake, 0, wire_bytes(process(1))));
  return send(message_type::direct_message, 7,
              wire_bytes(std::vector<std::uint32_t>{}, std::uint16_t{0}, "@<>+fq::" + name));
}

} // namespace

CAF_TEST(the guard looks into each of our messages that has handles) {
  system_config config;
  caf::actor_system system{config};
  std::vector<std::string> with_handles, misjudged;
  const auto check = [&](const std::string& name, bool has) {
    if (has) with_handles.push_back(name);
    if (has == passes_unread(name)) misjudged.push_back(name);
  };
#define FQ_CHECK(T) check(#T, has_handles<fq::T>(system));
  FQ_MESSAGES(FQ_CHECK)
#undef FQ_CHECK
  CAF_CHECK_EQUAL(with_handles, (std::vector<std::string>{"event_handle", "greet", "greeting", "dial_node",
                                                          "node_dialed", "cluster_changed"}));
  CAF_CHECK_EQUAL(misjudged, std::vector<std::string>{});
}
