// SPDX-License-Identifier: Apache-2.0
// The checks in front of every route, in one order for all: token, role, limit, path, query. Then the route's
// named step runs. Called by the route files; knows no route.
#pragma once
#include "actors/base/errors.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"
#include "net/http/problem.hpp"
#include "net/http/rate_limit.hpp"
#include "net/service/key_directory.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace fq::net {

/// What a step knows when the checks are done. Everything outlives the coroutine's last step.
struct call {
  context& ctx;
  const request& rq;
  uuid who; ///< the token's subject; nil: nobody
  uuid id; ///< of the path; nil if it has none. Its owner is an event's aggregate
  principal by = {}; ///< who manages, if a manager's token came along
  std::optional<api_key> key = {}; ///< of routes that take one
  uuid part = {}; ///< the second id of the path, of something of the first; nil if it has none
};

using step = awaitable<response> (*)(call);

/// What of the address the step reads itself.
enum class query_use : std::uint8_t {
  none,
  own, ///< the query
  foreign_id, ///< no query; the path's id may be of something that belongs to no event
  own_foreign_id, ///< both
};

awaitable<response> with_customer(context& ctx, const request& rq, const path_parameters& path, step run,
                                  query_use query = query_use::none);
/// An organizer, or a backend with an operator's token, of which the key is still valid.
awaitable<response> with_manager(context& ctx, const request& rq, const path_parameters& path, step run,
                                 query_use query = query_use::none);
/// A customer, or who manages events: whose the thing is, is the step's question.
awaitable<response> with_customer_or_manager(context& ctx, const request& rq, const path_parameters& path,
                                             step run);
/// The token of the place that the path names; another place's is 404.
awaitable<response> with_ticket(context& ctx, const request& rq, const path_parameters& path, step run,
                                query_use query = query_use::none);
/// `Authorization: Bearer wr_<tenant>_<secret>`: a valid key of one of these scopes, else 401 or 403.
awaitable<response> with_api_key(context& ctx, const request& rq, const path_parameters& path, step run,
                                 std::initializer_list<api_key_scope> scopes);
/// No token is needed; a manager's makes `by` and `who` that manager. Others (valid ones) are nobody here. A
/// broken one is 401.
awaitable<response> with_anyone(context& ctx, const request& rq, const path_parameters& path, step run,
                                query_use query = query_use::none);

/// An answer that needs no waiting.
awaitable<response> ready(response answer);

/// 404 for an absent owner, else 503 with Retry-After.
[[nodiscard]] response infrastructure_problem(const caf::error& error, const request& rq);

/// The problem to answer with, if the actor (or the way to it) said no.
template <class Reply>
std::optional<response> refused(const request& rq, const answer<Reply>& got) {
  if (got.error) [[unlikely]]
    return infrastructure_problem(got.error, rq);
  if (got.reply.no) [[unlikely]]
    return problem(got.reply.no, rq.request_id);
  return std::nullopt;
}

/// An id of the right form that belongs to an event's aggregate; anything else is nobody's id (404).
[[nodiscard]] std::optional<uuid> parse_event_owned_id(std::string_view text);

[[nodiscard]] std::optional<response> limit_customer(context& ctx, const request& rq, const uuid& customer);
/// Takes a token of `limiter`'s bucket of `key`; the 429 to answer with if there is none.
[[nodiscard]] std::optional<response> limit(context& ctx, const request& rq, rate_limiter& limiter,
                                            const uuid& key);

/// "Location" of a new resource: the base path and `path`.
[[nodiscard]] std::string location(const context& ctx, std::string_view folder, const uuid& id);

/// Marks an answer that was given before.
void mark_replayed(context& ctx, response& answer);

} // namespace fq::net
