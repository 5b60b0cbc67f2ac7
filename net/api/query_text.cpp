// SPDX-License-Identifier: Apache-2.0
#include "net/api/query_text.hpp"

#include "net/http/utf8.hpp"

#include <boost/url/decode_view.hpp>
#include <boost/url/pct_string_view.hpp>

#include <algorithm>

namespace fq::net {

std::optional<std::string> decoded(std::string_view encoded) {
  const auto parsed = boost::urls::make_pct_string_view(encoded);
  if (!parsed) return std::nullopt;
  std::string text;
  parsed->decode({}, boost::urls::string_token::assign_to(text));
  utf8_checker utf8;
  const auto is_refused = [&utf8](unsigned char ch) { return ch < 0x20 || ch == 0x7f || !utf8.feed(ch); };
  if (std::any_of(text.begin(), text.end(), is_refused) || !utf8.complete()) return std::nullopt;
  return text;
}

} // namespace fq::net
