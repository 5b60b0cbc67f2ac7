// SPDX-License-Identifier: Apache-2.0
#include "app/mailers.hpp"

#include "outbound/file_mailer.hpp"
#include "outbound/mail_folder.hpp"
#include "outbound/nats_mailer.hpp"
#include "outbound/smtp_mailer.hpp"

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

} // namespace fq
