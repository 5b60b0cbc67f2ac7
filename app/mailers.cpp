// SPDX-License-Identifier: Apache-2.0
#include "app/mailers.hpp"

#include "net/service/pictures.hpp"
#include "outbound/file_mailer.hpp"
#include "outbound/mail_folder.hpp"
#include "outbound/nats_mailer.hpp"
#include "outbound/smtp_mailer.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

smtp_settings smtp_of(const config::mail_options& m) {
  smtp_settings s;
  s.url = m.smtp_url;
  s.user = m.smtp_user;
  s.password = m.smtp_password;
  s.ca_file = m.smtp_ca_file.string();
  s.insecure = m.smtp_insecure;
  return s;
}

/// "mail.>" for "mail.send": the stream may carry other kinds of mail messages.
std::string stream_subjects(const std::string& subject) {
  const auto dot = subject.find('.');
  return dot == std::string::npos ? subject : subject.substr(0, dot) + ".>";
}

nats_mail_settings nats_of(const config::options& o) {
  return {.servers = {.url = o.nats.url,
                      .credentials_file = o.nats.credentials_file.string(),
                      .ca_file = o.nats.ca_file.string()},
          .stream = {o.mail.nats_stream, stream_subjects(o.mail.nats_subject)},
          .subject = o.mail.nats_subject};
}

} // namespace

mail_eraser_handle::behavior_type mail_eraser(mail_eraser_handle::pointer,
                                              const std::filesystem::path& folder) {
  return {[folder](const erase_mail& x) { erase_mails(folder, x.address); }};
}

std::unique_ptr<mail_port> open_mailer(const config::options& options, environment& env) {
  const mail_sender sender{options.mail.sender, options.mail.sender_name};
  if (options.mail.mode == "smtp") return std::make_unique<smtp_mailer>(smtp_of(options.mail), sender, env);
  if (options.mail.mode == "nats") return std::make_unique<nats_mailer>(nats_of(options), sender, env);
  return std::make_unique<file_mailer>(options.data_dir / "mail", sender, env);
}

std::vector<std::string> mail_senders_of(const config::mail_options& options) {
  auto senders = config::split_list(options.senders);
  senders.push_back(options.sender);
  return senders;
}

void tenant_mails::publish(const std::vector<tenant_row>& tenants) {
  const auto allowed = mail_senders_of(options_.mail);
  std::map<tenant_id, mail_style> styles;
  std::map<tenant_id, std::string> logos;
  for (const auto& t : tenants) {
    const auto known = options_.pages.brands.find(t.name);
    const auto brand = known == options_.pages.brands.end() ? config::brand{} : known->second;
    mail_style style;
    style.name = t.mail_name.empty() ? brand.name : t.mail_name;
    style.colour = t.mail_colour.empty() ? brand.colour : t.mail_colour;
    style.from.name = style.name;
    style.pictures_url = options_.http.public_url + "/pictures/";
    // An address that is no longer configured would be refused by the mail service.
    if (std::ranges::find(allowed, t.mail_sender) != allowed.end()) style.from.address = t.mail_sender;
    if (!t.logo.empty()) {
      style.logo_url = net::logo_url(options_.http.public_url, t.logo);
      logos.emplace(t.id, t.logo);
    }
    styles.emplace(t.id, std::move(style));
  }
  const std::scoped_lock held{mutex_};
  styles_.swap(styles);
  logos_.swap(logos);
}

mail_style tenant_mails::style_of(tenant_id tenant) const {
  const std::scoped_lock held{mutex_};
  const auto found = styles_.find(tenant);
  return found == styles_.end() ? mail_style{} : found->second;
}

std::string tenant_mails::logo_of(tenant_id tenant) const {
  const std::scoped_lock held{mutex_};
  const auto found = logos_.find(tenant);
  return found == logos_.end() ? std::string{} : found->second;
}

} // namespace fq
