// SPDX-License-Identifier: Apache-2.0
// The connections of one io thread by client address: which address holds most, what each may lose, and what
// output waits for clients that do not read. Decides which connection a crowded server closes next. Pure:
// memory only, the caller passes times. Connections and WebSockets call it.
#pragma once
#include "config/network.hpp"
#include "domain/base/time.hpp"
#include "net/http/limits.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/intrusive/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace fq::net {

/// Whether addresses are limited: less than 20 % of the connections are left.
[[nodiscard]] constexpr bool is_crowded(std::int64_t open, std::int64_t max) {
  return open * 100 >= max * crowded_percent;
}
/// Whether another WebSocket leaves the share that short requests have.
[[nodiscard]] constexpr bool has_room_for_socket(std::int64_t sockets, std::int64_t max) {
  return sockets * 100 < max * sockets_percent_max;
}

/// What a connection does, in the order in which connections are closed.
enum class standing : std::uint8_t {
  unread, ///< does not read its answer
  owing, ///< has no place: owes a request, or says goodbye
  extra, ///< a socket of a place that has a newer one
  idle, ///< was answered
  needed, ///< has a request in progress or is a place's only socket: is not closed
};
inline constexpr std::size_t dispensable_standings = static_cast<std::size_t>(standing::needed);

struct party;

/// A connection, as the crowd sees it.
class guest {
public:
  boost::intrusive::list_member_hook<> hook; ///< of the crowd

  /// Closes the connection now. Returns false if it has unread input, so that it is about to be served.
  virtual bool give_way() = 0;

protected:
  guest() = default;
  ~guest() = default;

private:
  friend class crowd;
  party* party_ = nullptr; ///< null: not in the crowd
  std::size_t pending_ = 0; ///< bytes of output
  milliseconds since_{0}; ///< of its standing
  standing standing_ = standing::needed;
};

using guest_list = boost::intrusive::list<
  guest, boost::intrusive::member_hook<guest, boost::intrusive::list_member_hook<>, &guest::hook>,
  boost::intrusive::constant_time_size<false>>;

/// The connections of one address: an IPv4 address or an IPv6 /64.
struct party {
  config::ip_bytes address{};
  std::size_t size = 0;
  std::size_t pending = 0; ///< bytes of output of all its connections
  std::array<guest_list, dispensable_standings> dispensable; ///< each ordered by time
};

class crowd {
public:
  /// `trusted`: proxies, whose connections count for no address. Then bytes of output that may wait for
  /// clients: of one address and of all. `when_over`: called when a limit is exceeded, to call `relieve`
  /// soon.
  crowd(std::span<const config::address_block> trusted, std::size_t pending_of_address,
        std::size_t pending_of_all, std::function<void()> when_over) :
      trusted_(trusted),
      pending_of_address_(pending_of_address),
      pending_of_all_(pending_of_all),
      when_over_(std::move(when_over)) {}
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Counts the connection for the client's address, and no longer for another.
  void enter(guest& g, const boost::asio::ip::address& client);
  void leave(guest& g);
  /// The connection changed what it does. Times must not go back.
  void stand(guest& g, standing how, milliseconds now);
  /// The connection's pending output is now this.
  void owe(guest& g, std::size_t bytes);

  /// Closes one connection: of the address with the most connections, in the order of `standing`, the oldest
  /// first. Considers only addresses with more than `more_than` connections, and only connections whose
  /// standing began at `before` or earlier. One that does not give way is asked last from `now` on. Returns
  /// false if none gave way.
  bool close_one(std::size_t more_than, milliseconds before, milliseconds now);
  /// An extra socket of the address that holds most. Null: none.
  [[nodiscard]] guest* extra_socket() const;
  /// A connection that does not read, if too much output waits: of an address over its limit, or of the
  /// address with the most output if all together are over theirs. Null: none.
  [[nodiscard]] guest* over_budget();
  /// Closes connections until no limit of output is exceeded. To be called outside of a connection's turn.
  void relieve();

  [[nodiscard]] std::size_t size_of(const boost::asio::ip::address& client) const;
  [[nodiscard]] std::size_t pending() const { return pending_; }

private:
  struct larger_first {
    bool operator()(const party* a, const party* b) const {
      return a->size != b->size ? a->size > b->size : a < b;
    }
  };
  bool close_one(party& p, standing how, milliseconds before, milliseconds now);
  void resize(party& p, std::ptrdiff_t by);
  static void unlist(guest& g);
  /// The guest with this standing for longest, if it began at `before` or earlier; null: none.
  static guest* oldest(party& p, standing how, milliseconds before = milliseconds::max());

  const std::span<const config::address_block> trusted_;
  const std::size_t pending_of_address_, pending_of_all_;
  const std::function<void()> when_over_;
  std::size_t pending_ = 0;
  std::vector<config::ip_bytes> over_; ///< addresses that exceeded their limit
  std::map<config::ip_bytes, party> parties_;
  std::set<party*, larger_first> ranked_;
  party strangers_; ///< connections that count for no address, as those of trusted proxies; not ranked
};

} // namespace fq::net
