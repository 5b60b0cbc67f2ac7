// SPDX-License-Identifier: Apache-2.0
#include "net/http/response_head.hpp"

#include "net/http/json_text.hpp"

namespace fq::net {

namespace {

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 101: return "Switching Protocols";
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Status";
  }
}

} // namespace

void write_head(std::string& out, const response& answer, const head_facts& facts) {
  out.assign("HTTP/1.1 ");
  append_integer(out, answer.status);
  out.append(" ").append(reason_phrase(answer.status));
  out.append("\r\nDate: ").append(facts.date);
  if (answer.status != 204 && answer.status != 304 && answer.status != 101) {
    if (!answer.content_type.empty()
        && !(answer.body.empty() && answer.static_body.empty() && !answer.source))
      out.append("\r\nContent-Type: ").append(answer.content_type);
    if (!answer.source) {
      out.append("\r\nContent-Length: ");
      append_integer(out, answer.body.size() + answer.static_body.size());
    } else if (!facts.http_1_0) {
      out.append("\r\nTransfer-Encoding: chunked");
    }
  }
  out.append("\r\nX-Request-Id: ").append(facts.request_id);
  out.append("\r\nX-Content-Type-Options: nosniff");
  if (!facts.strict_transport.empty())
    out.append("\r\nStrict-Transport-Security: ").append(facts.strict_transport);
  bool has_cache_control = answer.lines != nullptr;
  if (answer.lines) out.append(*answer.lines);
  for (const auto& [name, value] : answer.fields) {
    has_cache_control |= same_text(name, "cache-control");
    out.append("\r\n").append(name).append(": ").append(value);
  }
  if (!has_cache_control) out.append("\r\nCache-Control: no-store");
  if (answer.status == 101)
    out.append("\r\nConnection: Upgrade\r\nUpgrade: websocket");
  else if (!facts.keep)
    out.append("\r\nConnection: close");
  else if (facts.http_1_0)
    out.append("\r\nConnection: keep-alive");
  out.append("\r\n\r\n");
}

} // namespace fq::net
