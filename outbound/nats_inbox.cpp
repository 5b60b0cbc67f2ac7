// SPDX-License-Identifier: Apache-2.0
#include "outbound/nats_inbox.hpp"

#include "outbound/nats_connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace fq {
namespace {

constexpr std::int64_t nanoseconds_per_ms = 1'000'000;

using message_ptr = nats_owned<natsMsg, natsMsg_Destroy>;
using subscription_ptr = nats_owned<natsSubscription, natsSubscription_Destroy>;

bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// Ignores case: NATS header names are case-sensitive, but routers copy them from HTTP.
std::string header_of(natsMsg* m, const std::string& name) {
  const char** keys = nullptr;
  int count = 0;
  if (natsMsgHeader_Keys(m, &keys, &count) != NATS_OK) return {};
  std::string found;
  for (int i = 0; i < count; ++i) {
    const char* value = nullptr;
    if (is_same_name(keys[i], name) && natsMsgHeader_Get(m, keys[i], &value) == NATS_OK && value != nullptr)
      found = value;
  }
  std::free(keys);
  return found;
}

inbox_message read(natsMsg* m, const std::string& signature_header) {
  inbox_message out;
  out.body.assign(natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m)));
  out.signature = header_of(m, signature_header);
  jsMsgMetaData* about = nullptr;
  if (natsMsg_GetMetaData(&about, m) == NATS_OK) {
    out.arrived_at = from_unix_ms(about->Timestamp / nanoseconds_per_ms);
    out.deliveries = about->NumDelivered;
  }
  jsMsgMetaData_Destroy(about);
  return out;
}

} // namespace

class nats_inbox::source {
public:
  explicit source(nats_inbox_settings s) : settings_{std::move(s)}, connection_{settings_.servers} {}

  batch take(std::size_t most, milliseconds patience) {
    auto* context = connection_.stream_context();
    if (context == nullptr) return {{}, connection_.trouble()};
    if (subscribed_in_ != connection_.generation()) drop();
    if (!subscription_)
      if (auto why = subscribe(context); !why.empty()) return {{}, std::move(why)};
    natsMsgList list{};
    jsErrCode error{};
    const auto status =
      natsSubscription_Fetch(&list, subscription_.get(), static_cast<int>(most), patience.count(), &error);
    if (status != NATS_OK) {
      natsMsgList_Destroy(&list);
      if (status == NATS_TIMEOUT && error == 0) return {};
      drop(); // the consumer or its stream may have been deleted
      return {{}, nats_reason(status, error)};
    }
    batch out;
    for (int i = 0; i < list.Count; ++i) {
      message_ptr message{std::exchange(list.Msgs[i], nullptr)};
      out.messages.push_back(read(message.get(), settings_.signature_header));
      out.messages.back().ticket = ++last_ticket_;
      open_.emplace(last_ticket_, std::move(message));
    }
    natsMsgList_Destroy(&list);
    return out;
  }

  void settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) {
    const auto found = open_.extract(ticket);
    if (found.empty()) return; // from an older connection: it is delivered again
    auto* m = found.mapped().get();
    switch (verdict) {
      case inbox_verdict::taken: natsMsg_Ack(m, nullptr); return;
      case inbox_verdict::later: natsMsg_NakWithDelay(m, delay.count(), nullptr); return;
      case inbox_verdict::never: natsMsg_Term(m, nullptr); return;
    }
  }

private:
  /// Creates the stream and the consumer if absent. Binds the consumer by name, because libnats deletes
  /// consumers that it creates itself.
  std::string subscribe(jsCtx* context) {
    if (!has_stream(context, settings_.stream, settings_.subject))
      return "NATS: nobody answers about the stream";
    jsErrCode error{};
    jsConsumerInfo* known = nullptr;
    auto status = js_GetConsumerInfo(&known, context, settings_.stream.c_str(), settings_.consumer.c_str(),
                                     nullptr, &error);
    jsConsumerInfo_Destroy(known);
    if (status != NATS_OK) {
      jsConsumerConfig config;
      jsConsumerConfig_Init(&config);
      config.Durable = settings_.consumer.c_str();
      config.AckPolicy = js_AckExplicit;
      config.AckWait = settings_.answer_within.count() * nanoseconds_per_ms;
      config.FilterSubject = settings_.subject.c_str();
      status = js_AddConsumer(nullptr, context, settings_.stream.c_str(), &config, nullptr, &error);
      if (status != NATS_OK) return nats_reason(status, error);
    }
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Stream = settings_.stream.c_str();
    options.Consumer = settings_.consumer.c_str();
    natsSubscription* made = nullptr;
    status = js_PullSubscribe(&made, context, settings_.subject.c_str(), settings_.consumer.c_str(), nullptr,
                              &options, &error);
    if (status != NATS_OK) return nats_reason(status, error);
    subscription_.reset(made);
    subscribed_in_ = connection_.generation();
    return {};
  }

  void drop() {
    open_.clear(); // they reference the subscription
    subscription_.reset();
  }

  nats_inbox_settings settings_;
  nats_connection connection_;
  std::uint64_t subscribed_in_ = 0; ///< generation of the connection that was subscribed on
  std::uint64_t last_ticket_ = 0;
  subscription_ptr subscription_;
  std::map<std::uint64_t, message_ptr> open_; ///< received, not settled; destroyed before the subscription
};

nats_inbox::nats_inbox(nats_inbox_settings settings) :
    source_{std::make_unique<source>(std::move(settings))} {}
nats_inbox::~nats_inbox() = default;

inbox_port::batch nats_inbox::take(std::size_t most, milliseconds patience) {
  return source_->take(most, patience);
}

void nats_inbox::settle(std::uint64_t ticket, inbox_verdict verdict, milliseconds delay) {
  source_->settle(ticket, verdict, delay);
}

} // namespace fq
