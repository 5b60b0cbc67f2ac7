// SPDX-License-Identifier: Apache-2.0
#include "outbound/nats_stream.hpp"

#include "outbound/nats_connection.hpp"

namespace fq {
namespace {

using message_ptr = nats_owned<natsMsg, natsMsg_Destroy>;

natsStatus make(message_ptr& out, const std::string& subject, const nats_headers& headers,
                std::string_view body) {
  natsMsg* made = nullptr;
  auto status = natsMsg_Create(&made, subject.c_str(), nullptr, body.data(), static_cast<int>(body.size()));
  out.reset(made);
  for (const auto& [name, value] : headers)
    if (status == NATS_OK) status = natsMsgHeader_Set(made, name.c_str(), value.c_str());
  return status;
}

bool is_too_large(natsStatus status, jsErrCode error) {
  return status == NATS_MAX_PAYLOAD || error == JSStreamMessageExceedsMaximumErr;
}

nats_answer unavailable(std::string why) { return {nats_result::unavailable, std::move(why)}; }

} // namespace

nats_stream::nats_stream(const nats_settings& settings, nats_stream_name name) :
    name_{std::move(name)},
    timeout_{settings.timeout},
    connection_{std::make_unique<nats_connection>(settings)} {}
nats_stream::~nats_stream() = default;

nats_answer nats_stream::publish(const std::string& subject, const std::string& id,
                                 const nats_headers& headers, std::string_view body) {
  auto* context = connection_->stream_context();
  if (context == nullptr) return unavailable(connection_->trouble());
  if (known_in_ != connection_->generation())
    known_in_ = has_stream(context, name_.stream, name_.subjects) ? connection_->generation() : 0;
  if (known_in_ == 0) return unavailable("NATS: nobody answers about the stream");

  message_ptr message;
  auto status = make(message, subject, headers, body);
  if (status != NATS_OK) return unavailable(nats_reason(status, {}));
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MsgId = id.c_str();
  options.MaxWait = timeout_.count();
  if (name_.is_expected) options.ExpectStream = name_.stream.c_str();
  jsPubAck* ack = nullptr;
  jsErrCode error{};
  status = js_PublishMsg(&ack, context, message.get(), &options, &error);
  // also for a duplicate: the stream has stored the first
  const bool acknowledged = status == NATS_OK && ack != nullptr;
  jsPubAck_Destroy(ack);
  if (acknowledged) return {nats_result::accepted};
  if (is_too_large(status, error)) return {nats_result::rejected, nats_reason(status, error)};
  if (error == JSStreamNotMatchErr)
    return unavailable("NATS: another stream than " + name_.stream + " has the subject " + subject);
  known_in_ = 0; // the stream may have been deleted: no responders, JetStream error 10076
  return unavailable(nats_reason(status, error));
}

} // namespace fq
