// SPDX-License-Identifier: Apache-2.0
// Sends mail with libcurl and interprets the SMTP replies.
#include "outbound/smtp_mailer.hpp"

#include "outbound/curl_list.hpp"
#include "outbound/limits.hpp"
#include "outbound/mime.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace fq {
namespace {

/// The last command that was sent. libcurl has one error code for most refusals, and the meaning of a refusal
/// depends on the refused command.
enum class stage { connecting, sender, recipient, content };

std::string in_brackets(const std::string& address) { return "<" + address + ">"; }

/// A server's reply for the log: printable, short, without the recipient's address.
std::string fit_for_log(std::string reply, const std::string& address) {
  std::erase_if(reply, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  for (auto at = reply.find(address); at != std::string::npos; at = reply.find(address))
    reply.replace(at, address.size(), "...");
  return reply.substr(0, smtp_reply_bytes_max);
}

const char* name_of(stage s) {
  switch (s) {
    case stage::connecting: return "connecting";
    case stage::sender: return "MAIL FROM";
    case stage::recipient: return "RCPT TO";
    case stage::content: return "DATA";
  }
  return "";
}

} // namespace

/// The data of one transaction that libcurl's callbacks use.
struct smtp_mailer::transaction {
  std::string content;
  std::size_t sent = 0;
  stage at = stage::connecting;
  bool over = false; ///< the transaction has ended; later replies belong to QUIT
  std::string reply; ///< last reply line before `over`

  static std::size_t read(char* out, std::size_t size, std::size_t count, void* self) {
    auto& t = *static_cast<transaction*>(self);
    const auto n = std::min(size * count, t.content.size() - t.sent);
    std::memcpy(out, t.content.data() + t.sent, n);
    t.sent += n;
    return n;
  }

  /// Sees sent commands and received replies. AUTH passes here too, so only a command's name is read.
  static int watch(CURL*, curl_infotype kind, char* data, std::size_t size, void* self) {
    auto& t = *static_cast<transaction*>(self);
    const std::string_view text{data, size};
    if (kind == CURLINFO_HEADER_IN && !t.over) t.reply = text.substr(0, smtp_reply_bytes_max);
    if (kind != CURLINFO_HEADER_OUT) return 0;
    if (text.starts_with("MAIL FROM:")) t.enter(stage::sender);
    if (text.starts_with("RCPT TO:")) t.enter(stage::recipient);
    if (text.starts_with("DATA")) t.enter(stage::content);
    t.over = t.over || text.starts_with("QUIT");
    return 0;
  }

  void enter(stage next) {
    at = next;
    reply.clear();
  }

  /// The code of the reply to the last command; 0: no reply.
  [[nodiscard]] int code() const {
    const auto digit = [this](std::size_t i) {
      return reply.size() > 2 && reply[i] >= '0' && reply[i] <= '9' ? reply[i] - '0' : -1;
    };
    const int a = digit(0), b = digit(1), c = digit(2);
    return a < 0 || b < 0 || c < 0 ? 0 : a * 100 + b * 10 + c;
  }
};

namespace {

bool is_about_us(int code) {
  return code == 530 || code == 535 || code == 534 || code == 538;
} // RFC 4954: authentication required or failed

/// A 5xx is permanent only if it concerns this message. Errors about our login, sender address or host need
/// an operator, and the mail must be kept until then.
bool is_final(stage at, int code) {
  if (code < 500 || code > 599 || is_about_us(code)) return false;
  switch (at) {
    case stage::connecting: return false;
    case stage::sender: return code == 552; // the announced size is too large
    case stage::recipient:
    case stage::content: return true;
  }
  return false;
}

/// True if all other mail would fail too: no login, refused sender, or a server shutdown (421).
bool is_about_all_mail(stage at, int code) {
  return at == stage::connecting || at == stage::sender || code == 421 || is_about_us(code);
}

} // namespace

/// One libcurl handle, so that its connection is kept. It is replaced after every failure. After an aborted
/// transaction, replies can no longer be assigned to commands. libcurl would reuse such a connection after a
/// timeout, and would wait up to two minutes for QUIT.
class smtp_mailer::connection {
public:
  connection() {
    static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!ready) throw std::runtime_error{"libcurl cannot be initialised"};
    open();
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  CURLcode run(const smtp_settings& s, const std::string& from, const std::string& to, transaction& t) {
    curl_list recipients;
    append(recipients, in_brackets(to));
    curl_easy_reset(curl_); // keeps the connections
    set(CURLOPT_URL, s.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USE_SSL, static_cast<long>(s.insecure ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!s.ca_file.empty()) set(CURLOPT_CAINFO, s.ca_file.c_str());
    if (!s.user.empty()) {
      set(CURLOPT_USERNAME, s.user.c_str());
      set(CURLOPT_PASSWORD, s.password.c_str());
    }
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(s.connect_timeout.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(s.timeout.count()));
    set(CURLOPT_MAIL_FROM, in_brackets(from).c_str());
    set(CURLOPT_MAIL_RCPT, recipients.get());
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(t.content.size()));
    set(CURLOPT_READFUNCTION, &transaction::read);
    set(CURLOPT_READDATA, static_cast<void*>(&t));
    set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    set(CURLOPT_CLOSESOCKETFUNCTION, &close_socket);
    set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(this));
    set(CURLOPT_VERBOSE, 1L); // only to the callback below
    set(CURLOPT_DEBUGFUNCTION, &transaction::watch);
    set(CURLOPT_DEBUGDATA, static_cast<void*>(&t));
    const auto code = curl_easy_perform(curl_);
    curl_easy_reset(curl_); // removes pointers to `t` and the lists
    if (code != CURLE_OK) {
      close();
      open();
    }
    return code;
  }

private:
  void open() {
    curl_ = curl_easy_init();
    if (curl_ == nullptr) throw std::bad_alloc{};
  }

  void close() {
    // prevents libcurl from waiting for the reply to QUIT
    for (const auto s : sockets_) ::shutdown(s, SHUT_RDWR);
    curl_easy_cleanup(curl_);
    curl_ = nullptr;
  }

  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    const int s = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (s >= 0) static_cast<connection*>(self)->sockets_.push_back(s);
    return s < 0 ? CURL_SOCKET_BAD : s;
  }

  static int close_socket(void* self, curl_socket_t s) {
    std::erase(static_cast<connection*>(self)->sockets_, s);
    return ::close(s);
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_, option, value) != CURLE_OK)
      throw std::runtime_error{"libcurl refuses an option"};
  }

  CURL* curl_ = nullptr;
  std::vector<curl_socket_t> sockets_; ///< open sockets
};

smtp_mailer::smtp_mailer(smtp_settings settings, mail_sender sender, environment& env) :
    settings_{std::move(settings)},
    sender_{std::move(sender)},
    env_{env},
    connection_{std::make_unique<connection>()} {}
smtp_mailer::~smtp_mailer() = default;

mail_answer smtp_mailer::deliver(const mail_letter& letter) {
  transaction t;
  const auto from = sender_of(letter.from, sender_);
  t.content = to_mime(letter, from, env_.wall_now());
  const auto outcome = connection_->run(settings_, from.address, letter.to, t);
  if (outcome == CURLE_OK) return {.result = mail_result::accepted};
  const int code = t.code();
  const bool refused = code >= 400; // else the connection failed or timed out
  auto why = std::string{name_of(t.at)}.append(": ").append(refused ? fit_for_log(t.reply, letter.to)
                                                                    : curl_easy_strerror(outcome));
  if (is_final(t.at, code)) return {.result = mail_result::rejected, .why = std::move(why)};
  return {.result = mail_result::unavailable,
          .service_down = !refused || is_about_all_mail(t.at, code),
          .why = std::move(why)};
}

} // namespace fq
