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

std::string read(const std::filesystem::path& p) {
  std::ifstream in{p};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void overwrite(const std::filesystem::path& p, const std::string& text) { std::ofstream{p} << text; }

std::string error_of(const std::filesystem::path& data_dir) {
  try {
    static_cast<void>(key_store::open(data_dir));
    return {};
  } catch (const key_store_error& e) { return e.what(); }
}

bool same(const key_store& a, const key_store& b) {
  return a.organizer.kid == b.organizer.kid
         && constant_time_equal(a.customer.secret.bytes(), b.customer.secret.bytes())
         && constant_time_equal(a.session.bytes(), b.session.bytes())
         && constant_time_equal(a.sandbox.bytes(), b.sandbox.bytes());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

CAF_TEST(the first start creates private keys and the second loads them) {
  const temp_folder folder;
  const auto data = folder / "data";
  const auto first = key_store::open(data);
  CAF_CHECK_EQUAL(mode_of(data / "keys"), mode_t{0700});
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{data / "keys"}) {
    CAF_CHECK_EQUAL(mode_of(entry.path()), mode_t{0600});
    ++files;
  }
  CAF_CHECK_EQUAL(files, 6);
  CAF_CHECK(same(first, key_store::open(data)));
  CAF_CHECK_EQUAL(read(data / "keys" / "session.key"), to_hex(first.session.bytes()) + "\n");
}

CAF_TEST(two data folders share no key) {
  const temp_folder folder;
  const auto a = key_store::open(folder / "a");
  const auto b = key_store::open(folder / "b");
  CAF_CHECK(a.organizer.kid != b.organizer.kid);
  CAF_CHECK(!constant_time_equal(a.session.bytes(), b.session.bytes()));
  CAF_CHECK(!constant_time_equal(a.organizer.secret.bytes(), a.customer.secret.bytes()));
  CAF_CHECK(fingerprint_of(a) != fingerprint_of(b));
  CAF_CHECK_EQUAL(fingerprint_of(a), fingerprint_of(key_store::open(folder / "a")));
  auto other = a; // every key counts
  other.sandbox = b.sandbox;
  CAF_CHECK(fingerprint_of(a) != fingerprint_of(other));
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
          o = key_store::open(folder / "data");
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
  static_cast<void>(key_store::open(folder.path()));
  const auto file = folder / "keys" / "customer.jwk";
  ::chmod(file.c_str(), 0640);
  CAF_CHECK(contains(error_of(folder.path()), "chmod 600"));
  ::chmod(file.c_str(), 0600);
  CAF_CHECK_EQUAL(error_of(folder.path()), "");
}

CAF_TEST(a malformed key file is refused by name and without its content) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path()));
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
  static_cast<void>(key_store::open(folder.path()));
  overwrite(folder / "keys" / "ticket.jwk", read(folder / "keys" / "customer.jwk"));
  CAF_CHECK(contains(error_of(folder.path()), "share a key"));
}

CAF_TEST(a symbolic link in place of a key is refused) {
  const temp_folder folder;
  static_cast<void>(key_store::open(folder.path()));
  const auto file = folder / "keys" / "session.key";
  std::filesystem::rename(file, folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", file);
  CAF_CHECK(contains(error_of(folder.path()), "cannot open"));
}
