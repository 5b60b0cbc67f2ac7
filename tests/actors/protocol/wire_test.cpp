// SPDX-License-Identifier: Apache-2.0
// Nodes of one cluster depend on the layout of each other's messages: every change needs a new wire_version.
// The test describes every message (name, member types in order, and their parts) and compares a hash with
// the known one. It does not detect swapped members of one type, changed enumerators, or changed parts of
// pairs and variants: check these by hand. Another test counts members that `inspect` forgets.
#define CAF_SUITE wire
#include "caf/test/unit_test.hpp"

#include "actors/cluster/cluster.hpp"

#include <caf/meta/annotation.hpp>

#include <set>
#include <string>
#include <typeindex>

namespace wire_test {

using namespace fq;

namespace {

/// If a test fails because of an intended change: raise wire_version and copy the values from the test's
/// output.
constexpr std::uint32_t known_version = 15;
constexpr std::uint64_t known_layout = 17525949544839933371u;

/// Actor handles and addresses count as opaque: their interface is a message type of its own.
template <class T>
concept has_parts = !caf::is_actor_handle<T>::value
                    && !std::is_same_v<T, caf::strong_actor_ptr> && !std::is_same_v<T, caf::actor_addr>;

class describer {
public:
  using result_type = void;
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  template <class... Ts>
  void operator()(Ts&&... parts) {
    (part(parts), ...);
  }
  template <class T>
  void message(const char* name) {
    text_ += name;
    T x{};
    part(x);
    text_ += '\n';
  }
  [[nodiscard]] std::uint64_t layout() const { // 64-bit FNV-1a
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text_) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h;
  }

private:
  template <class T>
  void part(T& x) {
    using type = std::remove_cv_t<T>;
    static_assert(!std::is_floating_point_v<type>, "CAF writes an infinite number for ever");
    if constexpr (!std::is_base_of_v<caf::meta::annotation, type>) {
      if constexpr (caf::is_actor_handle<type>::value) {
        text_ += " actor";
      } else {
        text_ += std::string{" "} + typeid(type).name();
        if constexpr (has_parts<type> && std::is_class_v<type>) look_into(const_cast<type&>(x));
      }
    }
  }
  template <class T>
  void look_into(T& x) {
    if (!seen_.insert(typeid(T)).second) return;
    if constexpr (requires(describer & d) { inspect(d, x); }) {
      text_ += '{';
      inspect(*this, x);
      text_ += '}';
    } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
      std::remove_cv_t<typename T::value_type> element{};
      part(element);
    }
  }

  std::string text_;
  std::set<std::type_index> seen_;
};

/// Converts to the type of any member.
struct any_member {
  template <class T>
  operator T() const; // NOLINT(google-explicit-constructor)
};

/// Number of members of an aggregate; fewer if some type cannot be made from any_member.
template <class T, class... Known>
consteval std::size_t count_members() {
  if constexpr (requires { T{Known{}..., any_member{}}; })
    return count_members<T, Known..., any_member>();
  else
    return sizeof...(Known);
}

/// Compares each message and its parts with what `inspect` names.
class member_counter {
public:
  using result_type = void;
  static constexpr bool reads_state = true;
  static constexpr bool writes_state = false;

  template <class... Ts>
  void operator()(Ts&&... parts) {
    named_ = (std::size_t{0} + ... + !std::is_base_of_v<caf::meta::annotation, std::decay_t<Ts>>);
    (part(parts), ...);
  }
  template <class T>
  void look_at(T& x) {
    if constexpr (has_parts<T> && std::is_class_v<T> && requires(member_counter & c) { inspect(c, x); }) {
      if (!seen_.insert(typeid(T)).second) return;
      member_counter inner;
      inspect(inner, x);
      if constexpr (std::is_aggregate_v<T>)
        if (count_members<T>() > inner.named_) forgetful.insert(typeid(T).name());
      forgetful.merge(inner.forgetful);
    } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
      std::remove_cv_t<typename T::value_type> element{};
      look_at(element);
    }
  }
  std::set<std::string> forgetful;

private:
  template <class T>
  void part(T& x) {
    using type = std::remove_cv_t<T>;
    if constexpr (!std::is_base_of_v<caf::meta::annotation, type>) look_at(const_cast<type&>(x));
  }
  std::size_t named_ = 0;
  std::set<std::type_index> seen_;
};

} // namespace

CAF_TEST(inspect names every member that another node needs) {
  member_counter all;
#define FQ_COUNT(T)                                                                                          \
  if constexpr (!caf::allowed_unsafe_message_type<fq::T>::value) {                                           \
    fq::T x{};                                                                                               \
    all.look_at(x);                                                                                          \
  }
  FQ_MESSAGES(FQ_COUNT)
#undef FQ_COUNT
  // What stays in its process: see their declarations.
  const std::set<std::string> known{typeid(resolve_event).name(), typeid(sessions_changed).name(),
                                    typeid(line_facts).name(), typeid(held_tickets_reply).name()};
  CAF_CHECK_EQUAL(all.forgetful, known);
}

CAF_TEST(whoever changes a message raises the wire version) {
  describer all;
#define FQ_DESCRIBE(T)                                                                                       \
  if constexpr (!caf::allowed_unsafe_message_type<fq::T>::value) all.message<fq::T>(#T);
  FQ_MESSAGES(FQ_DESCRIBE)
#undef FQ_DESCRIBE
  CAF_CHECK_EQUAL(wire_version, known_version);
  CAF_CHECK_EQUAL(all.layout(), known_layout);
}

} // namespace wire_test
