// SPDX-License-Identifier: Apache-2.0
// GET /access: an origin checks a visitor's session. Answered from the sessions that this io thread knows;
// the first request about a queue waits for its owner. Fails closed. Also the names that sessions
// lock, and the public keys with which origins verify admission passes themselves.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/bridge/session_table.hpp"
#include "net/http/json_text.hpp"
#include "net/http/query.hpp"
#include "net/service/auth.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view key_set_cache = "public, max-age=300";

/// nginx's auth_request accepts only 2xx, 401 and 403; the reason is in a field.
enum class profile : std::uint8_t { plain, auth_request };

struct access_query {
  explicit access_query(milliseconds at) : now(at) {}

  milliseconds now; ///< steady; what is in force then is granted
  profile how = profile::plain;
  std::optional<uuid> queue; ///< the session must belong to this queue
  std::optional<api_key> key; ///< the origin's API key
  std::string_view token;
  std::uint32_t renewals = 0; ///< of the keys, before the token is checked
  entry_id ticket; ///< of a valid token
  session_record* known = nullptr; ///< of a token that was checked before
};

/// An entry is admitted once.
constexpr std::uint32_t only_admission = 1;

std::string_view reason_of(fault f) {
  if (f == fault::session_over) return "expired";
  if (f == fault::wrong_queue) return "wrong_queue";
  if (f == fault::rate_limited) return "rate_limited";
  if (f == fault::unauthenticated) return "unknown";
  return f == fault::forbidden ? "forbidden" : "unavailable";
}

response refuse(context& ctx, const request& rq, const access_query& q, fault f) {
  ctx.shared->counts.access_refused.add();
  if (q.how == profile::plain) return problem(f, rq.request_id, {}, status_of(f) == 503 ? 1 : 0);
  auto answer = problem(f == fault::unauthenticated ? f : fault::forbidden, rq.request_id);
  answer.fields.emplace_back("X-FairQueue-Reason", std::string{reason_of(f)});
  return answer;
}

/// Refuses a visitor without a session; the attempts per address are limited.
response refuse_unknown(context& ctx, const request& rq, const access_query& q, fault f) {
  const auto verdict = ctx.shared->access_failures.take(limit_key(rq.peer), ctx.environment.steady_now());
  if (verdict.allowed) return refuse(ctx, rq, q, f);
  ctx.shared->counts.rate_limited.add();
  return q.how == profile::plain ? too_many(ctx.shared->access_failures.rule(), verdict, rq.request_id)
                                 : refuse(ctx, rq, q, fault::rate_limited);
}

/// Visible ASCII unchanged, everything else percent-encoded.
std::string field_text(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const unsigned char ch : text)
    if (ch > 0x20 && ch < 0x7f && ch != '%')
      out += static_cast<char>(ch);
    else
      out.append({'%', digits[ch >> 4], digits[ch & 15]});
  return out;
}

/// The fields of a grant, as they are sent.
std::string grant_lines(const access_query& q, const session_record& s, std::int64_t keep) {
  std::string out = "\r\nVary: Authorization, X-API-Key\r\nCache-Control: private, max-age=";
  out += std::to_string(keep);
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append("\r\n").append(name).append(": ").append(value);
  };
  if (q.how == profile::auth_request)
    add("X-Accel-Expires", std::to_string(std::min(keep, nginx_seconds_max)));
  add("X-FairQueue-Ticket", to_string(q.ticket));
  add("X-FairQueue-Queue", to_string(s.queue));
  add("X-FairQueue-Session-Expires-At", rfc3339(s.expires_at));
  if (!s.subject.empty()) add("X-FairQueue-Subject", field_text(s.subject));
  return out;
}

/// Most grants equal the last one to the same session.
response grant(context& ctx, const access_query& q, session_record& s, std::int64_t seconds_to_keep) {
  ctx.shared->counts.access_granted.add();
  const auto left = (s.ends - q.now).count() / 1000;
  const auto keep = std::clamp<std::int64_t>(left, 0, seconds_to_keep);
  const bool is_for_nginx = q.how == profile::auth_request;
  response answer;
  if (s.last && s.last->seconds_to_keep == keep && s.last->is_for_nginx == is_for_nginx) [[likely]] {
    answer.lines = s.last->lines;
    answer.body = s.last->body;
    if (!q.known) s.last->token = q.token;
    if (!q.known) s.last->renewals = q.renewals;
    return answer;
  }
  answer.lines = std::make_shared<const std::string>(grant_lines(q, s, keep));
  append_access(answer.body, q.ticket, s.queue, s.subject, s.expires_at);
  s.last = std::make_unique<session_record::granted>(
    session_record::granted{std::string{q.token}, q.renewals, is_for_nginx, keep, answer.lines, answer.body});
  return answer;
}

/// Answers for session `s`; null: there is none.
response answer_access(context& ctx, const request& rq, const access_query& q, session_record* s,
                       std::int64_t seconds_to_keep) {
  if (s == nullptr || s->admission_no != only_admission) return refuse(ctx, rq, q, fault::session_over);
  const bool is_of_another = (q.queue && *q.queue != s->queue) || (q.key && q.key->tenant != s->tenant);
  return is_of_another ? refuse(ctx, rq, q, fault::wrong_queue) : grant(ctx, q, *s, seconds_to_keep);
}

/// For an aggregate whose sessions are known here.
response answer_access(context& ctx, const request& rq, const access_query& q) {
  if (q.known) return answer_access(ctx, rq, q, q.known, q.known->last->seconds_to_keep);
  const auto keep =
    ctx.table->is_remote(owner_of(q.ticket)) ? cache_seconds_max_elsewhere : cache_seconds_max;
  return answer_access(ctx, rq, q, ctx.table->find(q.ticket, q.now), keep);
}

/// For a session that another node owns, read from the cache.
response answer_access_found(context& ctx, const request& rq, access_query q, const session_found& found) {
  q.now = ctx.environment.steady_now();
  if (found.verdict == session_verdict::over) return answer_access(ctx, rq, q, nullptr, 0);
  const auto life = found.expires_at - ctx.environment.wall_now();
  session_record s{found.queue,        found.tenant,     found.admission_no,
                   found.subject_name, found.expires_at, q.now + life};
  return answer_access(ctx, rq, q, &s, cache_seconds_max_elsewhere);
}

/// Reads a session from the cache. Returns an empty result without a cache or an answer.
awaitable<session_found> find_in_cache(context& ctx, entry_id ticket) {
  if (!ctx.session_reader) co_return session_found{};
  auto got = co_await ask(ctx, ctx.session_reader, find_session{ticket});
  if (got.error) co_return session_found{};
  got.reply.verdict = got.reply.verdict_at(ctx.environment.steady_now());
  co_return std::move(got.reply);
}

/// For an aggregate whose sessions are not known to this thread. Looks up the owner in the ledger only if
/// the cache has no answer.
awaitable<response> answer_access_later(context& ctx, const request& rq, access_query q) {
  const auto owner = owner_of(q.ticket);
  if (ctx.table->is_elsewhere(owner)) {
    const auto found = co_await find_in_cache(ctx, q.ticket);
    if (found.verdict != session_verdict::unknown) co_return answer_access_found(ctx, rq, q, found);
    ctx.table->forget_elsewhere(owner);
  }
  const auto error = co_await ctx.table->learn(owner);
  q.now = ctx.environment.steady_now();
  if (!error) co_return answer_access(ctx, rq, q);
  if (is(error, errc::absent)) co_return refuse(ctx, rq, q, fault::session_over);
  const auto found = co_await find_in_cache(ctx, q.ticket);
  if (found.verdict == session_verdict::unknown)
    co_return refuse(ctx, rq, q,
                     is(error, errc::not_owner)     ? fault::not_owner
                     : is(error, errc::ledger_lost) ? fault::ledger_lost
                                                    : fault::unavailable);
  ctx.table->note_elsewhere(owner);
  co_return answer_access_found(ctx, rq, q, found);
}

/// Reads the request; `no` is set to the answer if it is invalid.
access_query read_query(context& ctx, const request& rq, std::optional<response>& no) {
  access_query q{ctx.environment.steady_now()};
  q.token = bearer_token(rq);
  if (rq.query.empty()) [[likely]]
    return q;
  const auto query = query_parameters::read(rq, {"queue_id", "profile"}, no);
  if (no) return q;
  const auto how = query.find("profile"), queue = query.find("queue_id");
  if (how && *how != "auth_request")
    no = problem(fault::invalid_parameter, rq.request_id, "profile must be auth_request.");
  if (how) q.how = profile::auth_request;
  if (queue && !(q.queue = parse_uuid(*queue)))
    no = problem(fault::invalid_parameter, rq.request_id, "queue_id must be a UUID.");
  return q;
}

/// The origin's API key, if sent; `no` is set to the answer if it is invalid.
std::optional<api_key> find_key(context& ctx, const request& rq, const access_query& q,
                                std::optional<response>& no) {
  const auto given = rq.field("X-API-Key");
  if (given.empty()) [[likely]]
    return std::nullopt;
  const auto keys = ctx.shared->keys.get();
  const auto key = keys ? keys->find(given) : std::nullopt;
  if (!key || key->scope != api_key_scope::server)
    no = refuse_unknown(ctx, rq, q, key ? fault::forbidden : fault::unauthenticated);
  return key;
}

/// Applies the limit of the key if there is one, else of the session. Returns the answer if the limit is
/// reached.
std::optional<response> limit_access(context& ctx, const request& rq, const access_query& q) {
  auto& limiter = q.key ? ctx.shared->access_keys : ctx.shared->access_sessions;
  const auto verdict = limiter.take(q.key ? q.key->id : q.ticket, q.now);
  if (verdict.allowed) [[likely]]
    return std::nullopt;
  ctx.shared->counts.rate_limited.add();
  return q.how == profile::plain ? too_many(limiter.rule(), verdict, rq.request_id)
                                 : refuse(ctx, rq, q, fault::rate_limited);
}

/// Whether this thread has checked the token before, and its session is in force.
bool is_known(context& ctx, access_query& q) {
  const auto ticket = parse_uuid(q.token.substr(0, q.token.find('.')));
  auto* s = ticket ? ctx.table->find(*ticket, q.now) : nullptr;
  if (s == nullptr || !s->last || s->last->renewals != q.renewals
      || !constant_time_equal(q.token, s->last->token) || !ctx.table->knows(owner_of(*ticket), q.now))
    return false;
  q.ticket = *ticket;
  q.known = s;
  return true;
}

bool is_valid(context& ctx, access_query& q) {
  const auto ticket = session_token_entry(q.token);
  if (!ticket || number_of(owner_of(*ticket)) < number_of(first_event_aggregate)) return false;
  q.ticket = *ticket;
  const bool is_ours = session_token_matches(ctx.sessions, q.token, *ticket, only_admission);
  q.now = ctx.environment.steady_now(); // after the slow part, so that a pause in it is noticed
  return is_ours;
}

/// The checks without any actor: the request, the API key, and the token's signature. So an invalid token
/// is cheap, and only its holder can use up a session's limit. `no` is set to the answer if a check fails.
access_query admit_query(context& ctx, const request& rq, std::optional<response>& no) {
  auto q = read_query(ctx, rq, no);
  if (no) return q;
  q.key = find_key(ctx, rq, q, no);
  if (no) return q;
  q.renewals = ctx.sessions.renewals();
  if (!is_known(ctx, q) && !is_valid(ctx, q)) {
    // An origin with an API key forwards many visitors; their invalid tokens do not count against its
    // address.
    no = q.key ? limit_access(ctx, rq, q) : std::nullopt;
    if (!no)
      no = q.key ? refuse(ctx, rq, q, fault::unauthenticated)
                 : refuse_unknown(ctx, rq, q, fault::unauthenticated);
    return q;
  }
  no = limit_access(ctx, rq, q);
  return q;
}

awaitable<response> end(context& ctx, const request& rq, std::string token) {
  end_session wish{std::move(token)};
  const auto owner = owner_of(*session_token_entry(wish.session_token));
  auto got = co_await ask_event(ctx, owner, std::move(wish));
  if (!got.error && got.reply.no.why == reason::not_admitted)
    co_return problem(fault::session_over, rq.request_id);
  if (auto no = refused(rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

awaitable<response> get_access(context& ctx, const request& rq, const path_parameters&) {
  std::optional<response> no;
  const auto q = admit_query(ctx, rq, no);
  if (no) return ready(std::move(*no));
  if (q.known || ctx.table->knows(owner_of(q.ticket), q.now)) [[likely]]
    return ready(answer_access(ctx, rq, q));
  return answer_access_later(ctx, rq, q);
}

awaitable<response> delete_access(context& ctx, const request& rq, const path_parameters&) {
  std::optional<response> no;
  const auto q = admit_query(ctx, rq, no);
  if (no) return ready(std::move(*no));
  if (q.queue && owner_of(*q.queue) != owner_of(q.ticket))
    return ready(refuse(ctx, rq, q, fault::wrong_queue));
  return end(ctx, rq, std::string{q.token});
}

// -- locks of sessions at a queue

/// Letters, digits and the other unreserved characters of RFC 3986: they stand in a path as they are. Clients
/// and proxies take the segments . and .. away.
bool is_lock_name(std::string_view text) {
  if (text == "." || text == "..") return false;
  return !text.empty() && text.size() <= lock_name_bytes_max && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || std::string_view{"-_.~"}.find(c) != std::string_view::npos;
  });
}

response locks_answer(const locks_reply& reply) {
  response answer;
  answer.body = R"({"locks":[)";
  for (const auto& lock : reply.locks) {
    if (answer.body.back() == '}') answer.body += ',';
    append_lock(answer.body, lock);
  }
  answer.body += R"(],"next_cursor":)";
  if (reply.more)
    append_text(answer.body, reply.locks.back().row.name);
  else
    answer.body += "null";
  answer.body += '}';
  return answer;
}

std::optional<response> refused_lock(const request& rq, const answer<locks_reply>& got) {
  if (!got.error && got.reply.no.why == reason::not_admitted)
    return problem(fault::session_over, rq.request_id);
  return refused(rq, got);
}

/// The queue and the name in the path, and a session token of the queue; `no` is set to the answer if a check
/// fails.
access_query admit_lock(context& ctx, const request& rq, const path_parameters& path,
                        std::optional<response>& no) {
  const auto queue = parse_event_owned_id(path.values[0]);
  if (!queue) no = problem(fault::not_found, rq.request_id);
  if (!no && path.count > 1 && !is_lock_name(path.values[1]))
    no = problem(fault::invalid_parameter, rq.request_id,
                 "The name must be 1 to 64 letters, digits, -, _, . and ~; . and .. are none.");
  if (no) return access_query{milliseconds{0}};
  auto q = admit_query(ctx, rq, no);
  q.queue = *queue;
  if (!no && owner_of(*queue) != owner_of(q.ticket)) no = refuse(ctx, rq, q, fault::wrong_queue);
  return q;
}

awaitable<response> ask_to_change(context& ctx, const request& rq, change_lock wish) {
  const bool frees = wish.frees;
  const auto owner = owner_of(wish.queue);
  auto got = co_await ask_event(ctx, owner, std::move(wish));
  if (auto no = refused_lock(rq, got)) co_return std::move(*no);
  if (frees) co_return response{.status = 204, .content_type = {}};
  response answer{.status = got.reply.created ? 201u : 200u};
  append_lock(answer.body, got.reply.locks.front());
  co_return answer;
}

template <bool Frees>
awaitable<response> change_lock_of(context& ctx, const request& rq, const path_parameters& path) {
  std::optional<response> no;
  const auto q = admit_lock(ctx, rq, path, no);
  if (!no) no = expect_no_body(rq);
  if (no) return ready(std::move(*no));
  return ask_to_change(ctx, rq, {*q.queue, std::string{q.token}, std::string{path.values[1]}, Frees});
}

awaitable<response> ask_for_locks(context& ctx, const request& rq, find_locks wish) {
  const auto owner = owner_of(wish.queue);
  auto got = co_await ask_event(ctx, owner, std::move(wish));
  if (auto no = refused_lock(rq, got)) co_return std::move(*no);
  co_return locks_answer(got.reply);
}

/// For the origin, by its API key alone.
awaitable<response> get_all_locks(context& ctx, const request& rq, const path_parameters& path) {
  access_query q{ctx.environment.steady_now()};
  std::optional<response> no;
  q.key = find_key(ctx, rq, q, no);
  if (!no) no = limit_access(ctx, rq, q);
  if (no) return ready(std::move(*no));
  const auto queue = parse_event_owned_id(path.values[0]);
  if (!queue) return ready(problem(fault::not_found, rq.request_id));
  const auto query = query_parameters::read(rq, {"limit", "cursor"}, no);
  if (no) return ready(std::move(*no));
  find_locks wish{*queue, {}, q.key->tenant, std::string{query.find("cursor").value_or("")}};
  if (!wish.after.empty() && !is_lock_name(wish.after))
    return ready(problem(fault::invalid_cursor, rq.request_id));
  if (no = read_limit(rq, query, wish.limit); no) return ready(std::move(*no));
  return ask_for_locks(ctx, rq, std::move(wish));
}

awaitable<response> get_locks(context& ctx, const request& rq, const path_parameters& path) {
  if (bearer_token(rq).empty() && !rq.field("X-API-Key").empty()) return get_all_locks(ctx, rq, path);
  std::optional<response> no;
  const auto q = admit_lock(ctx, rq, path, no);
  if (no) return ready(std::move(*no));
  return ask_for_locks(ctx, rq, {*q.queue, std::string{q.token}});
}

awaitable<response> get_jwks(context& ctx, const request&, const path_parameters&) {
  response answer;
  answer.content_type = "application/jwk-set+json";
  answer.body = ctx.shared->passes.jwks();
  answer.fields.emplace_back("Cache-Control", std::string{key_set_cache});
  return ready(std::move(answer));
}

} // namespace

std::span<const route> access_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/access", self_guarded<get_access, audience::session_holders>},
    {del, "/access", self_guarded<delete_access, audience::session_holders>},
    {get, "/queues/{id}/locks", self_guarded<get_locks, audience::session_holders>},
    {put, "/queues/{id}/locks/{name}", self_guarded<change_lock_of<false>, audience::session_holders>},
    {del, "/queues/{id}/locks/{name}", self_guarded<change_lock_of<true>, audience::session_holders>},
    {get, "/.well-known/jwks.json", self_guarded_for_anybody<get_jwks>},
  };
  return table;
}

} // namespace fq::net
