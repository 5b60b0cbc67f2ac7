// SPDX-License-Identifier: Apache-2.0
#include "net/http/parser.hpp"

#include <boost/asio/buffer.hpp>

#include <algorithm>
#include <cstring>

namespace fq::net {

namespace {

namespace http = boost::beast::http;

bool has_bare_line_feed(std::string_view text) {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    if (at == 0 || text[at - 1] != '\r') return true;
  return false;
}

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

} // namespace

void request_parser::beast_parser::on_request_impl(http::verb, view method, view target, int version,
                                                   error_code&) {
  owner_.method_ = view_of(method);
  owner_.target_ = view_of(target);
  owner_.version_ = static_cast<unsigned>(version);
}

void request_parser::beast_parser::on_field_impl(http::field, view name, view value, error_code& ec) {
  if (!owner_.in_header_) return; // trailers are dropped, as RFC 9110 allows
  if (owner_.fields_.size() > request_fields_max)
    ec = http::error::header_limit;
  else
    owner_.fields_.emplace_back(view_of(name), view_of(value));
}

std::size_t request_parser::beast_parser::on_body_impl(view text, error_code&) { return text.size(); }

void request_parser::beast_parser::on_chunk_header_impl(std::uint64_t, view extensions, error_code& ec) {
  if (extensions.size() > chunk_extensions_max) ec = http::error::bad_chunk_extension;
}

std::size_t request_parser::beast_parser::on_chunk_body_impl(std::uint64_t, view text, error_code&) {
  body->append(text.data(), text.size());
  return text.size();
}

void request_parser::reset() {
  parser_.emplace(*this);
  parser_->header_limit(request_header_max);
  parser_->body_limit(boost::none);
  parser_->eager(false);
  text_ = method_ = target_ = detail_ = {};
  version_ = 11;
  fields_.clear();
  in_header_ = true;
  head_size_ = scanned_ = line_ = 0;
  has_folded_line_ = false;
}

request_parser::step request_parser::fail(http_refusal why, std::string_view detail) {
  why_ = why;
  detail_ = detail;
  return step::failed;
}

request_parser::step request_parser::fail(const boost::beast::error_code& error) {
  if (error == http::error::header_limit)
    return fail(http_refusal::header_too_large, "the request header is too large");
  if (error == http::error::body_limit) return fail(http_refusal::body_too_large, "the body is too large");
  if (error == http::error::bad_version)
    return fail(http_refusal::version_not_supported, "HTTP/1.1 or HTTP/1.0 is spoken here");
  return fail(http_refusal::bad_request, "malformed request");
}

/// Returns where the header ends, 0 if it is incomplete. Beast gets only complete headers: it consumes them
/// in pieces, and its views would point into freed buffers. Also detects lines that end with LF alone,
/// whose client would wait forever.
std::size_t request_parser::find_end(const char* data, std::size_t size, bool& bare_line_feed) {
  while (scanned_ < size) {
    const auto* found = static_cast<const char*>(std::memchr(data + scanned_, '\n', size - scanned_));
    if (!found) {
      scanned_ = size;
      break;
    }
    const auto at = static_cast<std::size_t>(found - data);
    bare_line_feed = at == 0 || data[at - 1] != '\r';
    if (bare_line_feed) return 0;
    const bool empty = at - line_ == 1;
    has_folded_line_ |= line_ > 0 && (data[line_] == ' ' || data[line_] == '\t');
    scanned_ = line_ = at + 1;
    if (empty) return scanned_;
  }
  return 0;
}

request_parser::step request_parser::parse_head(const char* data, std::size_t size) {
  bool bare_line_feed = false;
  const auto end = find_end(data, size, bare_line_feed);
  if (bare_line_feed) return fail(http_refusal::bad_request, "bare line feed");
  if (std::max(end, scanned_) > request_header_max)
    return fail(http_refusal::header_too_large, "the request header is too large");
  if (end == 0) return step::need_more;
  boost::beast::error_code error;
  const auto used = parser_->put(boost::asio::const_buffer{data, end}, error);
  if (error) return fail(error);
  if (!parser_->is_header_done() || used != end) return fail(http_refusal::bad_request, "malformed request");
  in_header_ = false;
  head_size_ = used;
  text_ = {data, used};
  return step::complete;
}

request_head request_parser::head() const { return {has_folded_line_, method_, target_, version_, fields_}; }

void request_parser::rebase(const char* data) {
  const auto* old = text_.data();
  const auto moved = [&](std::string_view v) {
    return v.data() >= old && v.data() <= old + text_.size()
             ? std::string_view{data + (v.data() - old), v.size()}
             : v;
  };
  method_ = moved(method_);
  target_ = moved(target_);
  for (auto& [name, value] : fields_) {
    name = moved(name);
    value = moved(value);
  }
  text_ = {data, text_.size()};
}

request_parser::step request_parser::parse_chunks(const char* data, std::size_t size, std::size_t limit,
                                                  std::string& body, std::size_t& consumed) {
  parser_->body = &body;
  parser_->eager(true);
  consumed = 0;
  while (!parser_->is_done()) {
    boost::beast::error_code error;
    const auto used = parser_->put(boost::asio::const_buffer{data + consumed, size - consumed}, error);
    consumed += used;
    if (body.size() > limit) {
      body.resize(limit);
      return fail(http_refusal::body_too_large, "the body is too large");
    }
    if (error == http::error::need_more) {
      // Chunk data is consumed at once; only a chunk's first line or the trailer can remain.
      const std::string_view lines{data + consumed, size - consumed};
      if (lines.size() > chunk_line_max)
        return fail(http_refusal::bad_request, "a chunk's first line is too long");
      if (has_bare_line_feed(lines)) return fail(http_refusal::bad_request, "bare line feed");
      return step::need_more;
    }
    if (error) return fail(error);
    if (used == 0) return step::need_more;
  }
  return step::complete;
}

} // namespace fq::net
