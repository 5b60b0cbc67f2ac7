// SPDX-License-Identifier: Apache-2.0
// Key files: made once, private, and refused when anything about them is off.
#define CAF_SUITE keys
#include "caf/test/unit_test.hpp"

#include "crypto/keys.hpp"
#include "tests/crypto/temp_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

using namespace fq;
using fq::test::temp_folder;

namespace {

mode_t mode_of(const std::filesystem::path& p) {
  struct stat s {};
  return ::stat(p.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
}

const timestamp now = from_unix_ms(1'800'000'000'000);
constexpr milliseconds minute{60'000}, hour = 60 * minute, day = 24 * hour;

std::string read(const std::filesystem::path& p) {
  std::ifstream in{p};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void overwrite(const std::filesystem::path& p, const std::string& text) { std::ofstream{p} << text; }

std::string error_of(const std::filesystem::path& data_dir) {
  try {
    static_cast<void>(key_store::open(data_dir, now));
    return {};
  } catch (const key_store_error& e) { return e.what(); }
}

bool same(const key_store& a, const key_store& b) {
  const auto equal = [](const secret_key& x, const secret_key& y) {
    return constant_time_equal(x.bytes(), y.bytes());
  };
  return a.organizer.front().kid == b.organizer.front().kid
         && equal(a.customer.front().secret, b.customer.front().secret)
         && equal(a.session.front(), b.session.front()) && equal(a.sandbox.front(), b.sandbox.front())
         && equal(a.stored, b.stored) && a.passes == b.passes;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(the first start creates private keys and the second loads them) {
  const temp_folder folder;
  const auto data = folder / "data";
  const auto first = key_store::open(data, now);
  CAF_CHECK_EQUAL(mode_of(data / "keys"), mode_t{0700});
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{data / "keys"}) {
    CAF_CHECK_EQUAL(mode_of(entry.path()), entry.is_directory() ? mode_t{0700} : mode_t{0600});
    files += entry.is_directory() ? 0 : 1;
  }
  CAF_CHECK_EQUAL(files, 8);
  CAF_CHECK(same(first, key_store::open(data, now)));
  CAF_CHECK_EQUAL(read(data / "keys" / "session.key"), to_hex(first.session.front().bytes()) + "\n");
}

CAF_TEST(two data folders share no key) {
  const temp_folder folder;
  const auto a = key_store::open(folder / "a", now);
  const auto b = key_store::open(folder / "b", now);
  CAF_CHECK(a.organizer.front().kid != b.organizer.front().kid);
  CAF_CHECK(!constant_time_equal(a.session.front().bytes(), b.session.front().bytes()));
  CAF_CHECK(!constant_time_equal(a.organizer.front().secret.bytes(), a.customer.front().secret.bytes()));
  CAF_CHECK(fingerprint_of(a) != fingerprint_of(b));
  CAF_CHECK_EQUAL(fingerprint_of(a), fingerprint_of(key_store::open(folder / "a", now)));
}

CAF_TEST(starts at the same moment end with the same keys) {
  const temp_folder folder;
  std::vector<std::optional<key_store>> opened(4);
  std::vector<std::thread> threads;
  // Threads share a process id, so their temporary names collide as well: the worst case.
  for (auto& o : opened)
    threads.emplace_back([&] {
      for (int attempt = 0; attempt < 50 && !o; ++attempt) {
        try {
          o = key_store::open(folder / "data", now);
        } catch (const key_store_error&) { // another thread writes the keys: give it time to run
          std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& o : opened) {
    CAF_REQUIRE(o.has_value());
    CAF_CHECK(same(*o, *opened.front()));
  }
}

CAF_TEST(a key file open to others is refused with the remedy) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path(), now));
  const auto file = folder / "keys" / "customer.jwk";
  ::chmod(file.c_str(), 0640);
  CAF_CHECK(contains(error_of(folder.path()), "chmod 600"));
  ::chmod(file.c_str(), 0600);
  CAF_CHECK_EQUAL(error_of(folder.path()), "");
}

CAF_TEST(a malformed key file is refused by name and without its content) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path(), now));
  const auto jwk = folder / "keys" / "ticket.jwk";
  const auto good = read(jwk);
  const std::string k = R"("k":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})";
  const std::vector<std::string> bad{
    "",
    "{}",
    "not json",
    "[]",
    std::string(5000, ' '),
    R"({"kty":"oct","alg":"HS512","use":"sig","kid":"a",)" + k,
    R"({"kty":"oct","alg":"HS256","use":"sig","kid":"a","k":"AAAA"})",
    R"({"kty":"oct","alg":"HS256","use":"sig","kid":"a b",)" + k,
    R"({"kty":"oct","alg":"HS256","use":"sig",)" + k,
  };
  for (const auto& text : bad) {
    overwrite(jwk, text);
    CAF_CHECK(contains(error_of(folder.path()), "ticket.jwk"));
  }
  overwrite(jwk, good);
  overwrite(folder / "keys" / "session.key", "abcd");
  CAF_CHECK(contains(error_of(folder.path()), "session.key"));
}

CAF_TEST(one key for two kinds of token is refused) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path(), now));
  overwrite(folder / "keys" / "ticket.jwk", read(folder / "keys" / "customer.jwk"));
  CAF_CHECK(contains(error_of(folder.path()), "share a key"));
}

CAF_TEST(a symbolic link in place of a key is refused) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path(), now));
  const auto file = folder / "keys" / "session.key";
  std::filesystem::rename(file, folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", file);
  CAF_CHECK(contains(error_of(folder.path()), "cannot open"));
}

// -- rotation

namespace {

/// One data folder and the hours after its first start.
struct rotating {
  temp_folder folder;
  key_store first = key_store::open(folder.path(), now);

  key_store at(timestamp t) const { return key_store::open(folder.path(), t); }
  std::filesystem::path rotate(std::string_view kind, timestamp t, milliseconds delay = key_delay,
                               older_keys older = older_keys::verify) const {
    return rotate_key(folder.path(), kind, t, t + delay, {}, older);
  }
  std::string problem_of_rotating(std::string_view kind, timestamp t) const {
    try {
      rotate(kind, t);
      return {};
    } catch (const key_store_error& e) { return e.what(); }
  }
};

/// Texts that are equal for equal keys of a kind, in their order.
std::vector<std::string> keys_of(const key_store& keys, std::string_view kind) {
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<signing_key>& list) {
    for (const auto& k : list) texts.push_back(k.kid + to_hex(k.secret.bytes()));
  };
  if (kind == "organizer") add(keys.organizer);
  if (kind == "customer") add(keys.customer);
  if (kind == "ticket") add(keys.ticket);
  if (kind == "operator") add(keys.operate);
  if (kind == "passes") return keys.passes;
  if (kind == "session" || kind == "sandbox")
    for (const auto& k : kind == "session" ? keys.session : keys.sandbox) texts.push_back(to_hex(k.bytes()));
  return texts;
}

milliseconds life_of(std::string_view kind) {
  if (kind == "operator" || kind == "sandbox") return hour;
  if (kind == "ticket") return 7 * day;
  return kind == "session" || kind == "passes" ? 48 * hour : 24 * hour;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(rotation_tests, rotating)

CAF_TEST(a new key of every kind verifies at once signs after the delay and the old one ends after its life) {
  using texts = std::vector<std::string>;
  const auto signs_from = now + key_delay;
  for (const auto kind : all_key_kinds) {
    const auto old = keys_of(first, kind).front();
    const auto file = rotate(kind, now);
    CAF_CHECK_EQUAL(mode_of(file), mode_t{0600});
    CAF_CHECK_EQUAL(mode_of(file.parent_path()), mode_t{0700});
    const auto early = at(now);
    CAF_REQUIRE_EQUAL(keys_of(early, kind).size(), 2u);
    const auto fresh = keys_of(early, kind).back();
    CAF_CHECK_EQUAL(keys_of(early, kind), (texts{old, fresh}));
    CAF_CHECK_EQUAL(keys_of(at(signs_from - milliseconds{1}), kind), (texts{old, fresh}));
    CAF_CHECK_EQUAL(keys_of(at(signs_from), kind), (texts{fresh, old}));
    const auto end = signs_from + life_of(kind) + key_end_slack;
    CAF_CHECK_EQUAL(keys_of(at(end - milliseconds{1}), kind), (texts{fresh, old}));
    CAF_CHECK_EQUAL(keys_of(at(end), kind), texts{fresh});
  }
}

CAF_TEST(after a shorter life a key verifies all that it signed before) {
  const key_lives longer{.person = 10 * day}, shorter{.person = hour}, shortest{.person = minute};
  const auto valid = [&](timestamp t, const key_lives& lives) {
    return key_store::open(folder.path(), t, lives).customer.size();
  };
  CAF_CHECK(note_lives(folder.path(), now, longer));
  const auto lowered = now + day;
  CAF_CHECK(note_lives(folder.path(), lowered, shorter));
  CAF_CHECK(note_lives(folder.path(), lowered + hour, shorter)); // the same after a restart
  CAF_CHECK_EQUAL(mode_of(folder / "key_lives"), mode_t{0600});
  rotate_key(folder.path(), "customer", lowered + hour, lowered + hour, shorter, older_keys::verify);
  const auto end = lowered + longer.person + key_end_slack;
  CAF_CHECK_EQUAL(valid(end - milliseconds{1}, shorter), 2u);
  CAF_CHECK_EQUAL(valid(end, shorter), 1u);
  // Lowered again: the life in between counts from then on.
  const auto again = end - minute;
  CAF_CHECK(note_lives(folder.path(), again, shortest));
  rotate_key(folder.path(), "customer", again, again, shortest, older_keys::verify);
  CAF_CHECK_EQUAL(valid(again + hour + key_end_slack - milliseconds{1}, shortest), 2u);
  CAF_CHECK_EQUAL(valid(again + hour + key_end_slack, shortest), 1u);
}

CAF_TEST(the time of the next change is known) {
  CAF_CHECK(first.changes_at == timestamp::max());
  rotate("operator", now);
  CAF_CHECK(at(now).changes_at == now + key_delay);
  CAF_CHECK(at(now + key_delay).changes_at == now + key_delay + 2 * hour);
  CAF_CHECK(at(now + key_delay + 2 * hour).changes_at == timestamp::max());
}

CAF_TEST(two rotations at once sign one after the other and the files of ended keys go) {
  rotate("operator", now);
  rotate("operator", now);
  CAF_CHECK_EQUAL(at(now).operate.size(), 3u);
  const auto later = now + day;
  const auto last = at(later);
  CAF_CHECK_EQUAL(last.operate.size(), 1u);
  CAF_CHECK_EQUAL(last.ended.size(), 2u);
  remove_ended(last);
  CAF_CHECK(!std::filesystem::exists(folder / "keys" / "operator.jwk"));
  CAF_CHECK(at(later).ended.empty());
  CAF_CHECK(same(last, at(later))); // the first key is not made again
}

CAF_TEST(there are at most sixteen keys of a kind and the refusal names the remedy) {
  for (std::size_t i = 1; i < keys_of_kind_max; ++i) CAF_CHECK_EQUAL(problem_of_rotating("ticket", now), "");
  CAF_CHECK(contains(problem_of_rotating("ticket", now), "--end-old"));
  CAF_CHECK_EQUAL(at(now).ticket.size(), keys_of_kind_max);
  CAF_CHECK_EQUAL(problem_of_rotating("ticket", now + 8 * day), "");
  rotate("ticket", now + 8 * day, milliseconds{0}, older_keys::end);
  CAF_CHECK_EQUAL(at(now + 8 * day).ticket.size(), 1u);
}

CAF_TEST(after a leak the older keys end at once) {
  rotate("customer", now);
  const auto before = at(now);
  const auto file = rotate("customer", now, milliseconds{0}, older_keys::end);
  const auto after = at(now);
  CAF_REQUIRE_EQUAL(after.customer.size(), 1u);
  for (const auto& k : before.customer) CAF_CHECK(k.kid != after.customer.front().kid);
  CAF_CHECK(contains(read(file), after.customer.front().kid));
  CAF_CHECK(!std::filesystem::exists(folder / "keys" / "customer.jwk"));
}

CAF_TEST(no rotation changes what is stored) {
  for (const auto kind : all_key_kinds) rotate(kind, now, milliseconds{0}, older_keys::end);
  CAF_CHECK(constant_time_equal(first.stored.bytes(), at(now + day).stored.bytes()));
  CAF_CHECK_EQUAL(fingerprint_of(first), fingerprint_of(at(now + day)));
}

CAF_TEST(a folder of before takes its session key for what is stored and later needs the file) {
  std::filesystem::remove(folder / "keys" / "stored.key");
  rotate("session", now, milliseconds{0});
  CAF_CHECK(constant_time_equal(at(now).stored.bytes(), first.session.front().bytes()));
  CAF_CHECK(!constant_time_equal(first.stored.bytes(), first.session.front().bytes()));
  remove_ended(at(now + 4 * day));
  std::filesystem::remove(folder / "keys" / "stored.key");
  CAF_CHECK(contains(error_of(folder.path()), "stored.key: is missing"));
}

CAF_TEST(a rotated key is refused like a first one if anything about it is off) {
  const auto file = rotate("customer", now);
  ::chmod(file.c_str(), 0640);
  CAF_CHECK(contains(error_of(folder.path()), "chmod 600"));
  ::chmod(file.c_str(), 0600);
  const auto elsewhere = folder / "elsewhere";
  std::filesystem::rename(file, elsewhere);
  std::filesystem::create_symlink(elsewhere, file);
  CAF_CHECK(contains(error_of(folder.path()), "cannot open"));
  std::filesystem::remove(file);
  overwrite(file, read(folder / "keys" / "ticket.jwk"));
  ::chmod(file.c_str(), 0600);
  CAF_CHECK(contains(error_of(folder.path()), "share a key"));
  std::filesystem::remove(file);
  overwrite(file.parent_path() / "newest.jwk", read(elsewhere));
  CAF_CHECK(contains(error_of(folder.path()), "13 digits"));
  std::filesystem::remove_all(file.parent_path());
  std::filesystem::create_directory_symlink(folder.path(), file.parent_path());
  CAF_CHECK(contains(error_of(folder.path()), "is not a folder"));
}

CAF_TEST_FIXTURE_SCOPE_END()
