// SPDX-License-Identifier: Apache-2.0
#include "app/push_channels.hpp"

#include "app/limits.hpp"
#include "outbound/apns_channel.hpp"
#include "outbound/fcm_channel.hpp"
#include "outbound/ntfy_channel.hpp"

#include <fstream>
#include <stdexcept>

namespace fq {
namespace {

http_client::settings push_http(const config::push_options& o) {
  http_client::settings s;
  s.in_flight_max = pushes_at_once;
  s.response_bytes_max = push_answer_bytes_max;
  s.ca_file = o.ca_file.string();
  s.connect_to = config::split_list(o.connect_to);
  return s;
}

std::string read_key_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::string text(push_key_file_bytes_max, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof())
    throw std::runtime_error{in.bad() || in.gcount() == 0 ? "cannot be read" : "is too long for a key"};
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

std::unique_ptr<channel_port> open_fcm(const config::push_options& o, environment& env) {
  if (!o.fcm_is_on()) return nullptr;
  fcm_channel::settings s;
  s.account = read_google_account(read_key_file(o.fcm_service_account));
  s.url = o.fcm_url;
  s.http = push_http(o);
  return std::make_unique<fcm_channel>(std::move(s), env);
}

std::unique_ptr<channel_port> open_apns(const config::push_options& o, environment& env) {
  if (!o.apns_is_on()) return nullptr;
  apns_channel::settings s;
  s.team_id = o.apns_team_id;
  s.key_id = o.apns_key_id;
  s.key = read_key_file(o.apns_key);
  s.topic = o.apns_topic;
  s.url = o.apns_url;
  s.sandbox_url = o.apns_sandbox_url;
  s.http = push_http(o);
  return std::make_unique<apns_channel>(std::move(s), env);
}

std::unique_ptr<channel_port> open_ntfy(const config::push_options& o, environment& env) {
  if (o.ntfy_url.empty()) return nullptr;
  return std::make_unique<ntfy_channel>(ntfy_channel::settings{o.ntfy_url, push_http(o)}, env);
}

} // namespace

push_channels open_push_channels(const config::options& options, environment& env) {
  const auto& o = options.push;
  push_channels all;
  std::string wrong; // the problems of all channels
  const auto open = [&](auto& into, auto make, const char* option, const std::filesystem::path& file) {
    try {
      into = make(o, env);
    } catch (const std::runtime_error& e) {
      wrong.append(wrong.empty() ? "" : "; ")
        .append(option)
        .append(": ")
        .append(file.string())
        .append(" ")
        .append(e.what());
    }
  };
  open(all.fcm, open_fcm, "push.fcm_service_account", o.fcm_service_account);
  open(all.apns, open_apns, "push.apns_key", o.apns_key);
  if (!wrong.empty()) throw std::runtime_error{wrong};
  all.ntfy = open_ntfy(o, env);
  return all;
}

} // namespace fq
