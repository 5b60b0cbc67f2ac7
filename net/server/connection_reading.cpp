// SPDX-License-Identifier: Apache-2.0
// Turns received bytes into a framed, routed request with its body. See connection_parts.hpp.
#include "net/server/connection_parts.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fq::net {

namespace {

bool is_sane_request_id(std::string_view id) {
  return !id.empty() && id.size() <= request_id_max && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_'
           || c == '.';
  });
}

} // namespace

void connection::wait_readable() { socket_.wait_readable<&connection::on_readable>(this); }

void connection::on_readable() {
  if (phase_ == phase::closed) return;
  if (phase_ == phase::lingering) return discard();
  const bool begins = !x_;
  if (begins)
    x_ = pool_.take_exchange();
  else if (phase_ != phase::head && phase_ != phase::body)
    return; // answered before the wait ended
  if (!fill()) {
    if (begins && x_) pool_.give_back(std::move(x_)); // woken too early: still idle
    return;
  }
  if (begins) enter(phase::head, pool_.ctx.now + pool_.header_timeout);
  proceed();
}

/// Reads into the free part of the buffer. Returns false if nothing arrived or the connection is closed.
bool connection::fill() {
  auto& x = *x_;
  if (x.filled == x.capacity) x.grow(std::max(buffer_head_size, x.capacity));
  const auto got = socket_.receive(x.buffer.get() + x.filled, x.capacity - x.filled);
  if (got > 0) {
    x.filled += static_cast<std::size_t>(got);
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    wait_readable();
    return false;
  }
  close();
  return false;
}

/// Serves requests until one waits for bytes, for its handler, or for the peer to read.
void connection::proceed() {
  const ptr self{this};
  for (std::size_t served = 0; phase_ != phase::closed; ++served) {
    if (served == requests_per_turn_max) {
      boost::asio::post(pool_.ctx.io, [self] {
        if (self->phase_ == phase::head) self->proceed();
      });
      return;
    }
    if (!advance() || !start_handler()) return;
  }
}

/// Reads on towards a complete request. Returns false if it waits for bytes or has refused.
bool connection::advance() {
  if (phase_ == phase::head && !advance_head()) return false;
  return advance_body();
}

bool connection::advance_head() {
  auto& x = *x_;
  switch (x.parser.parse_head(x.buffer.get(), x.filled)) {
    case request_parser::step::need_more: wait_readable(); return false;
    case request_parser::step::failed:
      unread_ = true;
      refuse(x.parser.why(), x.parser.detail());
      return false;
    case request_parser::step::complete: break;
  }
  return take_head();
}

/// The header is complete: checks it, finds the route, makes room for the body.
bool connection::take_head() {
  auto& x = *x_;
  x.used = x.parser.head_size();
  x.begun = pool_.ctx.environment.steady_now();
  x.frame = check_framing(x.parser.head());
  if (x.frame.no) {
    auto allow = allowed_methods();
    const bool is_nowhere = *x.frame.no == http_refusal::method_unknown && allow.empty();
    refuse(is_nowhere ? http_refusal::not_found : *x.frame.no, x.frame.detail, std::move(allow));
    return false;
  }
  build_request();
  find_route();
  x.body_limit = x.found && x.found->body_limit > 0 ? x.found->body_limit : pool_.body_limit;
  const bool may_be_large = x.frame.kind != body_kind::none && x.body_limit > pool_.body_limit
                            && (x.frame.kind != body_kind::length || x.frame.length > pool_.body_limit);
  const bool is_stranger =
    may_be_large && where_.what.may_send && !where_.what.may_send(pool_.ctx, x.req, *x.found);
  if (is_stranger) x.body_limit = pool_.body_limit;
  if (x.frame.kind == body_kind::length && x.frame.length > x.body_limit) {
    unread_ = true;
    if (is_stranger)
      refuse(http_refusal::unauthenticated, "a body of this size needs a valid token");
    else
      refuse(http_refusal::body_too_large, "the body is too large");
    return false;
  }
  if (x.frame.kind == body_kind::length && x.used + x.frame.length > x.capacity) {
    x.grow(x.used + static_cast<std::size_t>(x.frame.length));
    x.parser.rebase(x.buffer.get());
    x.frame = check_framing(x.parser.head());
    build_request();
    find_route();
  }
  if (x.frame.expects_continue && x.filled == x.used) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    if (socket_.send(go_on) < 0) {
      close();
      return false;
    }
  }
  x.chunked_body.clear();
  enter(phase::body, pool_.ctx.now + pool_.body_timeout);
  return true;
}

void connection::build_request() {
  auto& x = *x_;
  auto& req = x.req;
  const auto head = x.parser.head();
  req.verb = x.frame.verb;
  req.target = x.frame.target;
  const auto question = req.target.find('?');
  req.path = req.target.substr(0, question);
  req.query = question == std::string_view::npos ? std::string_view{} : req.target.substr(question + 1);
  req.body = {};
  req.fields.assign(head.fields.begin(), head.fields.end());
  req.peer = peer_;
  req.keep_alive = x.frame.keep_alive;
  req.http_1_0 = head.version == 10;
  if (const auto id = req.field("x-request-id"); is_sane_request_id(id))
    req.request_id.assign(id);
  else
    pool_.make_request_id(req.request_id);
}

/// Takes the base path off. Returns false if the path is not below it.
bool connection::is_below_base(std::string_view& path) const {
  const auto base = pool_.base_path;
  if (!path.starts_with(base)) return false;
  path.remove_prefix(base.size());
  if (path.empty()) path = "/";
  return true;
}

/// The methods of the path, for a request whose method is unknown. Empty: another refusal, or no such path.
std::string connection::allowed_methods() const {
  if (x_->frame.no != http_refusal::method_unknown) return {};
  auto path = x_->frame.target.substr(0, x_->frame.target.find('?'));
  return is_below_base(path) ? where_.routes.methods_of(path) : std::string{};
}

void connection::find_route() {
  auto& x = *x_;
  x.found = nullptr;
  x.allow.clear();
  if (!is_below_base(x.req.path)) return;
  auto match = where_.routes.match(x.req.verb, x.req.path);
  x.found = match.found;
  x.parameters = match.parameters;
  x.allow = std::move(match.allow);
}

bool connection::advance_body() {
  auto& x = *x_;
  if (x.frame.kind == body_kind::length) {
    const auto end = x.parser.head_size() + static_cast<std::size_t>(x.frame.length);
    if (x.filled < end) {
      wait_readable();
      return false;
    }
    x.used = end;
    x.req.body = {x.buffer.get() + x.parser.head_size(), static_cast<std::size_t>(x.frame.length)};
    return true;
  }
  if (x.frame.kind == body_kind::none) return true;
  const auto head = x.parser.head_size();
  std::size_t consumed = 0;
  const auto step =
    x.parser.parse_chunks(x.buffer.get() + head, x.filled - head, x.body_limit, x.chunked_body, consumed);
  if (step == request_parser::step::failed) {
    unread_ = true;
    refuse(x.parser.why(), x.parser.detail());
    return false;
  }
  // The header stays at the front: the request's fields are views of it.
  std::memmove(x.buffer.get() + head, x.buffer.get() + head + consumed, x.filled - head - consumed);
  x.filled -= consumed;
  if (step == request_parser::step::need_more) {
    if (x.filled == x.capacity) {
      x.grow(x.capacity + buffer_first_size);
      x.parser.rebase(x.buffer.get());
      x.frame = check_framing(x.parser.head());
      const auto id = x.req.request_id;
      build_request();
      x.req.request_id = id;
      find_route();
    }
    wait_readable();
    return false;
  }
  x.req.body = x.chunked_body;
  return true;
}

} // namespace fq::net
