// SPDX-License-Identifier: Apache-2.0
// Beast's incremental parser over the connection's reused buffer: field views point into it, nothing is
// copied. Reports what was sent; net/http/framing decides whether it is acceptable.
#pragma once
#include "net/http/framing.hpp"
#include "net/http/limits.hpp"

#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

class request_parser {
public:
  enum class step : std::uint8_t { need_more, complete, failed };

  request_parser() { reset(); }

  /// Discards all state; the next request begins at the front of the buffer.
  void reset();

  /// Pass all bytes from the start of the request each time, until the header is complete. The views of
  /// `head` point into `data` of the last call.
  step parse_head(const char* data, std::size_t size);

  /// Bytes of the header; valid after `complete`.
  [[nodiscard]] std::size_t head_size() const { return head_size_; }
  [[nodiscard]] request_head head() const;
  /// Valid after `failed`.
  [[nodiscard]] http_refusal why() const { return why_; }
  [[nodiscard]] std::string_view detail() const { return detail_; }

  /// Moves all views after the caller has moved the header's bytes to `data`.
  void rebase(const char* data);

  /// Decodes a chunked body. `data` begins where the last call stopped; sets `consumed` to the bytes used.
  /// Appends at most `limit` bytes to `body`.
  step parse_chunks(const char* data, std::size_t size, std::size_t limit, std::string& body,
                    std::size_t& consumed);

private:
  class beast_parser final : public boost::beast::http::basic_parser<true> {
  public:
    explicit beast_parser(request_parser& owner) : owner_(owner) {}
    std::string* body = nullptr;

  private:
    using error_code = boost::beast::error_code;
    using view = boost::beast::string_view;
    void on_request_impl(boost::beast::http::verb, view method, view target, int version,
                         error_code&) override;
    void on_response_impl(int, view, int, error_code&) override {}
    void on_field_impl(boost::beast::http::field, view name, view value, error_code&) override;
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(view text, error_code&) override;
    void on_chunk_header_impl(std::uint64_t, view extensions, error_code&) override;
    std::size_t on_chunk_body_impl(std::uint64_t, view text, error_code&) override;
    void on_finish_impl(error_code&) override {}

    request_parser& owner_;
  };

  step fail(http_refusal why, std::string_view detail);
  step fail(const boost::beast::error_code& error);
  std::size_t find_end(const char* data, std::size_t size, bool& bare_line_feed);

  std::optional<beast_parser> parser_;
  std::string_view text_, method_, target_; ///< text_: the whole header
  unsigned version_ = 11;
  std::vector<field_view> fields_;
  bool in_header_ = true;
  std::size_t head_size_ = 0;
  std::size_t scanned_ = 0; ///< the header does not end before this offset
  std::size_t line_ = 0; ///< offset of the last line seen
  bool has_folded_line_ = false;
  http_refusal why_{};
  std::string_view detail_;
};

} // namespace fq::net
