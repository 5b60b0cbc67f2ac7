// SPDX-License-Identifier: Apache-2.0
// Creates, loads and removes key files. A new file is written under a temporary name, synced, and then linked
// to its final name. So a crash leaves no partial key, and of two processes that create at the same time, the
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
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

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

/// Replaces `file`; false if it cannot be written, and then it is as it was.
bool replace_file(const path& file, std::string_view text) {
  path unfinished = file;
  unfinished += ".new." + std::to_string(::getpid());
  std::error_code error;
  try {
    std::filesystem::remove(unfinished, error); // left by a crashed process with the same process id
    create_once(unfinished, text);
    std::filesystem::rename(unfinished, file);
    sync_folder(file.parent_path());
    return true;
  } catch (const std::runtime_error&) {
    std::filesystem::remove(unfinished, error);
    return false;
  }
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

secret_key parse_secret(const std::string& whole, const path& file) {
  std::string_view text = whole;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return exactly_32(from_hex(text), file);
}

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

/// The text itself, which is a private P-256 key with a kid.
std::string parse_pass_key(const std::string& text, const path& file) {
  boost::system::error_code error;
  const auto document = json::parse(text, error);
  if (error || !document.is_object()) fail(file, "is not a JWK");
  const auto& jwk = document.get_object();
  if (member(jwk, file, "kty") != "EC" || member(jwk, file, "crv") != "P-256"
      || member(jwk, file, "d").empty() || !is_kid(member(jwk, file, "kid")))
    fail(file, "is not a private P-256 key with a kid");
  return text;
}

// -- the keys of one kind

struct key_kind {
  std::string_view name;
  const char* extension;
  std::string (*make)();
};

constexpr std::array<key_kind, all_key_kinds.size()> kinds{{{"organizer", ".jwk", new_jwk},
                                                            {"customer", ".jwk", new_jwk},
                                                            {"ticket", ".jwk", new_jwk},
                                                            {"operator", ".jwk", new_jwk},
                                                            {"session", ".key", new_secret},
                                                            {"passes", ".jwk", new_pass_key},
                                                            {"sandbox", ".key", new_secret}}};

const key_kind& kind_of(std::string_view name) {
  const auto kind = std::ranges::find(kinds, name, &key_kind::name);
  if (kind == kinds.end()) throw key_store_error{"there is no kind of key " + std::string{name}};
  return *kind;
}

constexpr std::array<std::pair<std::string_view, milliseconds key_lives::*>, 3> kinds_of_life{
  {{"person", &key_lives::person}, {"ticket", &key_lives::ticket}, {"session", &key_lives::session}}};

milliseconds life_of(const key_kind& kind, const key_lives& lives) {
  if (kind.name == "organizer" || kind.name == "customer") return lives.person;
  if (kind.name == "ticket") return lives.ticket;
  if (kind.name == "operator") return operator_key_life;
  if (kind.name == "sandbox") return sandbox_key_life;
  return lives.session;
}

// -- lives that were longer (note_lives)

/// A life that has been in force.
struct noted_life {
  std::string kind;
  milliseconds life{0};
  timestamp until; ///< what it signed is dead then; never: it is in force
};

path lives_file(const path& data_dir) { return data_dir / "key_lives"; }

std::vector<noted_life> noted_lives(const path& data_dir) {
  bool absent = false;
  std::istringstream text{read_private(lives_file(data_dir), absent)};
  std::vector<noted_life> noted;
  std::int64_t life = 0, until = 0;
  for (std::string kind; text >> kind;) {
    if (!(text >> life >> until) || life < 0 || until < 0)
      fail(lives_file(data_dir), "is malformed; remove it");
    noted.push_back({std::move(kind), milliseconds{life}, from_unix_ms(until)});
  }
  return noted;
}

/// `lives`, and those that were longer.
key_lives lives_in_force(const path& data_dir, timestamp now, key_lives lives) {
  for (const auto& noted : noted_lives(data_dir)) {
    if (is_set(noted.until) && noted.until <= now) continue;
    for (const auto& [name, member] : kinds_of_life)
      if (name == noted.kind) lives.*member = std::max(lives.*member, noted.life);
  }
  return lives;
}

struct key_file {
  path file;
  timestamp signs_from{}; ///< the epoch: the first key
};

constexpr std::size_t name_digits = 13;

/// So that names sort by age.
std::string key_name(timestamp signs_from, const key_kind& kind) {
  auto digits = std::to_string(unix_ms(signs_from));
  return std::string(name_digits - std::min(name_digits, digits.size()), '0') + digits + kind.extension;
}

timestamp signs_from_of(const path& file) {
  const auto digits = file.stem().string();
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ms);
  if (digits.size() != name_digits || error != std::errc{} || end != digits.data() + digits.size() || ms < 0)
    fail(file, "has a name that is not 13 digits, the milliseconds from which the key signs");
  return from_unix_ms(ms);
}

path first_file(const path& keys, const key_kind& kind) {
  return keys / (std::string{kind.name} + kind.extension);
}

/// Newest first.
std::vector<key_file> files_of(const path& keys, const key_kind& kind) {
  std::vector<key_file> files;
  const auto folder = keys / kind.name;
  const auto type = std::filesystem::symlink_status(folder).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::directory)
    fail(folder, "is not a folder");
  if (type == std::filesystem::file_type::directory)
    for (const auto& entry : std::filesystem::directory_iterator{folder})
      if (entry.path().extension() == kind.extension)
        files.push_back({entry.path(), signs_from_of(entry.path())});
  std::ranges::sort(files, std::greater{}, &key_file::signs_from);
  const auto first = first_file(keys, kind);
  if (std::filesystem::symlink_status(first).type() != std::filesystem::file_type::not_found)
    files.push_back({first, {}});
  return files;
}

/// Which keys of a kind are valid at a time.
struct validity {
  std::vector<key_file> valid; ///< the first signs
  std::vector<path> ended;
  timestamp changes_at = timestamp::max();
};

/// `files`: newest first. A key signs until the next newer one does. If none is due, the oldest signs.
validity valid_at(timestamp now, const std::vector<key_file>& files, milliseconds life) {
  validity result;
  const auto due = std::ranges::find_if(files, [&](const key_file& f) { return f.signs_from <= now; });
  const auto signer = due == files.end() && !files.empty() ? files.end() - 1 : due;
  if (signer != files.end()) result.valid.push_back(*signer);
  for (auto f = files.begin(); f != files.end(); ++f) {
    if (f == signer) continue;
    const auto next_change = f < signer ? f->signs_from : (f - 1)->signs_from + life + key_end_slack;
    if (next_change <= now) {
      result.ended.push_back(f->file);
      continue;
    }
    result.valid.push_back(*f);
    result.changes_at = std::min(result.changes_at, next_change);
  }
  return result;
}

validity look_for(const path& keys, const key_kind& kind, timestamp now, const key_lives& lives) {
  return valid_at(now, files_of(keys, kind), life_of(kind, lives));
}

/// Loads the keys of a kind into `out`; makes one if there is none.
template <class Key>
void load(key_store& store, std::vector<Key>& out, const path& keys, std::string_view name, timestamp now,
          const key_lives& lives, Key (*parse)(const std::string&, const path&)) {
  const auto& kind = kind_of(name);
  auto found = look_for(keys, kind, now, lives);
  if (found.valid.empty()) {
    const bool has_first = name != "passes"; // older releases know no first key of passes
    if (!has_first) make_private_folder(keys / name);
    create_once(has_first ? first_file(keys, kind) : keys / name / key_name(now, kind), kind.make());
    found = look_for(keys, kind, now, lives);
  }
  if (found.valid.size() > keys_of_kind_max)
    fail(keys / name, "has more than " + std::to_string(keys_of_kind_max) + " valid keys");
  for (const auto& f : found.valid) {
    bool absent = false;
    const auto text = read_private(f.file, absent);
    if (!absent) out.push_back(parse(text, f.file)); // else removed by a concurrent rotation
  }
  if (out.empty()) fail(keys / name, "has no key");
  store.changes_at = std::min(store.changes_at, found.changes_at);
  store.ended.insert(store.ended.end(), found.ended.begin(), found.ended.end());
}

/// Older installations used session.key for stored data too: stored.key starts as its copy. A new
/// installation makes stored.key first, so the two differ.
secret_key load_stored(const path& keys) {
  const auto file = keys / "stored.key";
  bool absent = false;
  auto text = read_private(file, absent);
  if (absent) {
    const auto& session = kind_of("session");
    const auto first = read_private(first_file(keys, session), absent);
    if (absent && !files_of(keys, session).empty())
      fail(file, "is missing; restore it from a backup or from another node");
    create_once(file, absent ? new_secret() : first);
    text = read_private(file, absent);
  }
  return parse_secret(text, file);
}

/// A key shared by two kinds of token would make them interchangeable.
void refuse_shared_keys(const key_store& keys, const path& folder) {
  const auto same = [](const signing_key& a, const signing_key& b) {
    return a.kid == b.kid || constant_time_equal(a.secret.bytes(), b.secret.bytes());
  };
  std::vector<const signing_key*> all;
  for (const auto* list : {&keys.organizer, &keys.customer, &keys.ticket, &keys.operate})
    for (const auto& key : *list) all.push_back(&key);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (same(*all[i], *all[j]))
        fail(folder, "two kinds of token share a key or a kid; every .jwk file must be different");
}

path make_key_folder(const path& data_dir) {
  std::error_code error;
  if (data_dir.has_parent_path()) std::filesystem::create_directories(data_dir.parent_path(), error);
  make_private_folder(data_dir);
  make_private_folder(data_dir / "keys");
  return data_dir / "keys";
}

} // namespace

bool note_lives(const path& data_dir, timestamp now, const key_lives& lives) {
  make_key_folder(data_dir);
  const auto before = noted_lives(data_dir);
  std::string text, old_text;
  const auto line = [](std::string_view kind, milliseconds life, timestamp until) {
    return std::string{kind} + ' ' + std::to_string(life.count()) + ' ' + std::to_string(unix_ms(until))
           + '\n';
  };
  for (const auto& noted : before) old_text += line(noted.kind, noted.life, noted.until);
  for (const auto& [name, member] : kinds_of_life) {
    const auto life = lives.*member;
    text += line(name, life, never);
    for (const auto& noted : before) {
      const auto until = is_set(noted.until) ? noted.until : now + noted.life + key_end_slack;
      if (noted.kind == name && noted.life > life && until > now) text += line(name, noted.life, until);
    }
  }
  return text == old_text || replace_file(lives_file(data_dir), text);
}

key_store key_store::open(const path& data_dir, timestamp now, const key_lives& configured) {
  const auto folder = make_key_folder(data_dir);
  const auto lives = lives_in_force(data_dir, now, configured);
  key_store keys;
  keys.stored = load_stored(folder);
  load(keys, keys.organizer, folder, "organizer", now, lives, parse_jwk);
  load(keys, keys.customer, folder, "customer", now, lives, parse_jwk);
  load(keys, keys.ticket, folder, "ticket", now, lives, parse_jwk);
  load(keys, keys.operate, folder, "operator", now, lives, parse_jwk);
  load(keys, keys.session, folder, "session", now, lives, parse_secret);
  load(keys, keys.passes, folder, "passes", now, lives, parse_pass_key);
  load(keys, keys.sandbox, folder, "sandbox", now, lives, parse_secret);
  refuse_shared_keys(keys, folder);
  return keys;
}

void remove_ended(const key_store& keys) noexcept {
  std::error_code ignored; // the folder may be read-only: such keys verify nothing all the same
  for (const auto& file : keys.ended) std::filesystem::remove(file, ignored);
}

path rotate_key(const path& data_dir, std::string_view name, timestamp now, timestamp signs_from,
                const key_lives& lives, older_keys older) {
  const auto& kind = kind_of(name);
  remove_ended(key_store::open(data_dir, now, lives)); // makes missing first keys as well
  const auto keys = data_dir / "keys";
  const auto before = files_of(keys, kind);
  if (older == older_keys::verify && before.size() >= keys_of_kind_max)
    fail(keys / name, "has " + std::to_string(before.size())
                        + " valid keys, which is the most; rotate when one has ended, or with --end-old");
  make_private_folder(keys / name);
  auto file = keys / name / key_name(signs_from, kind);
  while (std::ranges::find(before, file, &key_file::file) != before.end()) {
    signs_from += milliseconds{1};
    file = keys / name / key_name(signs_from, kind);
  }
  create_once(file, kind.make());
  if (older == older_keys::verify) return file;
  for (const auto& old : before)
    if (std::error_code error; !std::filesystem::remove(old.file, error) && error)
      fail(old.file, "cannot remove: " + error.message());
  sync_folder(keys);
  sync_folder(keys / name);
  return file;
}

std::string fingerprint_of(const key_store& keys) {
  const auto proof = hmac_sha256(keys.stored.bytes(), "fairqueue fingerprint");
  return to_hex(sha256(to_hex(proof))).substr(0, 32);
}

} // namespace fq
