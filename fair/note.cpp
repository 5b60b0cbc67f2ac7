// SPDX-License-Identifier: Apache-2.0
#include "fair/note.hpp"

#include "crypto/hkdf.hpp"
#include "fair/bytes.hpp"
#include "fair/limits.hpp"

#include <sodium.h>

#include <algorithm>
#include <charconv>

namespace fq {
namespace {

constexpr std::string_view dash = "\u2014 ";

std::string to_base64(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), view_bytes(bytes).data(), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back(); // its terminator
  return text;
}

/// One text for each byte string. libsodium 1.0.18 takes every byte above 0x7f for '/'.
std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes(text.size(), '\0');
  std::size_t size = 0;
  const char* end = nullptr;
  if (sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                        text.size(), nullptr, &size, &end, sodium_base64_VARIANT_ORIGINAL)
        != 0
      || end != text.data() + text.size())
    return std::nullopt;
  bytes.resize(size);
  if (to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

template <class Bytes>
std::string text_from(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

template <class Bytes>
std::optional<Bytes> bytes_from(std::string_view text) {
  Bytes bytes{};
  if (text.size() != bytes.size()) return std::nullopt;
  std::copy(text.begin(), text.end(), bytes.begin());
  return bytes;
}

std::optional<tree_hash> parse_hash(std::string_view line) {
  const auto bytes = from_base64(line);
  return bytes ? bytes_from<tree_hash>(*bytes) : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t n = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || stop != end || std::to_string(n) != text || n > tree_size_max)
    return std::nullopt;
  return n;
}

/// Takes the text up to the next newline, which must be there.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const auto line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool is_name(std::string_view name) {
  return !name.empty()
         && std::ranges::none_of(name, [](unsigned char c) { return c <= ' ' || c == '+' || c >= 0x7f; });
}

std::string cosigned_text(std::string_view text, std::uint64_t unix_seconds) {
  return "cosignature/v1\ntime " + std::to_string(unix_seconds) + "\n" + std::string{text};
}

std::string signature_line(const note_verifier& verifier, std::string_view signature) {
  return std::string{dash} + verifier.name + " "
         + to_base64(text_from(verifier.id()) + std::string{signature}) + "\n";
}

/// Whether a signature's bytes after the key's id are valid over `text`.
bool is_valid(const note_verifier& verifier, std::string_view text, std::string_view signature) {
  if (verifier.kind == note_key_kind::log) {
    const auto bytes = bytes_from<ed25519_signature>(signature);
    return bytes && is_ed25519_signature(*bytes, text, verifier.key);
  }
  if (signature.size() < 8) return false;
  const auto at = read_number(signature, 0, 8);
  const auto bytes = bytes_from<ed25519_signature>(signature.substr(8));
  return bytes && is_ed25519_signature(*bytes, cosigned_text(text, at), verifier.key);
}

/// Base64 decodes what follows the key's id in a line of this key; empty for any other line.
std::optional<std::string> signature_in(std::string_view line, const note_verifier& verifier) {
  const auto prefix = std::string{dash} + verifier.name + " ";
  if (!line.starts_with(prefix)) return std::nullopt;
  const auto bytes = from_base64(line.substr(prefix.size()));
  if (!bytes || bytes->substr(0, 4) != text_from(verifier.id())) return std::nullopt;
  return bytes->substr(4);
}

std::string hash_lines(std::span<const tree_hash> hashes) {
  std::string lines;
  for (const auto& hash : hashes) lines += to_base64(text_from(hash)) + "\n";
  return lines;
}

} // namespace

std::array<std::uint8_t, 4> note_verifier::id() const {
  const auto digest = sha256(name + "\n" + static_cast<char>(kind) + text_from(key));
  return {digest[0], digest[1], digest[2], digest[3]};
}

std::string note_verifier::text() const {
  return name + "+" + to_hex(id()) + "+" + to_base64(static_cast<char>(kind) + text_from(key));
}

std::optional<note_verifier> parse_note_verifier(std::string_view text) {
  const auto first = text.find('+');
  const auto second = first == text.npos ? first : text.find('+', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto bytes = from_base64(text.substr(second + 1));
  if (!bytes || bytes->empty()) return std::nullopt;
  const auto key = bytes_from<ed25519_public_key>(std::string_view{*bytes}.substr(1));
  note_verifier verifier{std::string{text.substr(0, first)}, static_cast<note_key_kind>(bytes->front()), {}};
  if (!key || (verifier.kind != note_key_kind::log && verifier.kind != note_key_kind::witness))
    return std::nullopt;
  verifier.key = *key;
  if (!is_name(verifier.name) || verifier.text() != text) return std::nullopt;
  return verifier;
}

secret_key log_seed_of(const secret_key& stored) {
  return hkdf_sha256(stored.bytes(), "fairqueue log", "log");
}

secret_key witness_seed_of(const secret_key& stored) {
  return hkdf_sha256(stored.bytes(), "fairqueue log", "witness");
}

std::string text_of(const checkpoint& c) {
  return c.origin + "\n" + std::to_string(c.size) + "\n" + to_base64(text_from(c.root)) + "\n";
}

std::optional<checkpoint_note> parse_checkpoint(std::string_view note) {
  checkpoint_note result;
  const auto whole = note;
  const auto origin = take_line(note), size = take_line(note), root = take_line(note);
  if (!origin || !size || !root || !is_name(*origin)) return std::nullopt;
  const auto parsed_size = parse_size(*size);
  const auto parsed_root = parse_hash(*root);
  if (!parsed_size || !parsed_root || take_line(note) != "" || note.empty()) return std::nullopt;
  result.content = {std::string{*origin}, *parsed_size, *parsed_root};
  result.text = text_of(result.content);
  result.signatures = note;
  if (!whole.starts_with(result.text)) return std::nullopt;
  return result;
}

std::string sign_checkpoint(const checkpoint& c, const secret_key& seed) {
  const auto text = text_of(c);
  const note_verifier verifier{c.origin, note_key_kind::log, ed25519_public_key_of(seed)};
  return text + "\n" + signature_line(verifier, text_from(ed25519_sign(seed, text)));
}

std::string sign_log(const log_state_row& log, const secret_key& stored) {
  checkpoint c{log.origin, log.size, {}};
  std::copy_n(log.root.begin(), std::min(log.root.size(), c.root.size()), c.root.begin());
  return sign_checkpoint(c, log_seed_of(stored));
}

std::string cosign(std::string_view checkpoint_text, std::string_view name, const secret_key& seed,
                   timestamp now) {
  const auto at = static_cast<std::uint64_t>(unix_ms(now) / 1000);
  const note_verifier verifier{std::string{name}, note_key_kind::witness, ed25519_public_key_of(seed)};
  std::string signature;
  append_number(signature, at, 8);
  append_bytes(signature, ed25519_sign(seed, cosigned_text(checkpoint_text, at)));
  return signature_line(verifier, signature);
}

bool is_signed_by(const checkpoint_note& note, const note_verifier& verifier) {
  return !signature_of(note, verifier).empty();
}

std::string signature_of(const checkpoint_note& note, const note_verifier& verifier) {
  std::string_view rest = note.signatures;
  if (!rest.ends_with('\n')) return {};
  while (const auto line = take_line(rest))
    if (const auto signature = signature_in(*line, verifier))
      return is_valid(verifier, note.text, *signature) ? std::string{*line} + "\n" : std::string{};
  return {};
}

std::string add_checkpoint_body(std::uint64_t old_size, std::span<const tree_hash> proof,
                                std::string_view note) {
  return "old " + std::to_string(old_size) + "\n" + hash_lines(proof) + "\n" + std::string{note};
}

std::optional<add_checkpoint_request> parse_add_checkpoint(std::string_view body) {
  add_checkpoint_request request;
  const auto first = take_line(body);
  if (!first || !first->starts_with("old ")) return std::nullopt;
  const auto old_size = parse_size(first->substr(4));
  if (!old_size) return std::nullopt;
  request.old_size = *old_size;
  for (;;) {
    const auto line = take_line(body);
    if (!line) return std::nullopt;
    if (line->empty()) break;
    const auto hash = parse_hash(*line);
    if (!hash || request.proof.size() == proof_hashes_max) return std::nullopt;
    request.proof.push_back(*hash);
  }
  auto note = parse_checkpoint(body);
  if (!note) return std::nullopt;
  request.note = std::move(*note);
  return request;
}

std::string proof_text(std::string_view extra, std::uint64_t index, std::span<const tree_hash> proof,
                       std::string_view note) {
  return "c2sp.org/tlog-proof@v1\nextra " + to_base64(extra) + "\nindex " + std::to_string(index) + "\n"
         + hash_lines(proof) + "\n" + std::string{note};
}

} // namespace fq
