// SPDX-License-Identifier: Apache-2.0
// The TLS listener over real sockets with OpenSSL at the client: the same sessions and WebSockets as without
// TLS, handshake parameters, limits, resumption, reloaded certificates.
#define CAF_SUITE net_tls
#include "caf/test/unit_test.hpp"

#include "net/http/ticket_keys.hpp"
#include "tests/net/server/client.hpp"
#include "tests/net/server/site.hpp"
#include "tests/net/server/tls_client.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fcntl.h>
#include <poll.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <memory>
#include <thread>

namespace tls_test {

using namespace fq;
using namespace fq::net;
using fake::certificate_folder;
using fake::client;
using fake::eventually;
using fake::held_clock;
using fake::hello;
using fake::tls_client;
using fake::world;

namespace {
constexpr std::string_view incomplete_hello{"\x16\x03\x01\x02\x00\x01\x00", 7};
} // namespace

CAF_TEST(a request over TLS is answered and only there with strict transport security) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port(), {.alpn = "\x02h2\x08http/1.1"}};
  CAF_REQUIRE(c.through());
  CAF_CHECK_EQUAL(c.alpn(), "http/1.1");
  for (int i = 0; i < 3; ++i) {
    const auto r = c.get("/constant");
    CAF_CHECK_EQUAL(r.status, 200u);
    CAF_CHECK(r.has("Strict-Transport-Security: max-age=31536000\r\n"));
  }
  client plain{w.server.public_port()};
  const auto r = plain.get("/constant");
  CAF_CHECK_EQUAL(r.status, 200u);
  CAF_CHECK(!r.has("Strict-Transport-Security"));
  CAF_CHECK_EQUAL(w.tls->counts.full.load(), 1u);
}

CAF_TEST(strict transport security can be left out) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.hsts = milliseconds{0};
  world w{fake::test_site(), o};
  tls_client c{w.server.tls_port()};
  CAF_CHECK(!c.get("/constant").has("Strict-Transport-Security"));
}

CAF_TEST(what is larger than a record and what comes in single bytes arrives whole) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port()};
  std::string large(200'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 26);
  CAF_CHECK(c.ask("POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + large).body == large);
  for (const char byte : std::string_view{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"})
    CAF_REQUIRE(c.send({&byte, 1}));
  CAF_CHECK_EQUAL(c.read().body, "abc");
}

CAF_TEST(ten thousand pipelined requests in one write are answered over TLS) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port()};
  std::string requests;
  for (int i = 0; i < 10'000; ++i) requests += "GET /constant HTTP/1.1\r\nHost: a\r\n\r\n";
  c.send(requests); // 0.4 MB: the kernel buffers it while the client does not read
  int answered = 0;
  while (answered < 10'000 && c.read().status == 200) ++answered;
  CAF_CHECK_EQUAL(answered, 10'000);
}

CAF_TEST(an answer of megabytes reaches who reads slowly) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port(), {.receive_buffer = 4096}};
  c.send("GET /large/3000000 HTTP/1.1\r\nHost: a\r\n\r\n");
  std::this_thread::sleep_for(milliseconds{300}); // the server's socket buffer is full now
  const auto r = c.read();
  CAF_CHECK_EQUAL(r.body.size(), 3'000'000u);
  CAF_CHECK(r.body.find_first_not_of('x') == std::string::npos);
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

CAF_TEST(the end of a connection is said) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port()};
  CAF_CHECK_EQUAL(c.ask("GET /constant HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").status, 200u);
  CAF_CHECK(c.ended());
  CAF_CHECK(c.was_told_the_end());
  tls_client broken{w.server.tls_port()};
  CAF_CHECK_EQUAL(broken.ask("GET / HTTP/1.1\r\n\r\n").status, 400u);
  CAF_CHECK(broken.ended());
  CAF_CHECK(broken.was_told_the_end());
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(a WebSocket over TLS gets its state and its news and an orderly end) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port()};
  CAF_REQUIRE_EQUAL(c.open_socket(1000).status, 101u);
  CAF_CHECK(c.read_frame().payload.find("\"state\"") != std::string::npos);
  w.order(timer_kind::admission, 1);
  CAF_CHECK(c.read_frame().payload.find("admission_token") != std::string::npos);
  c.send_frame(0x89, "hi");
  CAF_CHECK_EQUAL(c.read_frame().opcode, 10u);
  c.send_frame(0x88, std::string{"\x03\xe8", 2});
  CAF_CHECK_EQUAL(c.read_frame().close_code(), 1000u);
  CAF_CHECK(c.ended());
  CAF_CHECK(c.was_told_the_end());
}

CAF_TEST(only TLS 1.2 and 1.3 and only HTTP 1.1 are spoken) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  CAF_CHECK(tls_client(w.server.tls_port(), {.version = TLS1_2_VERSION}).through());
  CAF_CHECK(tls_client(w.server.tls_port(), {.version = TLS1_3_VERSION}).through());
  CAF_CHECK(!tls_client(w.server.tls_port(), {.version = TLS1_1_VERSION}).through());
  CAF_CHECK(!tls_client(w.server.tls_port(), {.alpn = "\x02h2"}).through());
  CAF_CHECK(tls_client(w.server.tls_port(), {.alpn = "\x08http/1.1"}).through());
  CAF_CHECK_EQUAL(w.tls->counts.failed.load(), 2u);
}

CAF_TEST(who speaks HTTP without TLS is told so) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  client c{w.server.tls_port()};
  const auto r = c.get("/constant");
  CAF_CHECK_EQUAL(r.status, 400u);
  CAF_CHECK_EQUAL(r.body, "This port speaks TLS only.\n");
  CAF_CHECK(c.ended());
  client noise{w.server.tls_port()};
  noise.send("what is this\r\n\r\n");
  CAF_CHECK(eventually([&] { return w.tls->counts.failed == 2; }));
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
  CAF_CHECK_EQUAL(w.tls->counts.pending.load(), 0);
}

CAF_TEST(a handshake that takes too long is ended) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.handshake_timeout = milliseconds{600};
  world w{fake::test_site(), o};
  client silent{w.server.tls_port()};
  client begun{w.server.tls_port()};
  begun.send(incomplete_hello);
  CAF_CHECK(eventually([&] { return w.state.connections_accepted == 2; }));
  CAF_CHECK(silent.ended());
  CAF_CHECK(begun.ended());
  CAF_CHECK(eventually([&] { return w.tls->counts.late == 2; }));
  CAF_CHECK(eventually([&] { return w.tls->counts.pending == 0 && w.state.connections == 0; }));
}

CAF_TEST(beyond the bound a newcomer waits until a silent handshake has made room) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.handshakes_max = 2;
  world w{fake::test_site(), o};
  held_clock held{w};
  client first{w.server.tls_port()}, second{w.server.tls_port()};
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 2; }));
  CAF_CHECK(held.pass(milliseconds{999}));
  std::unique_ptr<tls_client> third;
  std::atomic<bool> has_ended{false};
  std::thread newcomer{[&] {
    third = std::make_unique<tls_client>(w.server.tls_port());
    has_ended = true;
  }};
  CAF_CHECK(!eventually([&] { return has_ended.load(); }, 200)); // the listener tries every 50 ms
  w.clock.advance(milliseconds{1}); // silent for a second: long before the handshake's deadline
  newcomer.join();
  CAF_CHECK(third->through());
  CAF_CHECK_EQUAL(third->get("/constant").status, 200u);
  CAF_CHECK_EQUAL(w.tls->counts.late.load(), 1u);
  CAF_CHECK(first.ended());
}

CAF_TEST(room is made by the address that has the most handshakes) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.handshakes_max = 3;
  world w{fake::test_site(), o};
  held_clock held{w};
  client slow{w.server.tls_port(), 0, "127.0.0.3"}; // the oldest, and silent
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 1; }));
  client one{w.server.tls_port(), 0, "127.0.0.2"}, other{w.server.tls_port(), 0, "127.0.0.2"};
  CAF_CHECK(one.send(incomplete_hello) && other.send(incomplete_hello));
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 3; }));
  CAF_CHECK(held.pass(milliseconds{2'000}));
  CAF_CHECK(one.send({"\0", 1}) && other.send({"\0", 1})); // both go on
  CAF_CHECK(held.settle());
  tls_client newcomer{w.server.tls_port()};
  CAF_CHECK(newcomer.through());
  CAF_CHECK_EQUAL(w.tls->counts.late.load(), 1u);
  CAF_CHECK(!slow.was_closed());
  CAF_CHECK(eventually([&] { return one.was_closed() || other.was_closed(); }));
}

CAF_TEST(silent is who was not heard for a second and not who began long ago) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.handshakes_max = 2;
  world w{fake::test_site(), o};
  held_clock held{w};
  client goes_on{w.server.tls_port()};
  CAF_CHECK(goes_on.send(incomplete_hello));
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 1; }));
  CAF_CHECK(held.pass(milliseconds{1'500})); // so that it could be closed before the other
  client silent{w.server.tls_port()};
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 2; }));
  CAF_CHECK(held.pass(milliseconds{1'500}));
  CAF_CHECK(goes_on.send({"\0", 1}));
  CAF_CHECK(held.settle());
  tls_client newcomer{w.server.tls_port()};
  CAF_CHECK(newcomer.through());
  CAF_CHECK_EQUAL(w.tls->counts.late.load(), 1u);
  CAF_CHECK(silent.was_closed());
  CAF_CHECK(!goes_on.was_closed());
}

CAF_TEST(what was refused while more had come waits for the end without work) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client c{w.server.tls_port()};
  // one record, of which a session reads a part at a time
  c.send("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 99000\r\n\r\n" + std::string(15'000, 'x'));
  CAF_CHECK_EQUAL(c.read().status, 413u);
  const auto worked = std::clock(); // of all threads of this process
  std::this_thread::sleep_for(milliseconds{1'000});
  CAF_CHECK(std::clock() - worked < CLOCKS_PER_SEC / 2);
  CAF_CHECK(c.ended());
  CAF_CHECK(c.was_told_the_end());
}

/// Reads raw input until its end.
struct skipping {
  stream& from;
  int runs = 0;
  bool at_end = false;

  void wait() { from.wait_readable<&skipping::on_readable>(this); }
  void on_readable() {
    ++runs;
    char scratch[1024];
    at_end = from.skip(scratch, sizeof scratch) == 0;
    if (!at_end) wait();
  }
  friend void intrusive_ptr_add_ref(skipping*) {}
  friend void intrusive_ptr_release(skipping*) {}
};

CAF_TEST(after our goodbye only the socket itself wakes who waits to read) {
  const certificate_folder files;
  const auto o = files.options();
  fake::environment clock;
  tls_server ours{o.tls, clock};
  boost::asio::io_context io{1};
  boost::asio::ip::tcp::acceptor door{io, {boost::asio::ip::address_v4::loopback(), 0}};
  std::unique_ptr<tls_client> c;
  std::thread connecting{
    [&, port = door.local_endpoint().port()] { c = std::make_unique<tls_client>(port); }};
  const int socket = door.accept().release();
  auto ssl = ours.begin(socket);
  CAF_CHECK_EQUAL(SSL_do_handshake(ssl.get()), 1);
  connecting.join();
  CAF_REQUIRE(c->through());
  ::fcntl(socket, F_SETFL, O_NONBLOCK);
  ready_set ready{io};
  stream s{ready_socket{ready, socket}, std::move(ssl)};
  c->send(std::string(8'192, 'x'));
  char some[100];
  CAF_REQUIRE(eventually([&] { return s.receive(some, sizeof some) == 100; }));
  CAF_CHECK(s.has_input()); // the rest of the record
  s.shutdown_send();
  skipping who{s};
  who.wait();
  for (int i = 0; i < 1'000; ++i) io.poll_one();
  CAF_CHECK(who.runs < 10);
  c.reset();
  CAF_CHECK(eventually([&] { return io.poll(), who.at_end; }));
}

CAF_TEST(who comes back resumes also when certificates were read anew) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const certificate_folder files;
    world w{fake::test_site(), files.options()};
    tls_client before{w.server.tls_port(), {.version = version}};
    CAF_REQUIRE_EQUAL(before.get("/constant").status, 200u);
    CAF_CHECK(!before.resumed());
    const auto ticket = before.session();
    tls_client again{w.server.tls_port(), {.version = version, .resume = ticket.get()}};
    CAF_CHECK(again.resumed());
    CAF_CHECK_EQUAL(again.get("/constant").status, 200u);
    const auto next = again.session();
    w.tls->reload();
    tls_client later{w.server.tls_port(), {.version = version, .resume = next.get()}};
    CAF_CHECK(later.resumed());
    CAF_CHECK_EQUAL(later.get("/constant").status, 200u);
    CAF_CHECK_EQUAL(w.tls->counts.full.load(), 1u);
    CAF_CHECK_EQUAL(w.tls->counts.resumed.load(), 2u);
    // Hours later the key is deleted: a full handshake, no error.
    w.clock.advance(ticket_keys::opens_for);
    CAF_CHECK(before.ended()); // idle for too long: the io thread has the new time
    tls_client stale{w.server.tls_port(), {.version = version, .resume = next.get()}};
    CAF_CHECK(stale.through());
    CAF_CHECK(!stale.resumed());
  }
}

CAF_TEST(keys of tickets seal for an hour and open for three) {
  fake::environment clock;
  ticket_keys keys{clock};
  const auto first = keys.sealing();
  CAF_CHECK(keys.sealing().name == first.name);
  CAF_CHECK(!keys.opening(first.name)->is_old);
  clock.advance(ticket_keys::seals_for);
  const auto second = keys.sealing();
  CAF_CHECK(second.name != first.name);
  CAF_CHECK(second.cipher != first.cipher);
  CAF_CHECK(second.mac != first.mac);
  CAF_CHECK(keys.opening(first.name)->is_old);
  CAF_CHECK(keys.opening(first.name)->key.cipher == first.cipher);
  clock.advance(ticket_keys::opens_for - ticket_keys::seals_for - milliseconds{1'000});
  CAF_CHECK(keys.opening(first.name));
  clock.advance(milliseconds{1'000});
  CAF_CHECK(!keys.opening(first.name));
  CAF_CHECK(keys.opening(second.name));
  clock.advance(100 * ticket_keys::opens_for);
  CAF_CHECK(!keys.opening(second.name));
}

CAF_TEST(new connections get the new certificate and old ones go on) {
  const certificate_folder files;
  world w{fake::test_site(), files.options()};
  tls_client before{w.server.tls_port()};
  CAF_CHECK_EQUAL(before.server_name(), "first");
  files.write("second", 0, 30);
  w.tls->reload();
  tls_client after{w.server.tls_port()};
  CAF_CHECK_EQUAL(after.server_name(), "second");
  CAF_CHECK_EQUAL(before.get("/constant").status, 200u);
  CAF_CHECK_EQUAL(after.get("/constant").status, 200u);
  CAF_CHECK_EQUAL(w.tls->facts().name, "CN=second");
  CAF_CHECK_EQUAL(w.tls->counts.reloads.load(), 1u);
}

CAF_TEST(a certificate that cannot be used is refused with the reason and the old one stays) {
  const certificate_folder files, other{"other"};
  world w{fake::test_site(), files.options()};
  const auto why = [&]() -> std::string {
    try {
      w.tls->reload();
    } catch (const std::runtime_error& e) { return e.what(); }
    return {};
  };
  const auto holds = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  std::filesystem::copy_file(other.key(), files.key(), std::filesystem::copy_options::overwrite_existing);
  CAF_CHECK(holds(why(), "key values mismatch"));
  files.spoil(files.key(), "");
  CAF_CHECK(holds(why(), "tls.key"));
  files.spoil(files.certificate(), "-----BEGIN CERTIFICATE-----\nMIIB");
  CAF_CHECK(holds(why(), "tls.certificate"));
  std::filesystem::remove(files.certificate());
  CAF_CHECK(holds(why(), files.certificate().string()));
  files.write("expired", -30, -1);
  CAF_CHECK(holds(why(), "it has expired"));
  CAF_CHECK_EQUAL(tls_client(w.server.tls_port()).server_name(), "first");
  CAF_CHECK_EQUAL(w.tls->counts.reloads_refused.load(), 5u);
  files.write("good", 0, 30);
  CAF_CHECK_EQUAL(why(), "");
  CAF_CHECK_EQUAL(tls_client(w.server.tls_port()).server_name(), "good");
}

CAF_TEST(a key of another algorithm than the certificate is refused at the start and later) {
  const certificate_folder files, other{"other"};
  other.write("other", 0, 90, true);
  world w{fake::test_site(), files.options()};
  const auto why = [](auto act) -> std::string {
    try {
      act();
    } catch (const std::runtime_error& e) { return e.what(); }
    return {};
  };
  for (const bool key_is_the_other :
       {true, false}) { // an RSA key with a chain for EC, then an EC key with a chain for RSA
    files.write("fresh", 0, 90);
    const auto from = key_is_the_other ? other.key() : other.certificate(),
               to = key_is_the_other ? files.key() : files.certificate();
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    const auto o = files.options();
    for (const auto& text : {why([&] { w.tls->reload(); }), why([&] { tls_server{o.tls, w.clock}; })})
      CAF_CHECK(text.find("tls.key") != std::string::npos
                && text.find("of another algorithm") != std::string::npos);
    CAF_CHECK_EQUAL(tls_client(w.server.tls_port()).server_name(), "first");
  }
  CAF_CHECK_EQUAL(w.tls->counts.reloads_refused.load(), 2u);
  files.write("rsa", 0, 90, true);
  CAF_CHECK_EQUAL(why([&] { w.tls->reload(); }), "");
  CAF_CHECK_EQUAL(tls_client(w.server.tls_port()).server_name(), "rsa");
}

CAF_TEST(a certificate is to be renewed when two weeks or a sixth of its life are left) {
  const timestamp made = from_unix_ms(1'700'000'000'000);
  const auto day = std::chrono::days{1};
  const certificate_facts ninety{"", made, made + 90 * day}, six{"", made, made + 6 * day};
  CAF_CHECK(!should_be_renewed(ninety, made + 75 * day));
  CAF_CHECK(should_be_renewed(ninety, made + 77 * day));
  CAF_CHECK(should_be_renewed(ninety, made + 100 * day));
  CAF_CHECK(!should_be_renewed(six, made + 4 * day));
  CAF_CHECK(should_be_renewed(six, made + 5 * day + std::chrono::hours{1}));
}

CAF_TEST(a handshake under way does not hold up the end) {
  const certificate_folder files;
  auto o = files.options();
  o.tls.handshake_timeout = std::chrono::hours{1};
  world w{fake::test_site(), o};
  client silent{w.server.tls_port()};
  tls_client idle{w.server.tls_port()};
  CAF_CHECK_EQUAL(idle.get("/constant").status, 200u);
  CAF_REQUIRE(eventually([&] { return w.tls->counts.pending == 1; }));
  w.server.drain(std::chrono::hours{1}); // that it returns is the proof: the handshake has an hour, too
  CAF_CHECK(silent.ended());
  CAF_CHECK(idle.ended());
}

CAF_TEST(a server answers unless one of its threads stands still) {
  auto o = fake::fast_options();
  o.io.threads = 2;
  world w{fake::test_site(), o};
  CAF_CHECK(w.server.answers(milliseconds{2'000}));
  client c{w.server.public_port()};
  c.send("GET /blocked HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK(eventually([] { return fake::is_blocked.load(); }));
  CAF_CHECK(!w.server.answers(milliseconds{100}));
  fake::may_go_on = true;
  CAF_CHECK_EQUAL(c.read().status, 200u);
  CAF_CHECK(w.server.answers(milliseconds{2'000}));
}

} // namespace tls_test
