// SPDX-License-Identifier: Apache-2.0
// Pictures of events, and logos of tenants: a manager sends a file; all get the JPEGs that were made of it.
#include "crypto/digest.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/pictures.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/view_codec.hpp"
#include "print/pictures.hpp"

namespace fq::net {
namespace {

bool is_picture_type(std::string_view type) {
  type = type.substr(0, type.find(';'));
  return same_text(type, "image/png") || same_text(type, "image/jpeg") || same_text(type, "image/webp");
}

std::vector<char> bytes_of(const print::jpeg& picture) {
  return {picture.bytes.begin(), picture.bytes.end()};
}

std::shared_ptr<const picture_row> row_of(const call& c, const print::pictures& sizes) {
  auto row = std::make_shared<picture_row>();
  row->id = to_hex(sha256(sizes.large.bytes));
  row->tenant = c.by.tenant;
  if (c.by.kind == principal_kind::organizer) row->organizer = c.by.id;
  row->stored_at = c.ctx.environment.wall_now();
  row->small = bytes_of(sizes.small);
  row->medium = bytes_of(sizes.medium);
  row->large = bytes_of(sizes.large);
  return row;
}

/// Writes the picture's id into the event; empty: none.
awaitable<response> name_picture(call c, std::string id) {
  patch_event wish{{c.id, c.by}, {}, {}};
  wish.note.detail = id.empty() ? R"({"picture":null})" : R"({"picture":")" + id + R"("})";
  wish.patch.set(&event_facts::picture, std::move(id));
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  append_event(answer.body, got.reply.event);
  co_return answer;
}

/// Managers make the server work only as often as their limit allows.
std::optional<response> may_send_picture(const call& c) {
  if (!is_picture_type(c.rq.field("Content-Type")))
    return problem(fault::unsupported_media_type, c.rq.request_id,
                   "Send image/png, image/jpeg or image/webp.");
  return limit(c.ctx, c.rq, c.ctx.shared->pictures, c.who);
}

struct picture_stored {
  std::optional<response> no;
  std::string id = {};
};

/// Makes and stores the pictures of the body.
awaitable<picture_stored> store_sent(call c) {
  picture_stored stored;
  auto read = [file = std::string{c.rq.body}] { return print::pictures_of(file); };
  auto made = co_await offload(c.ctx.io, c.ctx.shared->picture_lane, std::move(read));
  if (!made) {
    stored.no = problem(fault::unavailable, c.rq.request_id, {}, printing_retry_after);
    co_return stored;
  }
  if (made->wrong != print::picture_fault::none) {
    stored.no = problem(made->wrong == print::picture_fault::too_large ? fault::picture_too_large
                                                                       : fault::picture_unreadable,
                        c.rq.request_id);
    co_return stored;
  }
  const auto picture = row_of(c, made->sizes);
  store_picture wish{picture};
  auto kept = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  stored.no = refused(c.rq, kept);
  stored.id = picture->id;
  co_return stored;
}

/// Only the event's own managers.
awaitable<response> set_picture(call c) {
  if (auto no = may_send_picture(c)) co_return std::move(*no);
  auto own = co_await ask_event(c.ctx, owner_of(c.id), find_stats{{c.id, c.by}});
  if (auto no = refused(c.rq, own)) co_return std::move(*no);
  auto storing = store_sent(c);
  auto stored = co_await storing;
  if (stored.no) co_return std::move(*stored.no);
  auto naming = name_picture(c, std::move(stored.id));
  co_return co_await naming;
}

awaitable<response> drop_picture(call c) { return name_picture(c, {}); }

// -- the logo of a tenant

response logo_answer(const std::string& id) {
  return {.status = 200, .body = id.empty() ? R"({"logo":null})" : R"({"logo":")" + id + R"("})"};
}

/// Sets the logo of the manager's tenant; empty: none.
awaitable<response> name_logo(call c, std::string id) {
  set_tenant_logo wish{c.by, {}, id};
  wish.note.detail = logo_answer(id).body;
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return logo_answer(id);
}

awaitable<response> set_logo(call c) {
  if (auto no = may_send_picture(c)) co_return std::move(*no);
  auto storing = store_sent(c);
  auto stored = co_await storing;
  if (stored.no) co_return std::move(*stored.no);
  auto naming = name_logo(c, std::move(stored.id));
  co_return co_await naming;
}

awaitable<response> drop_logo(call c) { return name_logo(c, {}); }

awaitable<response> show_logo(call c) {
  const auto keys = c.ctx.shared->keys.get();
  return ready(logo_answer(keys ? keys->logo_of(c.by.tenant) : std::string{}));
}

// -- their files

awaitable<response> get_picture(context& ctx, const request& rq, const path_parameters& path) {
  if (auto no = expect_no_query(rq)) co_return std::move(*no);
  auto name = parse_picture_name(path.values[0]);
  if (!name) co_return problem(fault::not_found, rq.request_id);
  auto reading = read_picture(ctx, rq, std::move(name->first), name->second);
  auto got = co_await reading;
  if (got.no) co_return std::move(*got.no);
  response answer{.status = 200, .content_type = "image/jpeg"};
  answer.body = *got.bytes;
  answer.fields.emplace_back("Cache-Control", "public, max-age=86400");
  answer.fields.emplace_back("Content-Security-Policy", "default-src 'none'");
  co_return answer;
}

} // namespace

std::span<const route> picture_routes() {
  using enum method;
  static constexpr route table[] = {
    {put, "/events/{id}/picture", for_managers<set_picture>, picture_body_max},
    {del, "/events/{id}/picture", for_managers<drop_picture>},
    {get, "/tenant/logo", for_managers<show_logo>},
    {put, "/tenant/logo", for_managers<set_logo>, picture_body_max},
    {del, "/tenant/logo", for_managers<drop_logo>},
    {get, "/pictures/{name}", self_guarded_for_anybody<get_picture>},
  };
  return table;
}

} // namespace fq::net
