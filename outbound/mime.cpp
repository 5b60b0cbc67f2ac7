// SPDX-License-Identifier: Apache-2.0
// Builds and reads messages with GMime, which does the encoding.
#include "outbound/mime.hpp"

#include "crypto/digest.hpp"
#include "outbound/limits.hpp"

#include <gmime/gmime.h>

#include <memory>
#include <mutex>
#include <stdexcept>

namespace fq {
namespace {

struct unref {
  void operator()(void* object) const noexcept { g_object_unref(object); }
};
template <class T>
using owned = std::unique_ptr<T, unref>;

/// Initializes GMime's global tables once; afterwards threads may use separate objects.
void need_gmime() {
  static std::once_flag done;
  std::call_once(done, g_mime_init);
}

/// Converts line ends to LF: GMime writes CRLF at the end.
std::string with_plain_line_ends(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends = text[i] == '\r';
    out += ends ? '\n' : text[i];
    if (ends && i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return out;
}

/// Quoted-printable stays readable in a folder of files; base64 where it would triple the size.
GMimeContentEncoding encoding_for(std::string_view text) {
  std::size_t beyond_ascii = 0;
  for (const char c : text) beyond_ascii += static_cast<unsigned char>(c) >= 0x80 ? 1 : 0;
  return beyond_ascii * 5 > text.size() ? GMIME_CONTENT_ENCODING_BASE64
                                        : GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE;
}

owned<GMimeTextPart> part_of(const char* subtype, std::string_view content) {
  owned<GMimeTextPart> part{g_mime_text_part_new_with_subtype(subtype)};
  const auto text = with_plain_line_ends(content);
  g_mime_text_part_set_charset(part.get(), "utf-8");
  g_mime_text_part_set_text(part.get(), text.c_str());
  g_mime_part_set_content_encoding(GMIME_PART(part.get()), encoding_for(text));
  return part;
}

/// Deterministic per letter. Neither quoted-printable nor base64 can contain "=_", so no content can end a
/// part.
std::string boundary_for(const mail_letter& letter, std::string_view of = {}) {
  return "=_" + to_hex(sha256((letter.id + '\n' + letter.to).append(of))).substr(0, 32);
}

owned<GMimeObject> words_of(const mail_letter& letter) {
  auto text = part_of("plain", letter.text);
  if (letter.html.empty()) return owned<GMimeObject>{GMIME_OBJECT(text.release())};
  const auto html = part_of("html", letter.html);
  owned<GMimeMultipart> both{g_mime_multipart_new_with_subtype("alternative")};
  g_mime_multipart_set_boundary(both.get(), boundary_for(letter).c_str());
  g_mime_multipart_add(both.get(), GMIME_OBJECT(text.get()));
  g_mime_multipart_add(both.get(), GMIME_OBJECT(html.get()));
  return owned<GMimeObject>{GMIME_OBJECT(both.release())};
}

owned<GMimePart> part_of(const mail_attachment& file) {
  const auto slash = file.content_type.find('/');
  owned<GMimePart> part{g_mime_part_new_with_type(file.content_type.substr(0, slash).c_str(),
                                                  file.content_type.substr(slash + 1).c_str())};
  const owned<GMimeStream> bytes{g_mime_stream_mem_new_with_buffer(file.content.data(), file.content.size())};
  const owned<GMimeDataWrapper> content{
    g_mime_data_wrapper_new_with_stream(bytes.get(), GMIME_CONTENT_ENCODING_DEFAULT)};
  g_mime_part_set_content(part.get(), content.get());
  g_mime_part_set_content_encoding(part.get(), GMIME_CONTENT_ENCODING_BASE64);
  g_mime_part_set_filename(part.get(), file.name.c_str());
  return part;
}

owned<GMimeObject> body_of(const mail_letter& letter) {
  auto words = words_of(letter);
  if (letter.attachments.empty()) return words;
  owned<GMimeMultipart> all{g_mime_multipart_new_with_subtype("mixed")};
  g_mime_multipart_set_boundary(all.get(), boundary_for(letter, "\nfiles").c_str());
  g_mime_multipart_add(all.get(), words.get());
  for (const auto& file : letter.attachments)
    g_mime_multipart_add(all.get(), GMIME_OBJECT(part_of(file).get()));
  return owned<GMimeObject>{GMIME_OBJECT(all.release())};
}

/// Breaks up text that looks like an encoded word. GMime would pass it on unchanged and a mail reader would
/// decode it.
std::string without_encoded_words(std::string text) {
  for (auto at = text.find("=?"); at != std::string::npos; at = text.find("=?", at)) text.insert(at + 1, " ");
  return text;
}

void add_address(GMimeMessage* message, GMimeAddressType role, const std::string& name,
                 const std::string& address) {
  const auto shown = without_encoded_words(name);
  const owned<InternetAddress> mailbox{
    internet_address_mailbox_new(name.empty() ? nullptr : shown.c_str(), address.c_str())};
  internet_address_set_charset(mailbox.get(), "utf-8");
  internet_address_list_add(g_mime_message_get_addresses(message, role), mailbox.get());
}

void set_date(GMimeMessage* message, timestamp when) {
  auto* date = g_date_time_new_from_unix_utc(unix_ms(when) / 1000);
  if (date == nullptr) throw std::invalid_argument{"a date that no calendar has"};
  g_mime_message_set_date(message, date);
  g_date_time_unref(date);
}

std::string text_of(GMimeMessage* message) {
  auto* format = g_mime_format_options_new();
  g_mime_format_options_set_newline_format(format, GMIME_NEWLINE_FORMAT_DOS);
  auto* text = g_mime_object_to_string(GMIME_OBJECT(message), format);
  g_mime_format_options_free(format);
  std::string result = text == nullptr ? "" : text;
  g_free(text);
  if (!result.ends_with("\r\n")) result += "\r\n"; // complete the last line
  return result;
}

/// Takes ownership of `text` and frees it; null gives an empty text. Truncates between characters.
std::string taken(char* text, std::size_t bytes_max) {
  if (text == nullptr) return {};
  auto* valid = g_utf8_make_valid(text, -1);
  g_free(text);
  std::string out = valid;
  g_free(valid);
  if (out.size() <= bytes_max) return out;
  auto end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  out.resize(end);
  return out;
}

/// The first text/plain part, as written by to_mime.
std::string plain_text_of(GMimeMessage* message) {
  auto* at = g_mime_part_iter_new(GMIME_OBJECT(message));
  char* text = nullptr;
  do {
    auto* part = g_mime_part_iter_get_current(at);
    if (part == nullptr || !GMIME_IS_TEXT_PART(part)) continue;
    if (g_mime_content_type_is_type(g_mime_object_get_content_type(part), "text", "plain"))
      text = g_mime_text_part_get_text(GMIME_TEXT_PART(part));
  } while (text == nullptr && g_mime_part_iter_next(at));
  g_mime_part_iter_free(at);
  return taken(text, shown_text_bytes_max);
}

timestamp date_of(GMimeMessage* message) {
  auto* date = g_mime_message_get_date(message); // owned by the message
  return date == nullptr ? timestamp{} : from_unix_ms(g_date_time_to_unix(date) * 1000);
}

/// A character of a dot-atom (RFC 5322 section 3.2.3) except "=", which escapes the others.
bool stays_in_message_id(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
         || std::string_view{"!#$&*+-/^_{|}~"}.find(c) != std::string_view::npos;
}

} // namespace

std::string message_id_of(const mail_letter& letter, const mail_sender& sender) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (std::size_t i = 0; i < letter.id.size(); ++i) {
    const char c = letter.id[i];
    const bool inner_dot = c == '.' && i > 0 && i + 1 < letter.id.size() && letter.id[i - 1] != '.';
    if (stays_in_message_id(c) || inner_dot)
      out += c;
    else
      out.append("=").append(1, digits[static_cast<unsigned char>(c) >> 4]).append(1, digits[c & 15]);
  }
  return out.append(sender.address.substr(sender.address.find('@')));
}

std::string to_mime(const mail_letter& letter, const mail_sender& sender, timestamp when) {
  if (!is_mail_address(letter.to) || !is_mail_address(sender.address) || !is_one_line(sender.name)
      || !is_one_line(letter.subject) || !is_one_line(letter.id))
    throw std::invalid_argument{"a value that cannot stand in a mail header"};
  need_gmime();
  owned<GMimeMessage> message{g_mime_message_new(0)};
  add_address(message.get(), GMIME_ADDRESS_TYPE_FROM, sender.name, sender.address);
  add_address(message.get(), GMIME_ADDRESS_TYPE_TO, {}, letter.to);
  g_mime_message_set_subject(message.get(), without_encoded_words(letter.subject).c_str(), "utf-8");
  set_date(message.get(), when);
  g_mime_message_set_message_id(message.get(), message_id_of(letter, sender).c_str());
  // RFC 3834: prevents automatic replies.
  g_mime_object_set_header(GMIME_OBJECT(message.get()), "Auto-Submitted", "auto-generated", nullptr);
  const auto body = body_of(letter);
  g_mime_message_set_mime_part(message.get(), body.get());
  return text_of(message.get());
}

std::optional<kept_mail> from_mime(std::string_view bytes) {
  need_gmime();
  const owned<GMimeStream> stream{g_mime_stream_mem_new_with_buffer(bytes.data(), bytes.size())};
  const owned<GMimeParser> parser{g_mime_parser_new_with_stream(stream.get())};
  const owned<GMimeMessage> message{g_mime_parser_construct_message(parser.get(), nullptr)};
  if (!message || g_mime_object_get_header(GMIME_OBJECT(message.get()), "To") == nullptr) return std::nullopt;
  kept_mail mail;
  mail.to = taken(internet_address_list_to_string(g_mime_message_get_to(message.get()), nullptr, FALSE),
                  shown_header_bytes_max);
  mail.subject = taken(g_strdup(g_mime_message_get_subject(message.get())), shown_header_bytes_max);
  mail.text = plain_text_of(message.get());
  mail.sent = date_of(message.get());
  return mail;
}

} // namespace fq
