// SPDX-License-Identifier: Apache-2.0
// Creates and loads key files. A new file is written under a temporary name, synced, and then linked to its
// final name. So a crash leaves no partial key, and of two processes that create at the same time, the
// second loads the first's key.
#include "crypto/keys.hpp"

#include "crypto/limits.hpp"
#include "crypto/random.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjose/cjose.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>

namespace fq {
namespace {

namespace json = boost::json;
using path = std::filesystem::path;

constexpr std::size_t kid_bytes = 9; // 12 characters of base64url

[[noreturn]] void fail(const path& file, const std::string& what) {
  throw key_store_error{file.string() + ": " + what};
}
[[noreturn]] void fail_errno(const path& file, const char* doing, int error) {
  fail(file, std::string{doing} + ": " + std::generic_category().message(error));
}

/// Owns a file descriptor.
class open_file {
public:
  open_file(const path& file, int flags, mode_t mode = 0) :
      fd_{::open(file.c_str(), flags | O_CLOEXEC, mode)} {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

private:
  int fd_;
};

void sync_folder(const path& folder) {
  const open_file f{folder, O_RDONLY | O_DIRECTORY};
  if (!f || ::fsync(f.fd()) != 0) fail_errno(folder, "cannot sync", errno);
}

void make_private_folder(const path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail_errno(folder, "cannot create", errno);
}

void write_all(const open_file& to, const path& file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(to.fd(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_errno(file, "cannot write", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Creates `file` with `text`, unless another process has created it.
void create_once(const path& file, std::string_view text) {
  path unfinished = file;
  unfinished += ".new." + std::to_string(::getpid());
  ::unlink(unfinished.c_str()); // left by a crashed process with the same process id
  {
    const open_file out{unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600};
    if (!out) fail_errno(unfinished, "cannot create", errno);
    write_all(out, unfinished, text);
    if (::fsync(out.fd()) != 0) fail_errno(unfinished, "cannot sync", errno);
  }
  const int error = ::link(unfinished.c_str(), file.c_str()) == 0 ? 0 : errno;
  ::unlink(unfinished.c_str());
  if (error != 0 && error != EEXIST) fail_errno(file, "cannot create", error);
  sync_folder(file.parent_path());
}

void refuse_if_not_private(const open_file& f, const path& file) {
  struct stat status {};
  if (::fstat(f.fd(), &status) != 0) fail_errno(file, "cannot stat", errno);
  if (!S_ISREG(status.st_mode)) fail(file, "is not a regular file");
  if ((status.st_mode & 077) != 0) fail(file, "is open to group or others; run: chmod 600 " + file.string());
}

/// The text of a private file; empty, with `absent` set, if there is none.
std::string read_private(const path& file, bool& absent) {
  const open_file in{file, O_RDONLY | O_NOFOLLOW};
  absent = !in && errno == ENOENT;
  if (absent) return {};
  if (!in) fail_errno(file, "cannot open", errno);
  refuse_if_not_private(in, file);
  std::string text(key_file_bytes_max + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const auto n = ::read(in.fd(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(file, "cannot read", errno);
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
    if (size > key_file_bytes_max) fail(file, "is too long for a key");
  }
  text.resize(size);
  return text;
}

std::string random_text(std::size_t bytes, std::string (*encode)(byte_view)) {
  std::vector<std::uint8_t> random(bytes);
  fill_random(std::as_writable_bytes(std::span{random}));
  return encode(random);
}

std::string new_jwk() {
  return R"({"kty":"oct","alg":"HS256","use":"sig","kid":")" + random_text(kid_bytes, to_base64url)
         + R"(","k":")" + random_text(secret_key::size, to_base64url) + "\"}\n";
}

std::string new_secret() { return random_text(secret_key::size, to_hex) + "\n"; }

std::string load_or_create(const path& file, std::string (*make)()) {
  bool absent = false;
  auto text = read_private(file, absent);
  if (!absent) return text;
  create_once(file, make());
  text = read_private(file, absent);
  if (absent) fail(file, "disappeared while it was being created");
  return text;
}

bool is_kid(std::string_view kid) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !kid.empty() && kid.size() <= 64 && std::all_of(kid.begin(), kid.end(), allowed);
}

std::string member(const json::object& jwk, const path& file, std::string_view name) {
  const auto* value = jwk.if_contains(name);
  if (value == nullptr || !value->is_string()) fail(file, "has no text member " + std::string{name});
  return std::string{value->get_string()};
}

secret_key exactly_32(const std::optional<std::vector<std::uint8_t>>& bytes, const path& file) {
  if (!bytes || bytes->size() != secret_key::size) fail(file, "does not hold a key of 32 bytes");
  return secret_key{std::span<const std::uint8_t, secret_key::size>{bytes->data(), secret_key::size}};
}

signing_key parse_jwk(const std::string& text, const path& file) {
  boost::system::error_code error;
  const auto document = json::parse(text, error);
  if (error || !document.is_object()) fail(file, "is not a JWK");
  const auto& jwk = document.get_object();
  if (member(jwk, file, "kty") != "oct" || member(jwk, file, "alg") != "HS256"
      || member(jwk, file, "use") != "sig")
    fail(file, "is not a symmetric HS256 signing key");
  auto kid = member(jwk, file, "kid");
  if (!is_kid(kid)) fail(file, "has a kid that is not 1 to 64 characters of A-Z a-z 0-9 - _");
  return {std::move(kid), exactly_32(from_base64url(member(jwk, file, "k")), file)};
}

secret_key parse_secret(std::string_view text, const path& file) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return exactly_32(from_hex(text), file);
}

/// A key shared by two kinds of token would make them interchangeable.
void refuse_shared_keys(const key_store& keys, const path& folder) {
  const auto same = [](const signing_key& a, const signing_key& b) {
    return a.kid == b.kid || constant_time_equal(a.secret.bytes(), b.secret.bytes());
  };
  const std::array all{&keys.organizer, &keys.customer, &keys.ticket, &keys.operate};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (same(*all[i], *all[j]))
        fail(folder, "two kinds of token share a key or a kid; every .jwk file must be different");
}

} // namespace

key_store key_store::open(const path& data_dir) {
  std::error_code error;
  if (data_dir.has_parent_path()) std::filesystem::create_directories(data_dir.parent_path(), error);
  make_private_folder(data_dir);
  const auto folder = data_dir / "keys";
  make_private_folder(folder);
  const auto jwk = [&](const char* name) {
    return parse_jwk(load_or_create(folder / name, new_jwk), folder / name);
  };
  const auto raw = [&](const char* name) {
    return parse_secret(load_or_create(folder / name, new_secret), folder / name);
  };
  key_store keys{jwk("organizer.jwk"), jwk("customer.jwk"), jwk("ticket.jwk"),
                 jwk("operator.jwk"),  raw("session.key"),  raw("sandbox.key")};
  refuse_shared_keys(keys, folder);
  return keys;
}

// -- admission passes

namespace {

std::string new_pass_key() {
  cjose_err error{};
  const std::unique_ptr<cjose_jwk_t, bool (*)(cjose_jwk_t*)> jwk{
    cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error), cjose_jwk_release};
  const auto kid = random_text(kid_bytes, to_base64url);
  if (!jwk || !cjose_jwk_set_kid(jwk.get(), kid.data(), kid.size(), &error))
    throw key_store_error{"cannot make a key for admission passes"};
  const std::unique_ptr<char, void (*)(void*)> text{cjose_jwk_to_json(jwk.get(), true, &error), std::free};
  if (!text) throw key_store_error{"cannot make a key for admission passes"};
  return text.get() + std::string{"\n"};
}

/// The name contains the creation time, so that names sort by age: <unix ms, 13 digits>.jwk.
std::string pass_key_name(timestamp now) {
  auto digits = std::to_string(unix_ms(now));
  return std::string(13 - std::min<std::size_t>(13, digits.size()), '0') + digits + ".jwk";
}

path pass_folder(const path& data_dir) {
  const auto folder = data_dir / "keys" / "passes";
  make_private_folder(data_dir / "keys");
  make_private_folder(folder);
  return folder;
}

/// Newest first.
std::vector<path> pass_key_files(const path& folder) {
  std::vector<path> files;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    if (entry.path().extension() == ".jwk") files.push_back(entry.path());
  std::sort(files.begin(), files.end(), std::greater{});
  if (files.size() > pass_keys_max) files.resize(pass_keys_max);
  return files;
}

std::string kid_of(const std::string& text, const path& file) {
  boost::system::error_code error;
  const auto document = json::parse(text, error);
  if (error || !document.is_object()) fail(file, "is not a JWK");
  const auto& jwk = document.get_object();
  auto kid = member(jwk, file, "kid");
  if (member(jwk, file, "kty") != "EC" || member(jwk, file, "crv") != "P-256"
      || member(jwk, file, "d").empty() || !is_kid(kid))
    fail(file, "is not a private P-256 key with a kid");
  return kid;
}

} // namespace

std::vector<std::string> open_pass_keys(const path& data_dir, timestamp now) {
  const auto folder = pass_folder(data_dir);
  if (pass_key_files(folder).empty()) create_once(folder / pass_key_name(now), new_pass_key());
  std::vector<std::string> keys;
  for (const auto& file : pass_key_files(folder)) {
    bool absent = false;
    auto text = read_private(file, absent);
    if (absent) continue; // removed by a concurrent rotation
    kid_of(text, file);
    keys.push_back(std::move(text));
  }
  if (keys.empty()) fail(folder, "has no key");
  return keys;
}

std::string rotate_pass_keys(const path& data_dir, timestamp now) {
  const auto folder = pass_folder(data_dir);
  const auto before = pass_key_files(folder);
  const auto file = folder / pass_key_name(now);
  create_once(file, new_pass_key());
  // Each key signed until the next newer key was created.
  const auto dead_before = pass_key_name(now - pass_key_life);
  bool superseded_long_ago = false;
  for (const auto& old : before) {
    if (superseded_long_ago) std::filesystem::remove(old);
    superseded_long_ago = superseded_long_ago || old.filename().string() < dead_before;
  }
  bool absent = false;
  return kid_of(read_private(file, absent), file);
}

std::string fingerprint_of(const key_store& keys) {
  std::string all;
  for (const auto* key : {&keys.organizer.secret, &keys.customer.secret, &keys.ticket.secret,
                          &keys.operate.secret, &keys.session, &keys.sandbox})
    all += to_hex(hmac_sha256(key->bytes(), "fairqueue fingerprint"));
  return to_hex(sha256(all)).substr(0, 32);
}

} // namespace fq
