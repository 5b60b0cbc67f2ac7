// SPDX-License-Identifier: Apache-2.0
// Splits a message into chunks and writes the envelopes.
#include "outbound/nats_mailer.hpp"

#include "outbound/time_text.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <glib.h>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::string_view html_suffix = "_html";

/// Approximate bytes that a recipient adds to an envelope.
std::size_t weight_of(const mail_recipient& recipient) {
  std::size_t bytes = 2 * recipient.address.size() + 16;
  for (const auto& [name, value] : recipient.variables) bytes += 2 * (name.size() + 8 + value.size());
  return bytes;
}

/// The mailer service does not escape variables in the html. So the html uses separate names whose values are
/// escaped here.
std::string with_html_names(std::string html, const mail_message& message,
                            const std::vector<std::size_t>& wanted) {
  std::map<std::string, std::string> other_names;
  for (const auto i : wanted)
    for (const auto& [name, value] : message.to[i].variables)
      other_names.emplace(name, std::string{"%recipient."}.append(name).append(html_suffix).append("%"));
  return with_variables(html, other_names);
}

std::string base64_of(const std::string& bytes) {
  auto* text = g_base64_encode(reinterpret_cast<const guchar*>(bytes.data()), bytes.size());
  std::string out = text;
  g_free(text);
  return out;
}

/// [{filename, content_type, content}], in base64; null without any.
json::value attachments_of(const mail_message& message) {
  if (message.attachments.empty()) return nullptr;
  json::array files;
  for (const auto& file : message.attachments)
    files.push_back(json::object{
      {"filename", file.name}, {"content_type", file.content_type}, {"content", base64_of(file.content)}});
  return files;
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
    const bool full = chunks.empty() || i - chunks.back().begin == mail_chunk_recipients_max
                      || bytes + weight > mail_chunk_bytes_max;
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

std::string envelope_of(const mail_message& message, const std::string& id,
                        const std::vector<std::size_t>& wanted, const mail_sender& sender, timestamp now) {
  json::array to;
  json::object variables;
  for (const auto i : wanted) {
    to.emplace_back(message.to[i].address);
    variables[message.to[i].address] = variables_of(message.to[i], !message.html.empty());
  }
  const auto from = sender_of(message.from, sender);
  const json::object data{
    {"to", std::move(to)},
    {"subject", message.subject},
    {"html", with_html_names(message.html, message, wanted)},
    {"text", message.text},
    {"from_email", from.address},
    {"from_name", from.name},
    {"attachments", attachments_of(message)},
    {"recipient_variables", std::move(variables)},
    {"metadata",
     json::object{{"source", "fairqueue"}, {"template_key", message.template_key}, {"correlation_id", id}}}};
  return json::serialize(json::object{
    {"event", "mail.send"}, {"version", 1}, {"occurred_at", time_for_machines(now)}, {"data", data}});
}

nats_mailer::nats_mailer(nats_mail_settings settings, mail_sender sender, environment& env) :
    subject_{std::move(settings.subject)},
    sender_{std::move(sender)},
    env_{env},
    stream_{settings.servers, std::move(settings.stream)} {}

mail_answer nats_mailer::publish(const std::string& id, const std::string& envelope) {
  auto answer = stream_.publish(subject_, id, {}, envelope);
  switch (answer.result) {
    case nats_result::accepted: return {.result = mail_result::accepted};
    case nats_result::rejected: return {.result = mail_result::rejected, .why = std::move(answer.why)};
    case nats_result::unavailable:
      return {.result = mail_result::unavailable, .service_down = true, .why = std::move(answer.why)};
  }
  return {};
}

mail_answer nats_mailer::send(const mail_message& message) {
  if (auto unfit = wrong_with(message); !unfit.empty())
    return all_of(message, mail_result::rejected, std::move(unfit));
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
