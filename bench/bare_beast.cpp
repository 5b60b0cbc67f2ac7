// SPDX-License-Identifier: Apache-2.0
// The yardstick of position polls and /access: a bare Beast server (request and response with string bodies,
// one coroutine a connection, one thread) that sends constant fields and a constant body of a given length.
// Usage: bare_beast PORT BODY_BYTES ["Name: value"...]
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

using text_fields = std::vector<std::pair<std::string, std::string>>;

asio::awaitable<void> serve(tcp::socket socket, const std::string& body, const text_fields& fields) {
  boost::beast::tcp_stream stream{std::move(socket)};
  boost::beast::flat_buffer buffer;
  try {
    for (;;) {
      http::request<http::string_body> request;
      co_await http::async_read(stream, buffer, request, asio::use_awaitable);
      http::response<http::string_body> response{http::status::ok, request.version()};
      response.set(http::field::content_type, "application/json");
      for (const auto& [name, value] : fields) response.insert(name, value);
      response.keep_alive(request.keep_alive());
      response.body() = body;
      response.prepare_payload();
      co_await http::async_write(stream, response, asio::use_awaitable);
    }
  } catch (const boost::system::system_error&) { // the peer went
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor, const std::string& body, const text_fields& fields) {
  for (;;) {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    socket.set_option(tcp::no_delay{true});
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket), body, fields), asio::detached);
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  asio::io_context io{1};
  tcp::acceptor acceptor{
    io, {asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(std::atoi(argv[1]))}};
  const std::string body(static_cast<std::size_t>(std::atoi(argv[2])), 'x');
  text_fields fields;
  for (int i = 3; i < argc; ++i) {
    const std::string field{argv[i]};
    const auto colon = field.find(": ");
    if (colon == std::string::npos) return 2;
    fields.emplace_back(field.substr(0, colon), field.substr(colon + 2));
  }
  asio::co_spawn(io, listen(acceptor, body, fields), asio::detached);
  io.run();
}
