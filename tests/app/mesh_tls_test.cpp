// SPDX-License-Identifier: Apache-2.0
// The files of mutual TLS between nodes, read anew while connections last or a handshake is under way.
#define CAF_SUITE mesh_tls
#include "caf/test/unit_test.hpp"

#include "app/mesh_door.hpp"
#include "app/mesh_tls.hpp"
#include "app/system_environment.hpp"
#include "crypto/node_certificates.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <openssl/pem.h>

#include <stdlib.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>

using namespace fq;
using boost::asio::ip::tcp;

namespace {

constexpr seconds day{86'400};

peer_certificate read(const std::string& pem) {
  const bio_ptr text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  return {"", {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free}};
}

/// A node's side of a handshake, whose bytes the test carries.
class client {
public:
  client(const std::filesystem::path& folder, std::uint16_t port) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    CAF_REQUIRE_EQUAL(
      SSL_CTX_use_certificate_file(context_.get(), (folder / "b.pem").c_str(), SSL_FILETYPE_PEM), 1);
    CAF_REQUIRE_EQUAL(
      SSL_CTX_use_PrivateKey_file(context_.get(), (folder / "b.key").c_str(), SSL_FILETYPE_PEM), 1);
    session_.reset(SSL_new(context_.get()));
    SSL_set_bio(session_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(session_.get());
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }
  /// Sends the first flight and waits for the answer: the port's handshake is under way.
  void begin() {
    CAF_REQUIRE_EQUAL(SSL_do_handshake(session_.get()), -1);
    send();
    while (SSL_do_handshake(session_.get()) != 1) CAF_REQUIRE(receive());
  }
  void finish() { send(); }
  /// Waits until the port has closed the connection.
  void wait_for_end() {
    while (receive()) {}
  }

private:
  void send() {
    char* bytes = nullptr;
    auto* out = SSL_get_wbio(session_.get());
    const auto size = BIO_get_mem_data(out, &bytes);
    boost::asio::write(socket_, boost::asio::buffer(bytes, static_cast<std::size_t>(size)));
    static_cast<void>(BIO_reset(out));
  }
  bool receive() {
    std::array<char, 4096> part;
    boost::system::error_code ended;
    const auto size = socket_.read_some(boost::asio::buffer(part), ended);
    if (!ended) BIO_write(SSL_get_rbio(session_.get()), part.data(), static_cast<int>(size));
    return !ended;
  }

  boost::asio::io_context io_;
  tcp::socket socket_{io_};
  std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>> context_;
  ssl_session session_;
};

struct fixture {
  system_environment env; // OpenSSL compares certificates with the machine's clock
  std::filesystem::path folder;
  certificate_and_key authority = make_authority(env.wall_now(), 3650 * day), other = authority;
  certificate_and_key a = issue_certificate(authority, "a", env.wall_now(), 90 * day);
  certificate_and_key b = issue_certificate(authority, "b", env.wall_now(), 90 * day), of_other = b;
  config::cluster_options options;

  fixture() {
    other = make_authority(env.wall_now(), 3650 * day);
    of_other = issue_certificate(other, "b", env.wall_now(), 90 * day);
    auto pattern = (std::filesystem::temp_directory_path() / "fq-mesh-XXXXXX").string();
    CAF_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    options.certificate = write("a.pem", a.certificate);
    options.key = write("a.key", a.key);
    options.ca = write("ca.pem", authority.certificate);
    options.revoked = write("revoked.pem", revoking(authority, ""));
    write("b.pem", b.certificate);
    write("b.key", b.key);
  }
  ~fixture() { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream{folder / name, std::ios::binary} << text;
    return folder / name;
  }
  std::string revoking(const certificate_and_key& by, const std::string& certificate) {
    return sign_revocations(by, "", certificate, env.wall_now());
  }
  /// Why the files are refused; empty: they are in use.
  static std::string reload(mesh_tls& tls) {
    try {
      tls.reload();
      return {};
    } catch (const std::runtime_error& e) { return e.what(); }
  }
  /// What the port passes on if `change` is read anew during b's handshake.
  std::size_t passed_after(const std::function<void()>& change) {
    mesh_tls tls{options, "a", env};
    mesh_links links;
    std::atomic<std::size_t> passed{0};
    mesh_door door{{"127.0.0.1", 0}, &tls, links, env};
    door.open([&](const mesh_socket&) { ++passed; }); // whose end closes it
    client peer{folder, door.port()};
    peer.begin();
    change();
    CAF_REQUIRE_EQUAL(reload(tls), "");
    peer.finish();
    peer.wait_for_end();
    return passed;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_tls_tests, fixture)

CAF_TEST(a certificate counts while its authority is in the bundle and no list names it) {
  write("ca.pem", authority.certificate + other.certificate);
  mesh_tls tls{options, "a", env};
  CAF_CHECK(tls.accepts(read(b.certificate)));
  CAF_CHECK(tls.accepts(read(of_other.certificate)));
  CAF_CHECK_EQUAL(tls.revoked(), 0u);
  write("ca.pem", authority.certificate);
  CAF_REQUIRE_EQUAL(reload(tls), "");
  CAF_CHECK(tls.accepts(read(b.certificate)));
  CAF_CHECK(!tls.accepts(read(of_other.certificate)));
  write("revoked.pem", revoking(authority, b.certificate));
  CAF_REQUIRE_EQUAL(reload(tls), "");
  CAF_CHECK(!tls.accepts(read(b.certificate)));
  CAF_CHECK_EQUAL(tls.revoked(), 1u);
}

CAF_TEST(a connection may last longer than its certificate) {
  const mesh_tls tls{options, "a", env};
  CAF_CHECK(tls.accepts(read(issue_certificate(authority, "b", env.wall_now() - 90 * day, day).certificate)));
}

CAF_TEST(a file that is cut off is refused and the one in use stays) {
  write("ca.pem", authority.certificate + other.certificate);
  const auto lists = revoking(authority, b.certificate) + revoking(other, of_other.certificate);
  write("revoked.pem", lists);
  mesh_tls tls{options, "a", env};
  const auto second = lists.rfind("-----BEGIN");
  for (auto size = second + 1; size + 1 < lists.size(); ++size) {
    write("revoked.pem", lists.substr(0, size));
    CAF_REQUIRE_NOT_EQUAL(reload(tls), "");
  }
  CAF_CHECK(!tls.accepts(read(of_other.certificate)));
  CAF_CHECK_EQUAL(tls.revoked(), 2u);
  auto broken = lists;
  broken[second + 60] = '!';
  write("revoked.pem", broken);
  CAF_CHECK_NOT_EQUAL(reload(tls), "");
  write("revoked.pem", lists + "\n");
  CAF_CHECK_EQUAL(reload(tls), "");
  write("ca.pem", authority.certificate + other.certificate.substr(0, 20));
  CAF_CHECK_NOT_EQUAL(reload(tls), "");
  CAF_CHECK(tls.accepts(read(b.certificate)) == false && tls.revoked() == 2);
}

CAF_TEST(what is withdrawn during a handshake gets no connection) {
  CAF_CHECK_EQUAL(passed_after([] {}), 1u);
  CAF_CHECK_EQUAL(passed_after([&] { write("revoked.pem", revoking(authority, b.certificate)); }), 0u);
  write("revoked.pem", revoking(authority, ""));
  write("ca.pem", authority.certificate + other.certificate);
  CAF_CHECK_EQUAL(passed_after([&] {
                    write("revoked.pem", revoking(other, ""));
                    write("ca.pem", other.certificate);
                  }),
                  0u);
}

CAF_TEST_FIXTURE_SCOPE_END()
