// SPDX-License-Identifier: Apache-2.0
// The checks before every route, always in the same order: token, role, limit, path, query. Then the
// route's step runs. Called by the route files; independent of routes.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/protocol/checkin_messages.hpp"
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

/// What a step gets after the checks. Everything outlives the coroutine.
struct call {
  context& ctx;
  const request& rq;
  uuid who; ///< subject of the token; nil: anonymous
  uuid id; ///< id in the path; nil if none. Belongs to an event's aggregate
  principal by = {}; ///< the manager, if the request has a manager's token
  std::optional<api_key> key = {}; ///< for routes with an API key
  uuid part = {}; ///< second id of the path, of a part of `id`; nil if none
};

using step = awaitable<response> (*)(call);

/// Parts of the URL that the step checks instead of the guard.
enum class query_use : std::uint8_t {
  none,
  own, ///< the query
  foreign_id, ///< no query; the path's id may belong to no event
  own_foreign_id, ///< both
};

/// The checks of one audience, then the step.
using guard = awaitable<response>(context& ctx, const request& rq, const path_parameters& path, step run,
                                  query_use query);
guard with_anybody, with_anybody_or_person, with_customer, with_customer_or_guest, with_manager,
  with_customer_or_manager, with_ticket, with_device;
awaitable<response> with_api_key(context& ctx, const request& rq, const path_parameters& path, step run,
                                 std::initializer_list<api_key_scope> scopes);
/// 403 with this detail for an organizer. For a step behind with_manager.
awaitable<response> with_operator(call c, step run, const char* detail);

// -- what stands in a row of a route table, as in `for_customers<take_stock>`

template <guard check, step run, query_use query>
awaitable<response> checked_step(context& ctx, const request& rq, const path_parameters& path) {
  return check(ctx, rq, path, run, query);
}
template <step run, const char* detail>
awaitable<response> operators_step(call c) {
  return with_operator(std::move(c), run, detail);
}
template <step run, api_key_scope... scopes>
awaitable<response> keyed_step(context& ctx, const request& rq, const path_parameters& path) {
  return with_api_key(ctx, rq, path, run, {scopes...});
}

/// Reads no token.
template <step run, address_limit limit, query_use query = query_use::none>
inline constexpr guarded_handler for_anybody{checked_step<with_anybody, run, query>, audience::anybody,
                                             limit};
/// A manager's token sets `by` and `who`, a customer's or a guest's sets `who`. Other valid tokens count as
/// anonymous; an invalid one gets 401.
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_anybody_or_persons{checked_step<with_anybody_or_person, run, query>,
                                                        audience::anybody_or_persons,
                                                        address_limit::without_token};
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_customers{checked_step<with_customer, run, query>, audience::customers};
/// A customer or a guest; is_guest(who) tells them apart.
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_customers_or_guests{checked_step<with_customer_or_guest, run, query>,
                                                         audience::customers_or_guests};
/// An organizer, or a backend with an operator's token whose API key is still valid.
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_managers{checked_step<with_manager, run, query>, audience::managers};
/// `detail`: of the 403 for an organizer.
template <step run, const char* detail, query_use query = query_use::none>
inline constexpr guarded_handler for_operators{checked_step<with_manager, operators_step<run, detail>, query>,
                                               audience::operators};
/// The step checks access to the object.
template <step run>
inline constexpr guarded_handler for_customers_or_managers{
  checked_step<with_customer_or_manager, run, query_use::none>, audience::customers_or_managers};
/// The token of the entry in the path; 404 for another entry's token.
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_ticket_holders{checked_step<with_ticket, run, query>,
                                                    audience::ticket_holders};
/// `Authorization: Bearer wr_<tenant>_<secret>`: a valid key of one of these scopes, else 401 or 403.
template <step run, api_key_scope... scopes>
inline constexpr guarded_handler for_api_keys{keyed_step<run, scopes...>, audience::api_keys};
/// A well-formed token of a device that scans; `who` is the device. The event's owner compares its secret.
/// Unless `is_known_device`, the step gives back what the guard took from the address
/// (address_limit::webhook) once the owner knows it.
template <step run, query_use query = query_use::none>
inline constexpr guarded_handler for_devices{checked_step<with_device, run, query>, audience::devices};
/// The handler itself checks the whole request.
template <handler run, audience who>
inline constexpr guarded_handler self_guarded{run, who};
/// No token is read. The server asks the limit of the client's address first.
template <handler run, address_limit limit = address_limit::anonymous>
inline constexpr guarded_handler self_guarded_for_anybody{run, audience::anybody, limit};

/// Returns `answer` without waiting.
awaitable<response> ready(response answer);

/// 404 for an absent owner, else 503 with Retry-After.
[[nodiscard]] response infrastructure_problem(const caf::error& error, const request& rq);

/// With the path of a challenge for challenge_required.
[[nodiscard]] response refusal_problem(refusal no, const request& rq);

/// The problem to answer with, if the actor refused or could not be reached.
template <class Reply>
std::optional<response> refused(const request& rq, const answer<Reply>& got) {
  if (got.error) [[unlikely]]
    return infrastructure_problem(got.error, rq);
  if (got.reply.no) [[unlikely]]
    return refusal_problem(got.reply.no, rq);
  return std::nullopt;
}

/// Whether this installation issued the request's well-formed token to a device of the same event.
[[nodiscard]] bool is_known_device(const context& ctx, const request& rq, const uuid& device);
/// Key of a device in limits.
[[nodiscard]] uuid limit_key(const device_pass& pass);

/// Parses an id of an event's aggregate; nothing for any other text, which means 404.
[[nodiscard]] std::optional<uuid> parse_event_owned_id(std::string_view text);

/// Whether the request has a valid token of managers, customers or guests, if the row's audience is these.
/// Takes from no limit: the guard does, after the body.
[[nodiscard]] bool has_token_of(context& ctx, const request& rq, audience who);

/// Takes a token of the address for a row's limit. The server asks this before it calls the row's handler.
[[nodiscard]] std::optional<response> limit_address(context& ctx, const request& rq, address_limit limit);
/// Returns the token of `limit_address`: the request was genuine.
void give_back(context& ctx, const request& rq, address_limit limit);
/// A guest's token is of its address too.
[[nodiscard]] std::optional<response> limit_customer(context& ctx, const request& rq, const uuid& customer);
/// For a new place in a line; of a guest also from its address.
[[nodiscard]] std::optional<response> limit_join(context& ctx, const request& rq, const uuid& customer);
/// No place was made: returns what `limit_join` took.
void give_back_join(context& ctx, const request& rq, const uuid& customer);
/// Takes tokens of `limiter` for `key`; returns the 429 to answer with if too few are left.
[[nodiscard]] std::optional<response> limit(context& ctx, const request& rq, rate_limiter& limiter,
                                            const uuid& key, std::uint32_t tokens = 1);

/// "Location" of a new resource: base path, `folder` and `id`.
[[nodiscard]] std::string location(const context& ctx, std::string_view folder, const uuid& id);

/// Marks the answer as repeated from an idempotency record.
void mark_replayed(context& ctx, response& answer);

} // namespace fq::net
