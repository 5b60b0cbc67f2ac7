// SPDX-License-Identifier: Apache-2.0
// The coroutine type of handlers: runs on one io thread, resumed by the actor bridge. Smaller and faster
// than Asio's (no executor, no cancellation, no thread frame), because a handler waits only for actors.
// Independent of HTTP and of actors.
#pragma once
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace fq::net {

/// Starts when it is awaited or by `start`, and runs on the awaiting thread. May be destroyed while it
/// waits, which cancels the wait.
template <class T>
class [[nodiscard]] awaitable {
public:
  struct promise_type;
  using frame = std::coroutine_handle<promise_type>;

  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(frame self) const noexcept {
      auto& promise = self.promise();
      if (promise.waiter) return promise.waiter;
      if (promise.done) promise.done(promise.done_argument);
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  struct promise_type {
    std::optional<T> value;
    std::exception_ptr failure;
    std::coroutine_handle<> waiter;
    void (*done)(void*) noexcept = nullptr;
    void* done_argument = nullptr;

    awaitable get_return_object() { return awaitable{frame::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
    template <class U>
    void return_value(U&& result) {
      value.emplace(std::forward<U>(result));
    }
  };

  awaitable() = default;
  awaitable(awaitable&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  awaitable& operator=(awaitable&& other) noexcept {
    if (this != &other) {
      reset();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  ~awaitable() { reset(); }

  /// Destroys the coroutine at any suspension point.
  void reset() {
    if (auto frame = std::exchange(frame_, {})) frame.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }
  [[nodiscard]] bool finished() const noexcept { return frame_.done(); }

  /// Runs to the first wait or to the end. `done(argument)` is called at the end, inside the coroutine, so
  /// it must not destroy it.
  void start(void (*done)(void*) noexcept, void* argument) {
    frame_.promise().done = done;
    frame_.promise().done_argument = argument;
    frame_.resume();
  }

  /// Result of a finished coroutine; rethrows its exception.
  T take() {
    if (frame_.promise().failure) std::rethrow_exception(frame_.promise().failure);
    return std::move(*frame_.promise().value);
  }

  // For co_await in another awaitable.
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) noexcept {
    frame_.promise().waiter = waiter;
    return frame_;
  }
  T await_resume() { return take(); }

private:
  explicit awaitable(frame f) : frame_(f) {}
  frame frame_;
};

/// A coroutine without a waiter: starts at once and destroys itself at its end. It must not throw.
struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

} // namespace fq::net
