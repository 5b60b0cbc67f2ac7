// SPDX-License-Identifier: Apache-2.0
// libnats, and the envelope.
#include "outbound/nats_mailer.hpp"

#include "outbound/time_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <nats/nats.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::int64_t nanoseconds_per_hour = 3'600'000'000'000;
constexpr std::string_view html_suffix = "_html";

template <class T, void (*Free)(T*)>
struct freed {
  void operator()(T* x) const noexcept { Free(x); }
};
template <class T, void (*Free)(T*)>
using owned = std::unique_ptr<T, freed<T, Free>>;

void need(natsStatus status, const char* what) {
  if (status != NATS_OK) throw std::runtime_error{std::string{"NATS: "}.append(what).append(": ").append(natsStatus_GetText(status))};
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// Servers, and the login that is the same for all. libnats would take the login in a url as it is written, with its %40 and %3A.
struct servers {
  std::vector<std::string> urls; ///< without it
  std::string user, password, token;

  explicit servers(const std::string& list) {
    for (const auto& text : split(list)) {
      const auto parsed = boost::urls::parse_uri(text);
      if (!parsed) throw std::runtime_error{"NATS: an address is no url"};
      boost::urls::url u{*parsed};
      if (u.has_userinfo()) take_login(u);
      u.remove_userinfo();
      urls.emplace_back(u.buffer());
    }
  }

private:
  void take_login(const boost::urls::url& u) {
    const std::string name = u.has_password() ? u.user() : "", secret = u.has_password() ? u.password() : "", word = u.has_password() ? "" : u.user();
    const bool first = user.empty() && token.empty();
    if (!first && (user != name || password != secret || token != word)) throw std::runtime_error{"NATS: all servers must have the same login"};
    user = name;
    password = secret;
    token = word;
  }
};

/// What a recipient adds to an envelope, about.
std::size_t weight_of(const mail_recipient& recipient) {
  std::size_t bytes = 2 * recipient.address.size() + 16;
  for (const auto& [name, value] : recipient.variables) bytes += 2 * (name.size() + 8 + value.size());
  return bytes;
}

/// The mailer service puts variables into the html as they are: there, each stands under a name of its own, escaped.
std::string with_html_names(std::string html, const mail_message& message, const std::vector<std::size_t>& wanted) {
  std::map<std::string, std::string> other_names;
  for (const auto i : wanted)
    for (const auto& [name, value] : message.to[i].variables)
      other_names.emplace(name, std::string{"%recipient."}.append(name).append(html_suffix).append("%"));
  return with_variables(html, other_names);
}

json::object variables_of(const mail_recipient& recipient, bool with_html) {
  json::object out;
  for (const auto& [name, value] : recipient.variables) {
    out[name] = value;
    if (with_html) out[std::string{name}.append(html_suffix)] = escaped_for_html(value);
  }
  return out;
}

} // namespace

std::vector<mail_chunk> chunks_of(const mail_message& message) {
  std::vector<mail_chunk> chunks;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < message.to.size(); ++i) {
    const auto weight = weight_of(message.to[i]);
    const bool full = chunks.empty() || i - chunks.back().begin == mail_chunk_recipients_max || bytes + weight > mail_chunk_bytes_max;
    if (full) {
      chunks.push_back({message.id + "#" + std::to_string(chunks.size() + 1), i, i});
      bytes = 0;
    }
    chunks.back().end = i + 1;
    bytes += weight;
  }
  if (chunks.size() == 1) chunks.front().id = message.id;
  return chunks;
}

std::string envelope_of(const mail_message& message, const std::string& id, const std::vector<std::size_t>& wanted,
                        const mail_sender& sender, timestamp now) {
  json::array to;
  json::object variables;
  for (const auto i : wanted) {
    to.emplace_back(message.to[i].address);
    variables[message.to[i].address] = variables_of(message.to[i], !message.html.empty());
  }
  const json::object data{{"to", std::move(to)},
                          {"subject", message.subject},
                          {"html", with_html_names(message.html, message, wanted)},
                          {"text", message.text},
                          {"from_email", sender.address},
                          {"from_name", sender.name},
                          {"attachments", nullptr},
                          {"recipient_variables", std::move(variables)},
                          {"metadata", json::object{{"source", "fairqueue"}, {"template_key", message.template_key}, {"correlation_id", id}}}};
  return json::serialize(json::object{{"event", "mail.send"}, {"version", 1}, {"occurred_at", time_for_machines(now)}, {"data", data}});
}

/// Options, and a connection made of them. libnats loses one for good only when it is closed, for which a server may have reasons of its
/// own (a login that was refused twice): then there is a new one.
class nats_mailer::connection {
public:
  explicit connection(const nats_settings& s) {
    natsOptions* made = nullptr;
    need(natsOptions_Create(&made), "options");
    options_.reset(made);
    set_servers(s);
    // Never give up, and never take a message in the meantime: what is not acknowledged is ours to repeat. (0 would mean 8 MiB.)
    need(natsOptions_SetMaxReconnect(made, -1), "reconnecting");
    need(natsOptions_SetReconnectWait(made, 500), "reconnecting");
    need(natsOptions_SetReconnectJitter(made, 500, 1000), "reconnecting");
    need(natsOptions_SetReconnectBufSize(made, 1), "reconnecting");
    need(natsOptions_SetFailRequestsOnDisconnect(made, true), "requests");
    need(natsOptions_SetErrorHandler(made, &ignore_error, nullptr), "errors"); // else they go to standard error
    need(natsOptions_SetTimeout(made, s.timeout.count()), "timeout");
    need(natsOptions_SetPingInterval(made, 10'000), "pings"); // a peer that has vanished is noticed in 30 s
    need(natsOptions_SetMaxPingsOut(made, 2), "pings");
    need(natsOptions_SetName(made, "fairqueue"), "name");
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { close(); }

  /// Null: there is none now.
  jsCtx* stream_context(milliseconds timeout) {
    if (connection_ && natsConnection_IsClosed(connection_.get())) close();
    if (!connection_ && !connect(timeout)) return nullptr;
    return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED ? context_.get() : nullptr;
  }

  /// Why there is none, as far as libnats says.
  [[nodiscard]] std::string trouble() const {
    const char* text = connection_ ? nullptr : refusal_.c_str();
    if (connection_) natsConnection_GetLastError(connection_.get(), &text);
    return std::string{"NATS: not connected"}.append(text == nullptr || *text == '\0' ? "" : ": ").append(text == nullptr ? "" : text);
  }

  bool stream_is_known = false;

private:
  void set_servers(const nats_settings& s) {
    const servers all{s.url};
    std::vector<const char*> texts;
    bool tls = !s.ca_file.empty();
    for (const auto& url : all.urls) {
      texts.push_back(url.c_str());
      tls = tls || url.starts_with("tls://");
    }
    auto* o = options_.get();
    need(natsOptions_SetServers(o, texts.data(), static_cast<int>(texts.size())), "url");
    if (!all.user.empty()) need(natsOptions_SetUserInfo(o, all.user.c_str(), all.password.c_str()), "login");
    if (!all.token.empty()) need(natsOptions_SetToken(o, all.token.c_str()), "login");
    if (tls) need(natsOptions_SetSecure(o, true), "TLS");
    if (!s.ca_file.empty()) need(natsOptions_LoadCATrustedCertificates(o, s.ca_file.c_str()), "CA file");
    if (!s.credentials_file.empty()) need(natsOptions_SetUserCredentialsFromFiles(o, s.credentials_file.c_str(), nullptr), "credentials");
  }

  bool connect(milliseconds timeout) {
    natsConnection* made = nullptr;
    const auto status = natsConnection_Connect(&made, options_.get());
    connection_.reset(made);
    if (status != NATS_OK) {
      const char* why = nats_GetLastError(nullptr); // this thread's: what the server said
      refusal_ = why == nullptr || *why == '\0' ? natsStatus_GetText(status) : why;
      return close();
    }
    jsOptions defaults;
    jsOptions_Init(&defaults);
    defaults.Wait = timeout.count();
    jsCtx* context = nullptr;
    if (natsConnection_JetStream(&context, made, &defaults) != NATS_OK) return close();
    context_.reset(context);
    return true;
  }

  bool close() {
    context_.reset();
    connection_.reset();
    stream_is_known = false;
    return false;
  }

  static void ignore_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

  std::string refusal_; ///< why the last attempt to connect came to nothing
  owned<natsOptions, natsOptions_Destroy> options_;
  owned<natsConnection, natsConnection_Destroy> connection_;
  owned<jsCtx, jsCtx_Destroy> context_;
};

namespace {

bool is_connection_trouble(natsStatus s) {
  return s == NATS_TIMEOUT || s == NATS_CONNECTION_CLOSED || s == NATS_CONNECTION_DISCONNECTED || s == NATS_IO_ERROR
         || s == NATS_NOT_YET_CONNECTED || s == NATS_INSUFFICIENT_BUFFER || s == NATS_STALE_CONNECTION;
}

/// No such stream: make it. True: there is one now, or nobody lets us know, and publishing will tell.
bool has_stream(jsCtx* context, const nats_settings& s) {
  jsStreamInfo* info = nullptr;
  jsErrCode error{};
  auto status = js_GetStreamInfo(&info, context, s.stream.c_str(), nullptr, &error);
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK) return true;
  if (status != NATS_NOT_FOUND && error != JSStreamNotFoundErr) return !is_connection_trouble(status);
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  const char* subjects[] = {s.subjects.c_str()};
  config.Name = s.stream.c_str();
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.MaxAge = 72 * nanoseconds_per_hour;
  config.Duplicates = nanoseconds_per_hour;
  config.Storage = js_FileStorage;
  status = js_AddStream(nullptr, context, &config, nullptr, &error);
  return !is_connection_trouble(status);
}

bool is_too_large(natsStatus status, jsErrCode error) {
  return status == NATS_MAX_PAYLOAD || error == JSStreamMessageExceedsMaximumErr;
}

std::string reason(natsStatus status, jsErrCode error) {
  return std::string{"NATS: "}.append(natsStatus_GetText(status)).append(error == 0 ? "" : ", JetStream error " + std::to_string(error));
}

} // namespace

nats_mailer::nats_mailer(nats_settings settings, mail_sender sender, environment& env)
    : settings_{std::move(settings)}, sender_{std::move(sender)}, env_{env}, connection_{std::make_unique<connection>(settings_)} {}
nats_mailer::~nats_mailer() = default;

mail_answer nats_mailer::publish(const std::string& id, const std::string& envelope) {
  const auto unavailable = [](std::string why) {
    return mail_answer{.result = mail_result::unavailable, .service_down = true, .why = std::move(why)};
  };
  auto* context = connection_->stream_context(settings_.timeout);
  if (context == nullptr) return unavailable(connection_->trouble());
  if (!connection_->stream_is_known) connection_->stream_is_known = has_stream(context, settings_);
  if (!connection_->stream_is_known) return unavailable("NATS: nobody answers about the stream");

  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MsgId = id.c_str();
  options.MaxWait = settings_.timeout.count();
  jsPubAck* ack = nullptr;
  jsErrCode error{};
  const auto status = js_Publish(&ack, context, settings_.subject.c_str(), envelope.data(), static_cast<int>(envelope.size()), &options, &error);
  const bool acknowledged = status == NATS_OK && ack != nullptr; // also when it is a duplicate: the stream has the first
  jsPubAck_Destroy(ack);
  if (acknowledged) return {.result = mail_result::accepted};
  if (is_too_large(status, error)) return {.result = mail_result::rejected, .why = reason(status, error)};
  connection_->stream_is_known = false; // it may have gone: no responders, JetStream error 10076
  return unavailable(reason(status, error));
}

mail_answer nats_mailer::send(const mail_message& message) {
  if (auto unfit = wrong_with(message); !unfit.empty()) return all_of(message, mail_result::rejected, std::move(unfit));
  const auto wrong = wrong_with_each(message);
  auto answer = open_answer(message);
  for (const auto& chunk : chunks_of(message)) {
    std::vector<std::size_t> wanted;
    for (auto i = chunk.begin; i < chunk.end; ++i) {
      if (message.to[i].answered) continue;
      if (wrong[i].empty())
        wanted.push_back(i);
      else
        note(answer, i, mail_result::rejected, wrong[i]);
    }
    if (wanted.empty() || answer.service_down) continue;
    const auto one = publish(chunk.id, envelope_of(message, chunk.id, wanted, sender_, env_.wall_now()));
    for (const auto i : wanted) note(answer, i, one.result, one.why);
    answer.service_down = one.service_down;
  }
  return closed(std::move(answer));
}

} // namespace fq
