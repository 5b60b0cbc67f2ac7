// SPDX-License-Identifier: Apache-2.0
#include "app/control_requests.hpp"

#include "actors/base/errors.hpp"
#include "app/limits.hpp"
#include "net/wire/customer_codec.hpp"

#include <boost/json/array.hpp>

#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace fq {
namespace {

bool flag_of(const boost::json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

/// An actor's reply, or an error text for people.
template <class Reply>
struct asked {
  Reply reply;
  std::string error;
};

std::string refusal_text(const refusal& no) {
  const std::string code{code_of(no.why)};
  return no.detail.empty() ? code : code + ": " + no.detail;
}

/// Accounts may still be loading, or moving to another node: retries until they answer, for at most 10 s.
template <class Reply, class Message>
asked<Reply> ask_accounts(caf::actor_system& system, const accounts_handle& accounts,
                          const Message& message) {
  asked<Reply> got;
  caf::scoped_actor self{system};
  const auto deadline = std::chrono::steady_clock::now() + accounts_timeout;
  bool is_answered = false;
  do {
    got.error.clear();
    self->request(accounts, accounts_timeout, message)
      .receive(
        [&](const Reply& reply) {
          got.reply = reply;
          if (reply.no) got.error = refusal_text(reply.no);
        },
        [&](const caf::error& why) { got.error = is(why, errc::not_owner) ? "not_owner" : "unavailable"; });
    is_answered = got.error != "unavailable" && got.error != "not_owner";
    if (!is_answered) std::this_thread::sleep_for(milliseconds{50});
  } while (!is_answered && std::chrono::steady_clock::now() < deadline);
  return got;
}

// -- tenants and API keys

constexpr std::array scope_names{std::pair{api_key_scope::join, "join"},
                                 std::pair{api_key_scope::server, "server"},
                                 std::pair{api_key_scope::operate, "operator"}};

std::string_view name_of(api_key_scope scope) {
  for (const auto& [value, name] : scope_names)
    if (value == scope) return name;
  return {};
}

/// Makes the directory actor read tenants and keys again; returns when requests see the new ones.
void refresh(const control_targets& to) {
  caf::scoped_actor self{to.system};
  self->request(to.directory, accounts_timeout, refresh_directory{})
    .receive([](const ack_reply&) {}, [](const caf::error&) {});
}

boost::json::object add_tenant_request(const control_targets& to, const boost::json::object& request) {
  const add_tenant wish{text_of(request, "name"),
                        text_of(request, "subject_jwk"),
                        flag_of(request, "replace"),
                        text_of(request, "stripe_account"),
                        text_of(request, "paystack_subaccount"),
                        text_of(request, "payment_metadata"),
                        text_of(request, "mail_name"),
                        text_of(request, "mail_sender"),
                        text_of(request, "mail_colour")};
  if (!wish.mail_sender.empty() && wish.mail_sender != "none"
      && std::ranges::find(to.mail_senders, wish.mail_sender) == to.mail_senders.end())
    return {{"error", "mail_sender: must be mail.sender or one of mail.senders"}};
  const auto got = ask_accounts<ack_reply>(to.system, to.accounts, wish);
  if (got.error.empty()) refresh(to);
  return {{"error", got.error}};
}

boost::json::object list_tenants_request(const control_targets& to) {
  const auto got = ask_accounts<tenants_reply>(to.system, to.accounts, list_tenants{});
  boost::json::array tenants;
  for (const auto& t : got.reply.tenants) {
    boost::json::array keys;
    for (const auto& k : got.reply.api_keys)
      if (k.tenant == t.id)
        keys.push_back(boost::json::object{{"id", to_string(k.id)},
                                           {"scope", name_of(k.scope)},
                                           {"label", k.label},
                                           {"revoked", is_set(k.revoked_at)}});
    tenants.push_back(boost::json::object{
      {"name", t.name}, {"signs_subjects", !t.subject_jwk.empty()}, {"api_keys", std::move(keys)}});
  }
  return {{"error", got.error}, {"tenants", std::move(tenants)}};
}

boost::json::object issue_key_request(const control_targets& to, const boost::json::object& request) {
  const auto scope = text_of(request, "scope");
  const auto known = std::ranges::find_if(scope_names, [&](const auto& s) { return scope == s.second; });
  if (known == scope_names.end()) return {{"error", "scope must be join, server or operator"}};
  const auto got = ask_accounts<api_key_reply>(
    to.system, to.accounts,
    issue_api_key{text_of(request, "tenant"), known->first, text_of(request, "label")});
  if (got.error.empty()) refresh(to);
  return {{"error", got.error}, {"id", to_string(got.reply.id)}, {"key", got.reply.key}};
}

boost::json::object revoke_key_request(const control_targets& to, const boost::json::object& request) {
  const auto id = parse_uuid(text_of(request, "id"));
  if (!id) return {{"error", "id must be a UUID"}};
  const auto got = ask_accounts<ack_reply>(to.system, to.accounts, revoke_api_key{*id});
  if (got.error.empty()) refresh(to);
  return {{"error", got.error}};
}

// -- cluster

std::string name_of(const lost_aggregate& lost) {
  if (lost.aggregate == accounts_aggregate) return "accounts";
  if (lost.aggregate == catalog_aggregate) return "catalog";
  return to_string(lost.event);
}

boost::json::object nodes_request(const control_targets& to) {
  if (!to.cluster) return {{"error", "this node is not one of a cluster: cluster.listen is empty"}};
  boost::json::array nodes;
  std::string error;
  caf::scoped_actor self{to.system};
  self->request(to.cluster, cluster_timeout, list_nodes{})
    .receive(
      [&](const nodes_reply& reply) {
        for (const auto& n : reply.nodes)
          nodes.push_back(boost::json::object{{"id", n.node.id},
                                              {"address", n.node.address},
                                              {"owners", n.node.owners},
                                              {"is_draining", n.node.is_draining},
                                              {"is_self", n.is_self},
                                              {"is_connected", n.is_connected},
                                              {"failure", n.failure}});
      },
      [&](const caf::error&) { error = "unavailable"; });
  return {{"error", error}, {"nodes", std::move(nodes)}};
}

/// `moved` false: the owner stays on this node; if `may_move`, the result of the handoff is unknown.
boost::json::object handoff_request(const control_targets& to, const boost::json::object& request) {
  if (!to.cluster) return {{"error", "this node is not one of a cluster: cluster.listen is empty"}};
  const auto event = parse_uuid(text_of(request, "event_id"));
  if (!event) return {{"error", "the event's id is no UUID"}};
  const auto node = text_of(request, "node");
  const auto known = nodes_request(to);
  if (const auto& why = known.at("error").as_string(); !why.empty()) return {{"error", why}};
  const auto has_name = [&](const auto& n) { return n.as_object().at("id").as_string() == node; };
  if (std::ranges::none_of(known.at("nodes").as_array(), has_name))
    return {{"error", "no such node: " + node}};
  boost::json::object answer{{"error", ""}, {"moved", true}, {"may_move", false}};
  caf::scoped_actor self{to.system};
  self->request(to.region, handoff_timeout, move_event{owner_of(*event), node})
    .receive([](const ack_reply&) {},
             [&](const caf::error& why) {
               answer["moved"] = false;
               if (is(why, errc::absent))
                 answer["error"] = "no such event or queue";
               else
                 answer["may_move"] = !is(why, errc::unavailable);
             });
  return answer;
}

// -- a ledger that has gone back

/// Of one event, or of all that is stopped if no event is given.
boost::json::object accept_loss_request(const control_targets& to, const boost::json::object& request) {
  accept_losses wish;
  if (!flag_of(request, "all")) {
    const auto event = parse_uuid(text_of(request, "event_id"));
    if (!event) return {{"error", "the event's id is no UUID"}};
    wish.aggregate = owner_of(*event);
  }
  boost::json::array accepted;
  std::string error;
  caf::scoped_actor self{to.system};
  self->request(to.ledger, accounts_timeout, wish)
    .receive(
      [&](const losses_accepted& reply) {
        if (reply.unavailable) error = "unavailable";
        for (const auto& lost : reply.losses)
          accepted.push_back(boost::json::object{{"what", name_of(lost)}, {"decisions", lost.decisions()}});
      },
      [&](const caf::error&) { error = "unavailable"; });
  return {{"error", error}, {"accepted", std::move(accepted)}};
}

// -- organizers and verification

boost::json::object add_organizer_request(caf::actor_system& system, const accounts_handle& accounts,
                                          const boost::json::object& request) {
  const auto done = add_organizer_now(system, accounts,
                                      {text_of(request, "email"), text_of(request, "password"),
                                       flag_of(request, "replace"), text_of(request, "tenant")});
  return {{"organizer_id", done.organizer_id}, {"error", done.error}};
}

boost::json::object sign_organizer_out_request(const control_targets& to, const boost::json::object& request,
                                               bool remove) {
  const auto got =
    ask_accounts<ack_reply>(to.system, to.accounts, sign_organizer_out{text_of(request, "email"), remove});
  if (got.error.empty()) refresh(to);
  return {{"error", got.error}};
}

// -- customers

/// The error text is set if the ledger does not answer.
template <class Reply, class Message>
asked<Reply> ask_ledger(const control_targets& to, const Message& message) {
  asked<Reply> got;
  caf::scoped_actor self{to.system};
  self->request(to.ledger, accounts_timeout, message)
    .receive(
      [&](const Reply& reply) {
        got.reply = reply;
        if (reply.no) got.error = refusal_text(reply.no);
      },
      [&](const caf::error&) { got.error = "unavailable"; });
  return got;
}

/// The customer of an address: with an account, or with orders that a guest placed for it.
asked<customer_reply> find_person(const control_targets& to, const std::string& email) {
  auto who = ask_accounts<customer_reply>(to.system, to.accounts, find_customer{{}, email});
  if (who.error.empty()) return who;
  const auto of_address =
    ask_accounts<customers_reply>(to.system, to.accounts, find_customers{default_tenant, {email}});
  if (!of_address.error.empty()) return who;
  const auto id = of_address.reply.customers.front();
  const auto ordered = ask_ledger<order_list_reply>(to, list_orders{id, {}, 1});
  if (!ordered.error.empty() || ordered.reply.orders.empty()) return who;
  return {{{}, id, email, ordered.reply.orders.front().order.created_at}, {}};
}

/// A page from `cursor` on; the command asks for the next one.
boost::json::object export_customer_request(const control_targets& to, const boost::json::object& request) {
  const auto who = find_person(to, text_of(request, "email"));
  if (!who.error.empty()) return {{"error", who.error}};
  const auto cursor = text_of(request, "cursor");
  net::customer_export page{who.reply,
                            cursor.empty() ? net::export_cursor{} : net::parse_export_cursor(cursor)};
  if (page.wants_orders()) {
    const auto got =
      ask_ledger<order_list_reply>(to, list_orders{who.reply.customer, page.next->before, exported_rows_max});
    if (!got.error.empty()) return {{"error", got.error}};
    page.add(got.reply);
  }
  while (page.wants_records(exported_rows_max)) {
    const auto got = ask_ledger<records_reply>(
      to, list_records{who.reply.customer, who.reply.email, *page.next->records, exported_rows_max});
    if (!got.error.empty()) return {{"error", got.error}};
    page.add(got.reply.page);
  }
  return {{"error", ""}, {"customer", net::customer_text(std::move(page))}};
}

boost::json::object erase_customer_request(const control_targets& to, const boost::json::object& request) {
  const auto email = text_of(request, "email");
  const auto who = find_person(to, email);
  if (!who.error.empty()) return {{"error", who.error}};
  const auto got = ask_accounts<ack_reply>(
    to.system, to.accounts,
    erase_customer{who.reply.customer, {R"({"by":"operator"})", {}}, to.token_life, true, email});
  if (got.error.empty()) refresh(to);
  return {{"error", got.error}};
}

boost::json::array lines_of(const std::vector<std::string>& lines) {
  boost::json::array all;
  for (const auto& line : lines) all.emplace_back(line);
  return all;
}

std::string_view state_of(const ledger_report& report) {
  if (!report.was_read) return "unavailable";
  return report.differences.empty() ? "sound" : "different";
}

boost::json::object verify_request(caf::actor_system& system, const region_handle& region,
                                   const boost::json::object& request) {
  boost::json::array events;
  for (const auto& [cache, ledger] : verify_events_now(system, region, flag_of(request, "rebuild"))) {
    auto differences = lines_of(cache.differences);
    for (const auto& line : lines_of(ledger.differences)) differences.push_back(line);
    events.push_back(boost::json::object{{"event_id", to_string(cache.event)},
                                         {"generation", cache.generation},
                                         {"cache", name_of(cache.state)},
                                         {"ledger", state_of(ledger)},
                                         {"differences", std::move(differences)}});
  }
  return {{"error", ""}, {"events", std::move(events)}};
}

/// For one event. Returns nothing if this node does not own it any more.
std::optional<event_verification> verify_one(caf::scoped_actor& self, const region_handle& region,
                                             aggregate_id aggregate, bool rebuild) {
  event_verification result;
  result.cache.state = mirror_state::unavailable;
  event_handle owner;
  bool went_elsewhere = false;
  self->request(region, accounts_timeout, resolve_event{aggregate})
    .receive(
      [&](const event_handle& found) { owner = found; },
      [&](const caf::error& why) { went_elsewhere = is(why, errc::absent) || is(why, errc::not_owner); });
  if (went_elsewhere) return std::nullopt;
  if (!owner) {
    result.cache.differences = {"aggregate " + std::to_string(number_of(aggregate)) + " does not answer"};
    return result;
  }
  const auto note_move = [&](const caf::error& why) {
    went_elsewhere = went_elsewhere || is(why, errc::moved);
  };
  self->request(owner, verify_timeout, verify_mirror{rebuild})
    .receive([&](const mirror_report& report) { result.cache = report; }, note_move);
  self->request(owner, verify_timeout, verify_ledger{})
    .receive([&](const ledger_report& report) { result.ledger = report; }, note_move);
  if (went_elsewhere) return std::nullopt; // moved to another node meanwhile
  return result;
}

} // namespace

std::string_view name_of(mirror_state state) {
  switch (state) {
    case mirror_state::equal: return "equal";
    case mirror_state::lost: return "lost";
    case mirror_state::different: return "different";
    case mirror_state::unavailable: return "unavailable";
    case mirror_state::none: return "none";
  }
  return {};
}

organizer_answer add_organizer_now(caf::actor_system& system, const accounts_handle& accounts,
                                   const organizer_request& request) {
  const auto got =
    ask_accounts<person_reply>(system, accounts,
                               add_organizer{request.email, request.password, request.replace,
                                             request.tenant.empty() ? "default" : request.tenant});
  return {got.error.empty() ? to_string(got.reply.person) : std::string{}, got.error};
}

std::vector<event_verification> verify_events_now(caf::actor_system& system, const region_handle& region,
                                                  bool rebuild) {
  caf::scoped_actor self{system};
  std::vector<event_verification> all;
  std::vector<aggregate_id> aggregates;
  self->request(region, accounts_timeout, list_owned{})
    .receive([&](const owned_aggregates& owned) { aggregates = owned.aggregates; },
             [&](const caf::error&) {
               all.push_back({{{}, 0, mirror_state::unavailable, {"the region does not answer"}}, {}});
             });
  for (const auto aggregate : aggregates)
    if (auto one = verify_one(self, region, aggregate, rebuild)) all.push_back(std::move(*one));
  return all;
}

control_handlers control_requests(const control_targets& to) {
  return {
    {"organizer_add",
     [to](const auto& request) {
       auto answer = add_organizer_request(to.system, to.accounts, request);
       refresh(to);
       return answer;
     }},
    {"organizer_sign_out",
     [to](const auto& request) { return sign_organizer_out_request(to, request, false); }},
    {"organizer_remove", [to](const auto& request) { return sign_organizer_out_request(to, request, true); }},
    {"customer_export", [to](const auto& request) { return export_customer_request(to, request); }},
    {"customer_erase", [to](const auto& request) { return erase_customer_request(to, request); }},
    {"tenant_add", [to](const auto& request) { return add_tenant_request(to, request); }},
    {"tenant_list", [to](const auto&) { return list_tenants_request(to); }},
    {"apikey_issue", [to](const auto& request) { return issue_key_request(to, request); }},
    {"apikey_revoke", [to](const auto& request) { return revoke_key_request(to, request); }},
    {"drain",
     [to](const auto&) -> boost::json::object {
       if (!to.cluster) return {{"error", "this node is not one of a cluster: cluster.listen is empty"}};
       caf::anon_send(to.cluster, drain_node{});
       return {{"error", ""}};
     }},
    {"accept_loss", [to](const auto& request) { return accept_loss_request(to, request); }},
    {"handoff", [to](const auto& request) { return handoff_request(to, request); }},
    {"nodes", [to](const auto&) { return nodes_request(to); }},
    {"verify", [to](const auto& request) { return verify_request(to.system, to.region, request); }},
  };
}

} // namespace fq
