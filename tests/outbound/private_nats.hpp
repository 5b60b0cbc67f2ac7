// SPDX-License-Identifier: Apache-2.0
// A NATS server of one's own with JetStream, and a test's own eyes on it.
#pragma once
#include "tests/outbound/helpers.hpp"

#include <nats/nats.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

namespace fq::test {

inline void need(natsStatus status, const std::string& what) {
  if (status != NATS_OK) throw std::runtime_error{what + ": " + natsStatus_GetText(status)};
}

/// A server with JetStream by scripts/services, and the test's own eyes on it.
class private_nats {
public:
  private_nats() {
    const auto lines = output_of(FQ_SERVICES " start --nats --parent " + std::to_string(::getpid()));
    folder_ = value(lines, "FAIRQUEUE_SERVICES");
    url_ = value(lines, "FAIRQUEUE_TEST_NATS");
  }
  ~private_nats() {
    try {
      output_of(FQ_SERVICES " stop " + folder_);
    } catch (const std::runtime_error&) {
      // The script has said why; it ends with this process at the latest.
    }
  }
  private_nats(const private_nats&) = delete;
  private_nats& operator=(const private_nats&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  void tell(const std::string& verb) { output_of(FQ_SERVICES " " + verb + " nats " + folder_); }

private:
  static std::string value(const std::string& lines, const std::string& name) {
    const auto key = "export " + name + "=";
    const auto begin = lines.find(key);
    if (begin == std::string::npos) throw std::runtime_error{"scripts/services does not tell " + name};
    return lines.substr(begin + key.size(), lines.find('\n', begin) - begin - key.size());
  }
  std::string folder_, url_;
};

/// The test's own connection.
class observer {
public:
  explicit observer(const std::string& url) {
    natsOptions* options = nullptr;
    need(natsOptions_Create(&options), "options");
    need(natsOptions_SetURL(options, url.c_str()), "url");
    need(natsOptions_SetTimeout(options, 20'000), "timeout");
    const auto status = natsConnection_Connect(&connection_, options);
    natsOptions_Destroy(options);
    need(status, "connect");
    need(natsConnection_JetStream(&context_, connection_, nullptr), "context");
  }
  ~observer() {
    jsCtx_Destroy(context_);
    natsConnection_Destroy(connection_);
  }
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;

  struct stored {
    std::string subject, id, data, content_type{};
  };
  /// All that the stream holds.
  std::vector<stored> messages(const char* stream = "mail") {
    std::vector<stored> out;
    jsStreamInfo* info = nullptr;
    need(js_GetStreamInfo(&info, context_, stream, nullptr, nullptr), "stream info");
    const auto first = info->State.FirstSeq, last = info->State.LastSeq;
    jsStreamInfo_Destroy(info);
    for (auto n = first; n <= last; ++n) {
      natsMsg* m = nullptr;
      need(js_GetMsg(&m, context_, stream, n, nullptr, nullptr), "message");
      const char* id = nullptr;
      natsMsgHeader_Get(m, "Nats-Msg-Id", &id);
      const char* type = nullptr;
      natsMsgHeader_Get(m, "content-type", &type);
      out.push_back({natsMsg_GetSubject(m),
                     id == nullptr ? "" : id,
                     {natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))},
                     type == nullptr ? "" : type});
      natsMsg_Destroy(m);
    }
    return out;
  }
  void with_stream(const char* stream, const std::function<void(const jsStreamInfo&)>& look) {
    jsStreamInfo* info = nullptr;
    need(js_GetStreamInfo(&info, context_, stream, nullptr, nullptr), "stream info");
    look(*info);
    jsStreamInfo_Destroy(info);
  }
  void add_stream(const char* name, const char* subject, std::int32_t message_bytes_max = -1) {
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    config.Name = name;
    config.Subjects = &subject;
    config.SubjectsLen = 1;
    config.MaxMsgSize = message_bytes_max;
    need(js_AddStream(nullptr, context_, &config, nullptr, nullptr), "add stream");
  }
  void publish(const char* subject, const std::string& body,
               const std::map<std::string, std::string>& headers = {}) {
    natsMsg* m = nullptr;
    need(natsMsg_Create(&m, subject, nullptr, body.data(), static_cast<int>(body.size())), "message");
    for (const auto& [name, value] : headers)
      need(natsMsgHeader_Set(m, name.c_str(), value.c_str()), "header");
    const auto status = js_PublishMsg(nullptr, context_, m, nullptr, nullptr);
    natsMsg_Destroy(m);
    need(status, "publish");
  }
  void remove_stream(const char* name) {
    need(js_DeleteStream(context_, name, nullptr, nullptr), "delete stream");
  }

private:
  natsConnection* connection_ = nullptr;
  jsCtx* context_ = nullptr;
};

} // namespace fq::test
