// SPDX-License-Identifier: Apache-2.0
// libcurl's multi interface and the thread that drives it. Submitting threads touch only what mutex_ guards;
// everything of libcurl belongs to the thread, but for curl_multi_wakeup, which may be called from anywhere.
#include "outbound/http_client.hpp"

#include "domain/base/address_guard.hpp"
#include "outbound/curl_list.hpp"

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

// A poll ends at a wakeup or at libcurl's own timers; this is only how long an unforeseen miss could last.
constexpr std::int64_t poll_ms_max = 1'000;
// libcurl's own clock comes first where it looks at it.
constexpr milliseconds overdue_after{1'000};
// When one connection does not take all streams, or has to be left.
constexpr long connections_per_host_max = 8;
/// By which a thread in the background is nicer than whoever made the client, as nice(1) counts.
constexpr int background_niceness = 10;
constexpr int niceness_max = 19;

// On Linux both speak of this thread alone.
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

/// A request with its way back.
struct order {
  http_request request;
  http_callback done;
  milliseconds deadline{0}; // of the environment's steady clock
};

/// An order on its way; libcurl holds pointers into it.
struct transfer {
  order what;
  easy_handle curl;
  curl_list headers;
  http_response answer;
  std::size_t bytes_max = 0;
  bool too_large = false;
  int addresses_allowed = 0, addresses_forbidden = 0; // of those it came to connect to
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

/// The bytes of an address in a sockaddr of its family: libcurl keeps room for any behind the one that it
/// declares.
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

/// libcurl asks for a socket once for each address it is about to connect to: after the name was resolved and
/// before a byte is sent. The only place where a name cannot be one thing when it is looked at and another
/// when it is used.
curl_socket_t open_if_public(void* of, curlsocktype, curl_sockaddr* to) {
  auto& t = *static_cast<transfer*>(of);
  const bool allowed = leads_outside(*to);
  ++(allowed ? t.addresses_allowed : t.addresses_forbidden);
  return allowed ? ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol) : CURL_SOCKET_BAD;
}

/// libcurl calls this before each sending, its own repetitions included.
int send_once(void* of, char*, char*, int, int) {
  return std::exchange(static_cast<transfer*>(of)->was_sent, true) ? CURL_PREREQFUNC_ABORT
                                                                   : CURL_PREREQFUNC_OK;
}

std::string field(CURL* curl, const char* name) {
  curl_header* found = nullptr;
  return curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value : "";
}

http_error kind_of(const transfer& t, CURLcode code) {
  if (t.too_large) return http_error::too_large;
  if (t.addresses_forbidden > 0 && t.addresses_allowed == 0) return http_error::forbidden;
  long sent = 0; // an answer that is no HTTP is an "unsupported protocol" too
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
  t.answer.content_type = field(t.curl.get(), "Content-Type");
  t.answer.retry_after = field(t.curl.get(), "Retry-After");
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

  /// Answers everything and ends the thread; what is submitted from now on is cancelled.
  void end() {
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(stopping_, true)) return;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
  }

  /// From enter() to leave(), and while it has requests or is in a callback, it must not end.
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
  /// Takes the order, or says why not.
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
    // CURLOPT_NOSIGNAL leaves SIGPIPE alone, and OpenSSL writes to sockets that may be closed.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    // Not so much more than it has: a submit from a callback makes an engine, and its thread begins as nice
    // as the one that it comes from.
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

  /// Fills the free places from the queue and ends what waited too long. How long to sleep if nothing
  /// happens: a started transfer has a timer of libcurl's that is due at once.
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
      curl_multi_wakeup(multi_); // its place is free again, and somebody may wait for one
      return finish(t->what, http_failure{http_error::network, "libcurl refuses the request"});
    }
    auto* const key = t->curl.get();
    running_.emplace(key, std::move(t));
  }

  /// While a transfer waits for a connection that others use or make, libcurl does not look at its time.
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
    set(CURLOPT_PATH_AS_IS, 1L); // else a part ".." that is an id would name another path
    set(CURLOPT_PROTOCOLS_STR, settings_.https_only ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, ""); // not the environment's either
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L); // a name that nobody resolves must not keep the thread
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
    append(t.headers, "Expect:"); // no pause for 100-continue
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
      const auto code = message->data.result; // `message` does not survive the removal
      auto node = running_.extract(message->easy_handle);
      auto& t = *node.mapped();
      curl_multi_remove_handle(multi_, t.curl.get());
      auto result = result_of(t, code, settings_);
      curl_easy_reset(t.curl.get()); // it points into the transfer
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
  const int niceness_; // of whoever made the client
  curl_list resolve_; // every transfer points to it
  CURLM* multi_ = nullptr;
  curl_list connect_to_;

  std::mutex mutex_; // guards these three
  bool stopping_ = false;
  std::size_t outstanding_ = 0; // waiting, running, and between the two
  std::deque<order> waiting_;

  // The thread's own.
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
  std::vector<std::unique_ptr<engine>> all; // ends without the lock: callbacks may submit
  {
    const std::lock_guard lock{mutex_};
    is_ending_ = true;
    all.swap(engines_);
  }
  for (auto& e : all) e->end(); // before any of them goes: the callback of one may submit to another
}

void http_client::submit(http_request request, http_callback done) {
  std::vector<std::unique_ptr<engine>> idle; // ends without the lock
  auto* taker = take_engine(idle);
  if (taker == nullptr) return done(http_failure{http_error::cancelled, "the client ends"});
  taker->submit(std::move(request), std::move(done));
  taker->leave();
}

/// Entered; null: the client ends.
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

/// Of those that take nothing more. Whoever is in a callback of one keeps it.
void http_client::leave_idle(std::vector<std::unique_ptr<engine>>& idle) {
  const auto last = engines_.end() - 1;
  const auto rest =
    std::stable_partition(engines_.begin(), last, [](const auto& e) { return !e->is_idle(); });
  std::move(rest, last, std::back_inserter(idle));
  engines_.erase(rest, last);
}

} // namespace fq
