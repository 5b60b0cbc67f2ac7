// SPDX-License-Identifier: Apache-2.0
#include "outbound/nats_connection.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace fq {
namespace {

constexpr std::int64_t nanoseconds_per_hour = 3'600'000'000'000;

void require_ok(natsStatus status, const char* what) {
  if (status != NATS_OK)
    throw std::runtime_error{
      std::string{"NATS: "}.append(what).append(": ").append(natsStatus_GetText(status))};
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

/// Server URLs and their common login. libnats does not percent-decode a login in a URL (%40, %3A), so it is
/// decoded here.
struct servers {
  std::vector<std::string> urls; ///< without the login
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
    const std::string name = u.has_password() ? u.user() : "", secret = u.has_password() ? u.password() : "",
                      word = u.has_password() ? "" : u.user();
    const bool first = user.empty() && token.empty();
    if (!first && (user != name || password != secret || token != word))
      throw std::runtime_error{"NATS: all servers must have the same login"};
    user = name;
    password = secret;
    token = word;
  }
};

void ignore_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

} // namespace

nats_connection::nats_connection(const nats_settings& s) : timeout_{s.timeout} {
  natsOptions* made = nullptr;
  require_ok(natsOptions_Create(&made), "options");
  options_.reset(made);
  set_servers(s);
  // Reconnect forever, and do not buffer messages meanwhile: the caller repeats unacknowledged messages. (A
  // buffer size of 0 would mean 8 MiB.)
  require_ok(natsOptions_SetMaxReconnect(made, -1), "reconnecting");
  require_ok(natsOptions_SetReconnectWait(made, 500), "reconnecting");
  require_ok(natsOptions_SetReconnectJitter(made, 500, 1000), "reconnecting");
  require_ok(natsOptions_SetReconnectBufSize(made, 1), "reconnecting");
  require_ok(natsOptions_SetFailRequestsOnDisconnect(made, true), "requests");
  require_ok(natsOptions_SetErrorHandler(made, &ignore_error, nullptr),
             "errors"); // else libnats writes them to stderr
  require_ok(natsOptions_SetTimeout(made, s.timeout.count()), "timeout");
  require_ok(natsOptions_SetPingInterval(made, 10'000), "pings"); // detects a dead peer within 30 s
  require_ok(natsOptions_SetMaxPingsOut(made, 2), "pings");
  require_ok(natsOptions_SetName(made, "fairqueue"), "name");
}

nats_connection::~nats_connection() { close(); }

jsCtx* nats_connection::stream_context() {
  if (connection_ && natsConnection_IsClosed(connection_.get())) close();
  if (!connection_ && !connect()) return nullptr;
  return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED ? context_.get() : nullptr;
}

std::string nats_connection::trouble() const {
  const char* text = connection_ ? nullptr : refusal_.c_str();
  if (connection_) natsConnection_GetLastError(connection_.get(), &text);
  return std::string{"NATS: not connected"}
    .append(text == nullptr || *text == '\0' ? "" : ": ")
    .append(text == nullptr ? "" : text);
}

void nats_connection::set_servers(const nats_settings& s) {
  const servers all{s.url};
  std::vector<const char*> texts;
  bool tls = !s.ca_file.empty();
  for (const auto& url : all.urls) {
    texts.push_back(url.c_str());
    tls = tls || url.starts_with("tls://");
  }
  auto* o = options_.get();
  require_ok(natsOptions_SetServers(o, texts.data(), static_cast<int>(texts.size())), "url");
  if (!all.user.empty())
    require_ok(natsOptions_SetUserInfo(o, all.user.c_str(), all.password.c_str()), "login");
  if (!all.token.empty()) require_ok(natsOptions_SetToken(o, all.token.c_str()), "login");
  if (tls) require_ok(natsOptions_SetSecure(o, true), "TLS");
  if (!s.ca_file.empty()) require_ok(natsOptions_LoadCATrustedCertificates(o, s.ca_file.c_str()), "CA file");
  if (!s.credentials_file.empty())
    require_ok(natsOptions_SetUserCredentialsFromFiles(o, s.credentials_file.c_str(), nullptr),
               "credentials");
}

bool nats_connection::connect() {
  natsConnection* made = nullptr;
  const auto status = natsConnection_Connect(&made, options_.get());
  connection_.reset(made);
  if (status != NATS_OK) {
    const char* why = nats_GetLastError(nullptr); // of this thread: the server's message
    refusal_ = why == nullptr || *why == '\0' ? natsStatus_GetText(status) : why;
    return close();
  }
  jsOptions defaults;
  jsOptions_Init(&defaults);
  defaults.Wait = timeout_.count();
  jsCtx* context = nullptr;
  if (natsConnection_JetStream(&context, made, &defaults) != NATS_OK) return close();
  context_.reset(context);
  ++generation_;
  return true;
}

bool nats_connection::close() {
  context_.reset();
  connection_.reset();
  return false;
}

bool is_connection_trouble(natsStatus s) {
  return s == NATS_TIMEOUT || s == NATS_CONNECTION_CLOSED || s == NATS_CONNECTION_DISCONNECTED
         || s == NATS_IO_ERROR || s == NATS_NOT_YET_CONNECTED || s == NATS_INSUFFICIENT_BUFFER
         || s == NATS_STALE_CONNECTION;
}

std::string nats_reason(natsStatus status, jsErrCode error) {
  return std::string{"NATS: "}
    .append(natsStatus_GetText(status))
    .append(error == 0 ? "" : ", JetStream error " + std::to_string(error));
}

bool has_stream(jsCtx* context, const std::string& stream, const std::string& subjects) {
  jsStreamInfo* info = nullptr;
  jsErrCode error{};
  auto status = js_GetStreamInfo(&info, context, stream.c_str(), nullptr, &error);
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK) return true;
  if (status != NATS_NOT_FOUND && error != JSStreamNotFoundErr) return !is_connection_trouble(status);
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  const char* all_subjects[] = {subjects.c_str()};
  config.Name = stream.c_str();
  config.Subjects = all_subjects;
  config.SubjectsLen = 1;
  config.MaxAge = 72 * nanoseconds_per_hour;
  config.Duplicates = nanoseconds_per_hour;
  config.Storage = js_FileStorage;
  status = js_AddStream(nullptr, context, &config, nullptr, &error);
  return !is_connection_trouble(status);
}

} // namespace fq
