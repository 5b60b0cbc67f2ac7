// SPDX-License-Identifier: Apache-2.0
// libcurl's multi interface and the thread that drives it. Submitting threads use only what mutex_ guards.
// All libcurl calls run on that thread, except the thread-safe curl_multi_wakeup.
#include "outbound/http_client.hpp"

#include "domain/base/address_guard.hpp"
#include "outbound/curl_list.hpp"
#include "outbound/limits.hpp"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

namespace fq {
namespace {

// On Linux both calls affect only the current thread.
int niceness_here() { return getpriority(PRIO_PROCESS, 0); }
void be_nice(int niceness) { setpriority(PRIO_PROCESS, 0, std::min(niceness, niceness_max)); }

struct free_handle {
  void operator()(CURL* curl) const noexcept { curl_easy_cleanup(curl); }
};
using easy_handle = std::unique_ptr<CURL, free_handle>;

bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool can_be_sent(const http_request& request) {
  return is_printable(request.url)
         && std::all_of(request.headers.begin(), request.headers.end(),
                        [](const auto& h) { return is_printable(h.first) && is_printable(h.second); });
}

/// A request with its callback.
struct order {
  http_request request;
  http_callback done;
  milliseconds deadline{0}; // steady time
};

/// An order in flight; libcurl holds pointers into it.
struct transfer {
  order what;
  easy_handle curl;
  curl_list headers;
  http_response answer;
  std::size_t bytes_max = 0;
  bool too_large = false;
  int addresses_allowed = 0, addresses_forbidden = 0; // addresses that libcurl tried
  bool was_sent = false;
  char error[CURL_ERROR_SIZE] = "";
};

std::size_t take_bytes(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& t = *static_cast<transfer*>(to);
  const auto room = t.bytes_max - t.answer.body.size();
  t.too_large = size * count > room;
  t.answer.body.append(bytes, std::min(size * count, room));
  return t.too_large ? CURL_WRITEFUNC_ERROR : size * count;
}

/// The bytes of an address in a sockaddr of its family. libcurl reserves enough space behind the declared
/// sockaddr.
template <class Bytes>
Bytes bytes_at(const curl_sockaddr& of, std::size_t offset) {
  Bytes bytes;
  std::memcpy(bytes.data(), reinterpret_cast<const char*>(&of.addr) + offset, bytes.size());
  return bytes;
}

bool leads_outside(const curl_sockaddr& to) {
  if (to.family == AF_INET && to.addrlen >= sizeof(sockaddr_in))
    return is_public(bytes_at<ipv4_bytes>(to, offsetof(sockaddr_in, sin_addr)));
  if (to.family == AF_INET6 && to.addrlen >= sizeof(sockaddr_in6))
    return is_public(bytes_at<ipv6_bytes>(to, offsetof(sockaddr_in6, sin6_addr)));
  return false;
}

/// libcurl calls this once for each address it will connect to: after DNS resolution, before it sends a byte.
/// A check here cannot be bypassed by DNS rebinding.
curl_socket_t open_if_public(void* of, curlsocktype, curl_sockaddr* to) {
  auto& t = *static_cast<transfer*>(of);
  const bool allowed = leads_outside(*to);
  ++(allowed ? t.addresses_allowed : t.addresses_forbidden);
  return allowed ? ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol) : CURL_SOCKET_BAD;
}

/// libcurl calls this before each sending, its own repetitions included; the second one is refused.
int send_once(void* of, char*, char*, int, int) {
  return std::exchange(static_cast<transfer*>(of)->was_sent, true) ? CURL_PREREQFUNC_ABORT
                                                                   : CURL_PREREQFUNC_OK;
}

std::string header_field(CURL* curl, const char* name) {
  curl_header* found = nullptr;
  return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value : "";
}

http_error kind_of(const transfer& t, CURLcode code) {
  if (t.too_large) return http_error::too_large;
  if (t.addresses_forbidden > 0 && t.addresses_allowed == 0) return http_error::forbidden;
  long sent = 0; // a non-HTTP answer is an "unsupported protocol" too
  curl_easy_getinfo(t.curl.get(), CURLINFO_REQUEST_SIZE, &sent);
  switch (code) {
    case CURLE_FILESIZE_EXCEEDED: return http_error::too_large;
    case CURLE_OPERATION_TIMEDOUT: return http_error::timeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return sent == 0 ? http_error::malformed : http_error::network;
    default: return http_error::network;
  }
}

std::string_view step_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return "unknown_host";
    case CURLE_COULDNT_CONNECT: return "unreachable";
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: return "tls";
    default: return {};
  }
}

http_result result_of(transfer& t, CURLcode code, const http_client::settings& settings) {
  const bool is_cut = t.too_large && settings.cuts_long_answers;
  if ((code != CURLE_OK || t.too_large) && !is_cut)
    return http_failure{kind_of(t, code), t.error[0] != '\0' ? t.error : curl_easy_strerror(code),
                        step_of(code)};
  long status = 0, version = 0;
  curl_easy_getinfo(t.curl.get(), CURLINFO_HTTP_VERSION, &version);
  if (settings.http2_only && version != CURL_HTTP_VERSION_2_0)
    return http_failure{http_error::network, "the server does not speak HTTP/2"};
  curl_easy_getinfo(t.curl.get(), CURLINFO_RESPONSE_CODE, &status);
  t.answer.status = static_cast<int>(status);
  t.answer.content_type = header_field(t.curl.get(), "Content-Type");
  t.answer.retry_after = header_field(t.curl.get(), "Retry-After");
  return std::move(t.answer);
}

} // namespace

class http_client::engine {
public:
  engine(settings options, environment& env, int niceness) :
      settings_{std::move(options)}, env_{env}, niceness_{niceness} {
    static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    for (const auto& name : settings_.resolve) append(resolve_, name);
    multi_ = ready ? curl_multi_init() : nullptr;
    if (multi_ == nullptr) throw std::runtime_error{"libcurl cannot be initialised"};
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(settings_.in_flight_max));
    if (settings_.multiplexed)
      curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, connections_per_host_max);
    for (const auto& way : settings_.connect_to) append(connect_to_, way);
    thread_ = std::thread{[this] { run(); }};
  }
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  ~engine() {
    end();
    idle_.clear();
    curl_multi_cleanup(multi_);
  }

  /// Answers all requests and ends the thread. Later submits are cancelled.
  void end() {
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(stopping_, true)) return;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
  }

  /// An engine must not end between enter() and leave(), with requests outstanding, or in a callback.
  void enter() { ++in_use_; }
  void leave() { --in_use_; }
  [[nodiscard]] bool is_idle() const { return in_use_ == 0; }

  void submit(http_request request, http_callback done) {
    if (!can_be_sent(request))
      return done(http_failure{http_error::malformed, "a control character in the url or a header"});
    const auto timeout = request.timeout.count() > 0 ? request.timeout : settings_.timeout;
    order o{std::move(request), std::move(done), env_.steady_now() + timeout};
    if (const auto refused = enqueue(o)) return o.done(*refused);
    curl_multi_wakeup(multi_);
  }

private:
  /// Queues the order, or returns the reason for a refusal.
  std::optional<http_failure> enqueue(order& o) {
    const std::lock_guard lock{mutex_};
    if (stopping_) return http_failure{http_error::cancelled, "the client ends"};
    if (outstanding_ >= settings_.in_flight_max + settings_.waiting_max)
      return http_failure{http_error::overloaded, "too many requests outstanding"};
    ++outstanding_;
    ++in_use_;
    waiting_.push_back(std::move(o));
    return std::nullopt;
  }

  void run() {
    // CURLOPT_NOSIGNAL does not block SIGPIPE, and OpenSSL may write to closed sockets.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    // Set the absolute value: an engine created by a callback's submit starts with the nice value of that
    // engine's thread.
    if (settings_.is_background) be_nice(niceness_ + background_niceness);
    do {
      int count = 0;
      curl_multi_perform(multi_, &count);
      finish_ended();
      curl_multi_poll(multi_, nullptr, 0, static_cast<int>(start_waiting()), nullptr);
    } while (!is_stopping());
    cancel_all();
  }

  bool is_stopping() {
    const std::lock_guard lock{mutex_};
    return stopping_;
  }

  /// Starts queued requests up to in_flight_max and ends overdue ones. Returns the poll timeout in ms; a
  /// started transfer has a libcurl timer that is due at once.
  std::int64_t start_waiting() {
    const auto now = env_.steady_now();
    if (settings_.multiplexed) end_overdue(now);
    std::vector<order> expired;
    auto nearest = now + milliseconds{poll_ms_max};
    for (auto& o : take_startable(now, expired, nearest)) start(std::move(o), now);
    for (auto& o : expired) finish(o, http_failure{http_error::timeout, "no turn in time"});
    return (nearest - now).count();
  }

  std::vector<order> take_startable(milliseconds now, std::vector<order>& expired, milliseconds& nearest) {
    const std::lock_guard lock{mutex_};
    std::vector<order> startable;
    std::deque<order> kept;
    if (stopping_) return startable;
    for (auto& o : waiting_) {
      if (o.deadline <= now)
        expired.push_back(std::move(o));
      else if (running_.size() + startable.size() < settings_.in_flight_max)
        startable.push_back(std::move(o));
      else {
        nearest = std::min(nearest, o.deadline);
        kept.push_back(std::move(o));
      }
    }
    waiting_.swap(kept);
    return startable;
  }

  void start(order o, milliseconds now) {
    auto t = std::make_unique<transfer>();
    t->what = std::move(o);
    t->bytes_max = settings_.response_bytes_max;
    t->curl = take_handle();
    if (!t->curl || !prepare(*t, t->what.deadline - now)
        || curl_multi_add_handle(multi_, t->curl.get()) != CURLM_OK) {
      curl_multi_wakeup(multi_); // a place is free again for a queued request
      return finish(t->what, http_failure{http_error::network, "libcurl refuses the request"});
    }
    auto* const key = t->curl.get();
    running_.emplace(key, std::move(t));
  }

  /// libcurl does not check a transfer's timeout while it waits for a shared connection.
  void end_overdue(milliseconds now) {
    std::vector<CURL*> overdue;
    for (const auto& [curl, t] : running_)
      if (t->what.deadline + overdue_after <= now) overdue.push_back(curl);
    for (auto* const curl : overdue) {
      const auto node = running_.extract(curl);
      curl_multi_remove_handle(multi_, curl);
      finish(node.mapped()->what, http_failure{http_error::timeout, "no connection in time"});
    }
  }

  easy_handle take_handle() {
    if (idle_.empty()) return easy_handle{curl_easy_init()};
    auto handle = std::move(idle_.back());
    idle_.pop_back();
    return handle;
  }

  bool prepare(transfer& t, milliseconds left) {
    bool ok = true;
    const auto set = [&](CURLoption option, auto value) {
      ok = curl_easy_setopt(t.curl.get(), option, value) == CURLE_OK && ok;
    };
    const auto& request = t.what.request;
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PATH_AS_IS, 1L); // else an id ".." would change the path
    set(CURLOPT_PROTOCOLS_STR, settings_.https_only ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, ""); // ignore the proxy of the environment
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L); // do not wait for a hanging resolver thread
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (resolve_) set(CURLOPT_RESOLVE, resolve_.get());
    if (settings_.public_addresses_only) {
      set(CURLOPT_OPENSOCKETFUNCTION, &open_if_public);
      set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(&t));
    }
    if (!settings_.ca_file.empty()) set(CURLOPT_CAINFO, settings_.ca_file.c_str());
    if (connect_to_) set(CURLOPT_CONNECT_TO, connect_to_.get());
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_PIPEWAIT, settings_.multiplexed ? 1L : 0L);
    if (settings_.multiplexed) {
      set(CURLOPT_PREREQFUNCTION, &send_once);
      set(CURLOPT_PREREQDATA, static_cast<void*>(&t));
    }
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_FRESH_CONNECT, request.fresh_connection ? 1L : 0L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(left.count()));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(left, settings_.connect_timeout).count()));
    set(CURLOPT_USERAGENT, settings_.user_agent.c_str());
    if (!settings_.cuts_long_answers) set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(t.bytes_max));
    set(CURLOPT_WRITEFUNCTION, &take_bytes);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&t));
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(t.error));
    append(t.headers, "Expect:"); // no wait for 100-continue
    for (const auto& [name, value] : request.headers) append(t.headers, name + ": " + value);
    set(CURLOPT_HTTPHEADER, t.headers.get());
    if (request.method == http_request::method_type::post) {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDS, request.body.c_str());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    return ok;
  }

  void finish_ended() {
    int left = 0;
    while (const auto* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto code = message->data.result; // `message` is invalid after the removal
      auto node = running_.extract(message->easy_handle);
      auto& t = *node.mapped();
      curl_multi_remove_handle(multi_, t.curl.get());
      auto result = result_of(t, code, settings_);
      curl_easy_reset(t.curl.get()); // it holds pointers into the transfer
      idle_.push_back(std::move(t.curl));
      finish(t.what, std::move(result));
    }
  }

  void finish(order& o, http_result result) {
    {
      const std::lock_guard lock{mutex_};
      --outstanding_;
    }
    o.done(std::move(result));
    --in_use_;
  }

  void cancel_all() {
    const http_failure cancelled{http_error::cancelled, "the client ends"};
    auto running = std::move(running_);
    for (auto& [curl, t] : running) {
      curl_multi_remove_handle(multi_, curl);
      finish(t->what, cancelled);
    }
    std::deque<order> waiting;
    {
      const std::lock_guard lock{mutex_};
      waiting.swap(waiting_);
    }
    for (auto& o : waiting) finish(o, cancelled);
  }

  const settings settings_;
  environment& env_;
  const int niceness_; // of the thread that created the client
  curl_list resolve_; // every transfer points to it
  CURLM* multi_ = nullptr;
  curl_list connect_to_;

  std::mutex mutex_; // guards the members below, up to waiting_
  bool stopping_ = false;
  std::size_t outstanding_ = 0; // queued, running, or between both
  std::deque<order> waiting_;

  // Used by the thread only.
  std::unordered_map<CURL*, std::unique_ptr<transfer>> running_;
  std::vector<easy_handle> idle_;
  std::atomic<std::size_t> in_use_{0};
  std::thread thread_;
};

http_client::http_client(settings options, environment& env) :
    settings_{std::move(options)}, env_{env}, niceness_{niceness_here()} {
  engines_.push_back(std::make_unique<engine>(settings_, env_, niceness_));
}
http_client::~http_client() {
  std::vector<std::unique_ptr<engine>> all; // destroyed without the lock: callbacks may submit
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
    all.swap(engines_);
  }
  for (auto& e : all) e->end(); // end all before destroying any: a callback may submit to another engine
}

void http_client::submit(http_request request, http_callback done) {
  std::vector<std::unique_ptr<engine>> idle; // destroyed without the lock
  auto* taker = take_engine(idle);
  if (taker == nullptr) return done(http_failure{http_error::cancelled, "the client ends"});
  taker->submit(std::move(request), std::move(done));
  taker->leave();
}

/// Returns an engine after enter(), or null if the client is ending.
http_client::engine* http_client::take_engine(std::vector<std::unique_ptr<engine>>& idle) {
  const std::lock_guard lock{mutex_};
  if (is_ending_) return nullptr;
  if (settings_.requests_per_connections > 0 && taken_ == settings_.requests_per_connections) {
    engines_.push_back(std::make_unique<engine>(settings_, env_, niceness_));
    taken_ = 0;
  }
  ++taken_;
  leave_idle(idle);
  engines_.back()->enter();
  return engines_.back().get();
}

/// Moves retired engines without open requests to `idle`. An engine in a callback stays.
void http_client::leave_idle(std::vector<std::unique_ptr<engine>>& idle) {
  const auto last = engines_.end() - 1;
  const auto rest =
    std::stable_partition(engines_.begin(), last, [](const auto& e) { return !e->is_idle(); });
  std::move(rest, last, std::back_inserter(idle));
  engines_.erase(rest, last);
}

} // namespace fq
