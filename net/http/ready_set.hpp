// SPDX-License-Identifier: Apache-2.0
// The sockets of one io thread. Each is registered once with an epoll set of our own, edge-triggered, and
// Asio waits for the set only. So a wait costs no system call, and one wake-up serves many sockets. Asio's
// own waits cost an epoll_ctl each. Everything runs on the io thread.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fq::net {

/// Who waits for a socket: an object with a reference count, which lives until it was called or dropped.
class waiter {
public:
  waiter() = default;
  waiter(waiter&& other) noexcept : who_(std::exchange(other.who_, nullptr)), kind_(other.kind_) {}
  waiter& operator=(waiter&& other) noexcept {
    std::swap(who_, other.who_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~waiter() {
    if (who_ != nullptr) kind_->release(who_);
  }

  /// Calls `(who->*Ready)()`.
  template <auto Ready, class Owner>
  static waiter of(Owner* who) {
    static constexpr kind its_kind{[](void* o) { (static_cast<Owner*>(o)->*Ready)(); },
                                   [](void* o) { intrusive_ptr_release(static_cast<Owner*>(o)); }};
    intrusive_ptr_add_ref(who);
    return waiter{who, &its_kind};
  }

  explicit operator bool() const { return who_ != nullptr; }
  void operator()() const { kind_->ready(who_); }

private:
  struct kind {
    void (*ready)(void*);
    void (*release)(void*);
  };
  waiter(void* who, const kind* k) : who_(who), kind_(k) {}

  void* who_ = nullptr;
  const kind* kind_ = nullptr;
};

class ready_set {
public:
  /// Throws std::system_error without a free descriptor.
  explicit ready_set(boost::asio::io_context& io);
  ready_set(const ready_set&) = delete;
  ready_set& operator=(const ready_set&) = delete;

private:
  friend class ready_socket;
  struct place {
    waiter who;
    bool by_writing = false; ///< waits until the socket can be written
  };
  struct member {
    int descriptor; ///< -1: closed
    bool may_read = false; ///< an edge that no one has waited for, or bytes left by the last read
    bool may_write = false;
    bool read_ended = false; ///< no edge follows: reading never waits
    bool write_ended = false;
    place reader{}, writer{};
  };

  void wait();
  void serve();
  static void serve(member& m, std::uint32_t events);

  boost::asio::io_context& io_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> epoll_;
  std::vector<std::unique_ptr<member>> closed_; ///< events that are being served may still name them
  bool is_serving_ = false;
};

/// A connected, non-blocking socket. Movable; its waiters stay with it.
class ready_socket {
public:
  /// Takes `descriptor` over. Throws std::system_error if the kernel has no room for another registration.
  ready_socket(ready_set& set, int descriptor);
  ready_socket(ready_socket&&) noexcept = default;
  ready_socket& operator=(ready_socket&&) = delete;
  ~ready_socket() { close(); }

  [[nodiscard]] bool is_open() const { return member_ != nullptr; }
  [[nodiscard]] int native_handle() const { return member_->descriptor; }

  /// Whether unread bytes have arrived.
  [[nodiscard]] bool has_input() const;
  /// Like ::recv and ::send with MSG_DONTWAIT.
  ssize_t receive(char* into, std::size_t room);
  ssize_t send(const char* bytes, std::size_t size);
  /// For who uses the descriptor itself, as OpenSSL does: whether its last call left nothing to read, or no
  /// room to write.
  void was_read(bool is_empty) { member_->may_read = !is_empty; }
  void was_written(bool is_full) { member_->may_write = !is_full; }

  /// Calls `(who->*Ready)()` once when `receive` may succeed, never within this call. It may also come too
  /// early, and after `close`. `by_writing`: when `send` may succeed.
  template <auto Ready, class Owner>
  void wait_readable(Owner* who, bool by_writing = false) {
    wait(member_->reader, {waiter::of<Ready>(who), by_writing});
  }
  /// When `send` may succeed; not `by_writing`: when `receive` may succeed.
  template <auto Ready, class Owner>
  void wait_writable(Owner* who, bool by_writing = true) {
    wait(member_->writer, {waiter::of<Ready>(who), by_writing});
  }

  void shutdown_send();
  void close();

private:
  void wait(ready_set::place& at, ready_set::place p);

  ready_set* set_;
  std::unique_ptr<ready_set::member> member_; ///< null: closed
};

} // namespace fq::net
