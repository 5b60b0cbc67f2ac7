// SPDX-License-Identifier: Apache-2.0
#include "actors/directory/accounts.hpp"

#include "actors/base/domain_events.hpp"
#include "actors/protocol/cluster_messages.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

namespace fq {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_account(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) && text.size() > prefix.size() && text.size() <= prefix.size() + 60
         && std::ranges::all_of(text.substr(prefix.size()), is_alphanumeric);
}

bool is_metadata_line(std::string_view line) {
  const auto equals = line.find('=');
  const auto key = line.substr(0, equals);
  return equals != std::string_view::npos && !key.empty() && key.size() <= metadata_key_bytes_max
         && std::ranges::all_of(key, [](char c) { return c == '_' || c == '-' || is_alphanumeric(c); })
         && !key.starts_with("fairqueue_") && key != "order_id" && key != "show_id" && key != "cancel_action"
         && line.size() - equals - 1 <= metadata_value_bytes_max
         && std::ranges::none_of(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool is_payment_metadata(std::string_view text) {
  std::set<std::string_view> keys;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    if (!is_metadata_line(line) || keys.size() == metadata_lines_max) return false;
    if (!keys.insert(line.substr(0, line.find('='))).second) return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

/// True if `wish` is a new value; an empty one keeps the setting, "none" empties it.
bool is_value(std::string_view wish) { return !wish.empty() && wish != "none"; }

void set(std::string& setting, const std::string& wish) {
  if (!wish.empty()) setting = is_value(wish) ? wish : std::string{};
}

/// The first wrong field of a wish.
refusal refusal_of(const add_tenant& x) {
  const auto value_in = [](const std::string& wish) { return is_value(wish) ? wish : std::string{}; };
  const auto mail_name = value_in(x.mail_name);
  if (auto wrong =
        wrong_with(mail_style{{value_in(x.mail_sender), mail_name}, mail_name, value_in(x.mail_colour)});
      !wrong.empty())
    return {reason::invalid_field, std::move(wrong)};
  if (is_value(x.stripe_account) && !is_account(x.stripe_account, "acct_"))
    return {reason::invalid_field, "stripe_account: must be acct_ and up to 60 letters and digits, or none"};
  if (is_value(x.paystack_subaccount) && !is_account(x.paystack_subaccount, "ACCT_"))
    return {reason::invalid_field,
            "paystack_subaccount: must be ACCT_ and up to 60 letters and digits, or none"};
  if (is_value(x.payment_metadata) && !is_payment_metadata(x.payment_metadata))
    return {
      reason::invalid_field,
      "payment_metadata: must be at most 20 of key=value, a key of at most 40 letters, digits, _ and -, a "
      "value of at most 200 bytes; no key twice, not order_id, show_id, cancel_action and fairqueue_…; or "
      "none"};
  return {};
}

bool is_tenant_name(const std::string& name) {
  return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Organizer of the block list that `by` manages; nil: the operators' list.
organizer_id list_of(const principal& by) {
  return by.kind == principal_kind::organizer ? organizer_id{by.id} : organizer_id{};
}
constexpr uuid last_id{~0ull, ~0ull};

} // namespace

accounts_handle::behavior_type accounts(accounts_handle::stateful_pointer<accounts_state> self,
                                        const accounts_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void accounts_state::init(pointer self, const accounts_services& services) {
  self_ = self;
  services_ = &services;
  core_.init(self, accounts_aggregate, *services.env, services.ledgers, services.has_cluster);
}

accounts_handle::behavior_type accounts_state::behavior() {
  return {
    [this](const find_customer& x) { return core_.here_or_there(x, [&] { return on_find_customer(x); }); },
    [this](const log_in& x) { return core_.here_or_there(x, [&] { return on_log_in(x); }); },
    [this](const request_otp& x) { return core_.here_or_there(x, [&] { return on_request_otp(x); }); },
    [this](const open_code_challenge& x) {
      return core_.here_or_there(x, [&] { return on_open_challenge(x); });
    },
    [this](const mail_challenge& x) { return core_.here_or_there(x, [&] { return on_mail_challenge(x); }); },
    [this](const verify_otp& x) { return core_.here_or_there(x, [&] { return on_verify_otp(x); }); },
    [this](const add_organizer& x) { return core_.here_or_there(x, [&] { return on_add_organizer(x); }); },
    [this](const add_tenant& x) { return core_.here_or_there(x, [&] { return on_add_tenant(x); }); },
    [this](const list_tenants& x) { return core_.here_or_there(x, [&] { return on_list_tenants(); }); },
    [this](const issue_api_key& x) { return core_.here_or_there(x, [&] { return on_issue_key(x); }); },
    [this](const revoke_api_key& x) { return core_.here_or_there(x, [&] { return on_revoke_key(x); }); },
    [this](const find_customers& x) { return core_.here_or_there(x, [&] { return on_find_customers(x); }); },
    [this](const change_setting& x) { return core_.here_or_there(x, [&] { return on_change_setting(x); }); },
    [this](const set_tenant_logo& x) { return core_.here_or_there(x, [&] { return on_set_logo(x); }); },
    [this](const record_deed& x) { return core_.here_or_there(x, [&] { return on_record_deed(x); }); },
    [this](const block_customers& x) { return core_.here_or_there(x, [&] { return on_block(x); }); },
    [this](const unblock_customer& x) { return core_.here_or_there(x, [&] { return on_unblock(x); }); },
    [this](const find_blocks& x) { return core_.here_or_there(x, [&] { return on_find_blocks(x); }); },
    [this](const list_organizer_sessions& x) {
      return core_.here_or_there(x, [&] { return on_list_sessions(x); });
    },
    [this](const end_organizer_session& x) {
      return core_.here_or_there(x, [&] { return on_end_session(x); });
    },
    [this](const sign_organizer_out& x) { return core_.here_or_there(x, [&] { return on_sign_out(x); }); },
    [this](const erase_customer& x) { return core_.here_or_there(x, [&] { return on_erase_customer(x); }); },
    [this](const cluster_changed& x) { core_.on_cluster(x, &node_peer::accounts); },
    [this](const batch_settled& x) { core_.on_settled(x); },
    [this](const aggregate_acquired& x) { on_acquired(x); },
    [this](const lease_lost&) { core_.on_lease_lost(); },
    [this](const timer_fired& x) { core_.on_timer(x); },
  };
}

void accounts_state::on_acquired(const aggregate_acquired& answer) {
  const auto* image = core_.on_acquired(answer);
  if (image == nullptr) return;
  organizers_.clear();
  sessions_.clear();
  otps_.clear();
  otp_ends_.clear();
  otps_of_.clear();
  tenants_.clear();
  api_keys_.clear();
  blocks_.clear();
  for (const auto& row : image->image.tenants) tenants_.emplace(row.name, row);
  for (const auto& row : image->image.api_keys) api_keys_.emplace(row.id, row);
  for (const auto& row : image->image.blocks)
    blocks_.emplace(std::tuple{row.tenant, row.organizer, row.customer}, row);
  for (const auto& row : image->image.organizers) organizers_.emplace(row.email, row);
  customers().load(image->image.customers);
  for (const auto& row : image->image.organizer_sessions) sessions_.emplace(row.id, row);
  for (const auto& row : image->image.otps) remember(row);
  core_.serve();
}

// -- tenants

caf::result<ack_reply> accounts_state::on_add_tenant(const add_tenant& x) {
  if (core_.refuses()) return core_.refusal();
  if (!is_tenant_name(x.name))
    return ack_reply{{reason::invalid_field, "name: must be 1 to 40 of a-z, 0-9 and hyphens"}};
  if (auto no = refusal_of(x)) return ack_reply{std::move(no)};
  const auto known = tenants_.find(x.name);
  if (known != tenants_.end() && !x.replace) return ack_reply{{reason::invalid_field, "name: is taken"}};
  tenant_row row = known == tenants_.end() ? tenant_row{} : known->second;
  if (known == tenants_.end()) {
    for (const auto& [name, t] : tenants_) row.id = std::max(row.id, t.id);
    row.id = tenant_id{static_cast<std::uint32_t>(row.id) + 1};
    row.name = x.name;
    row.created_at = core_.now();
  }
  if (!x.subject_jwk.empty()) row.subject_jwk = x.subject_jwk;
  set(row.stripe_account, x.stripe_account);
  set(row.paystack_subaccount, x.paystack_subaccount);
  set(row.payment_metadata, x.payment_metadata);
  set(row.mail_name, x.mail_name);
  set(row.mail_sender, x.mail_sender);
  set(row.mail_colour, x.mail_colour);
  tenants_[x.name] = row;
  changes content;
  content.emplace_back(tenant_stored{std::move(row)});
  return core_.commit(std::move(content), ack_reply{});
}

caf::result<ack_reply> accounts_state::on_set_logo(const set_tenant_logo& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = std::ranges::find(tenants_, x.by.tenant, [](const auto& t) { return t.second.id; });
  if (known == tenants_.end()) return ack_reply{reason::not_found};
  known->second.logo = x.picture;
  changes content;
  record(x.by, "tenant.logo", x.note, {}, content);
  content.emplace_back(tenant_stored{known->second});
  return core_.commit(std::move(content), ack_reply{});
}

caf::result<tenants_reply> accounts_state::on_list_tenants() {
  if (core_.refuses()) return core_.refusal();
  tenants_reply reply;
  for (const auto& [name, row] : tenants_) reply.tenants.push_back(row);
  for (const auto& [id, row] : api_keys_) {
    reply.api_keys.push_back(row);
    reply.api_keys.back().secret_hash.clear();
  }
  return core_.commit({}, std::move(reply));
}

caf::result<api_key_reply> accounts_state::on_issue_key(const issue_api_key& x) {
  if (core_.refuses()) return core_.refusal();
  const auto tenant = tenants_.find(x.tenant);
  if (tenant == tenants_.end())
    return api_key_reply{{reason::invalid_field, "tenant: there is none of that name"}};
  if (x.label.size() > 200)
    return api_key_reply{{reason::invalid_field, "label: must have at most 200 bytes"}};
  const auto is_valid = [&](const auto& k) {
    return k.second.tenant == tenant->second.id && !is_set(k.second.revoked_at);
  };
  if (static_cast<std::size_t>(std::ranges::count_if(api_keys_, is_valid))
        >= services_->bounds.keys_per_tenant
      && !planted(bug::keys_without_limit))
    return api_key_reply{{reason::invalid_field, "tenant: has too many valid keys; revoke some"}};
  std::array<std::byte, 32> random{};
  core_.env().random_bytes(random);
  const auto secret =
    to_base64url(byte_view{reinterpret_cast<const std::uint8_t*>(random.data()), random.size()});
  api_key_row row{core_.make_id(), tenant->second.id, x.scope, to_hex(sha256(secret)),
                  x.label,         core_.now(),       never};
  api_key_reply reply;
  reply.id = row.id;
  reply.key = "wr_" + x.tenant + '_' + secret;
  api_keys_.emplace(row.id, row);
  changes content;
  content.emplace_back(api_key_stored{std::move(row)});
  return core_.commit(std::move(content), std::move(reply));
}

caf::result<ack_reply> accounts_state::on_revoke_key(const revoke_api_key& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = api_keys_.find(x.id);
  if (known == api_keys_.end()) return ack_reply{reason::not_found};
  changes content;
  if (!is_set(known->second.revoked_at)) {
    known->second.revoked_at = core_.now();
    if (!planted(bug::revoked_key_kept)) content.emplace_back(api_key_stored{known->second});
  }
  return core_.commit(std::move(content), ack_reply{});
}

// -- customers

/// An erased customer keeps its id, so that the address then begins anew with another one.
customer_id accounts_state::id_of(const std::string& email) const {
  if (const auto* known = customers().find(email)) return known->id;
  for (std::uint32_t n = 0;; ++n) {
    const auto id = customer_id_of(services_->otp_key, customers().key_of(email), n);
    if (customers().find(id) == nullptr) return id;
  }
}

customer_id accounts_state::customer_of(const std::string& email, const maybe<language>& in, changes& out) {
  const auto id = id_of(email);
  if (const auto* known = customers().find(id)) {
    if (in.given && in.value != known->language) tell_of(customers().set_language(id, in.value), out);
    return id;
  }
  customer_row row{id, default_tenant, email, core_.now()};
  if (in.given) row.language = in.value;
  tell_of(row, out);
  customers().add(std::move(row));
  return id;
}

/// Stores a customer's change and publishes it.
void accounts_state::tell_of(const customer_row& row, changes& out) {
  out.emplace_back(customer_stored{row});
  out.emplace_back(
    outbox_appended{{core_.make_id(), std::string{topic::user_updated}, user_payload_of(row), core_.now()}});
}

caf::result<customers_reply> accounts_state::on_find_customers(const find_customers& x) {
  if (core_.refuses()) return core_.refusal();
  customers_reply reply;
  for (const auto& email : x.emails) {
    const auto* known = customers().find(email);
    reply.customers.push_back(id_of(email));
    reply.languages.push_back(known == nullptr ? language::en : known->language);
  }
  return core_.commit({}, std::move(reply));
}

caf::result<ack_reply> accounts_state::on_change_setting(const change_setting& x) {
  if (core_.refuses()) return core_.refusal();
  auto row = x.setting;
  row.updated_at = core_.now();
  changes content;
  record(x.by, "settings.change", x.note, {}, content);
  content.emplace_back(setting_stored{std::move(row)});
  return core_.commit(std::move(content), ack_reply{});
}

caf::result<ack_reply> accounts_state::on_record_deed(const record_deed& x) {
  if (core_.refuses()) return core_.refusal();
  changes content;
  record(x.by, x.action, x.note, x.target, content);
  return core_.commit(std::move(content), ack_reply{});
}

void accounts_state::record(const principal& by, std::string_view action, const audit_note& note, uuid target,
                            changes& out) {
  out.emplace_back(audit_recorded{{core_.make_id(), by.tenant, target,
                                   by.kind == principal_kind::nobody ? "system" : name_of(by),
                                   std::string{action}, note.detail, note.reason, core_.now()}});
}

// -- block lists

std::size_t accounts_state::blocks_of(tenant_id tenant, const organizer_id& first,
                                      const organizer_id& last) const {
  return static_cast<std::size_t>(std::distance(blocks_.lower_bound({tenant, first, customer_id{}}),
                                                blocks_.upper_bound({tenant, last, last_id})));
}

/// Raises the version, so that directories read the lists again.
void accounts_state::note_blocks(changes& out) {
  if (planted(bug::blocks_version_kept)) return;
  out.emplace_back(
    setting_stored{{std::string{blocks_version_setting}, to_string(core_.make_id()), core_.now()}});
}

/// All addresses or none.
caf::result<customers_reply> accounts_state::on_block(const block_customers& x) {
  if (core_.refuses()) return core_.refusal();
  const auto organizer = list_of(x.by);
  const auto is_new = [&](const std::string& email) {
    return !blocks_.contains({x.by.tenant, organizer, id_of(email)});
  };
  const auto more = static_cast<std::size_t>(std::ranges::count_if(x.emails, is_new));
  if (blocks_of(x.by.tenant, organizer, organizer) + more > services_->bounds.blocks_per_owner
      || blocks_of(x.by.tenant, {}, last_id) + more > blocks_per_tenant_max
      || blocks_.size() + more > blocks_max)
    return customers_reply{{reason::invalid_field, "emails: the list would be too long"}};
  changes content;
  customers_reply reply;
  for (const auto& email : x.emails) {
    const auto customer = id_of(email);
    reply.customers.push_back(customer);
    auto& row = blocks_[{x.by.tenant, organizer, customer}];
    if (row.customer == customer && row.includes_ended >= x.includes_ended) continue; // unchanged
    row = {x.by.tenant, organizer, customer, x.note.reason, x.includes_ended, core_.now()};
    record(x.by, "customer.block", x.note, customer, content);
    content.emplace_back(block_stored{row});
  }
  if (!content.empty()) note_blocks(content);
  return core_.commit(std::move(content), std::move(reply));
}

caf::result<ack_reply> accounts_state::on_unblock(const unblock_customer& x) {
  if (core_.refuses()) return core_.refusal();
  const auto organizer = list_of(x.by);
  if (blocks_.erase({x.by.tenant, organizer, x.customer}) == 0) return ack_reply{reason::not_found};
  changes content;
  record(x.by, "customer.unblock", x.note, x.customer, content);
  content.emplace_back(block_removed{x.by.tenant, organizer, x.customer});
  note_blocks(content);
  return core_.commit(std::move(content), ack_reply{});
}

caf::result<blocks_reply> accounts_state::on_find_blocks(const find_blocks& x) {
  if (core_.refuses()) return core_.refusal();
  const auto organizer = list_of(x.by);
  blocks_reply reply;
  for (auto i = blocks_.upper_bound({x.by.tenant, organizer, x.after}); i != blocks_.end(); ++i) {
    if (i->second.tenant != x.by.tenant || i->second.organizer != organizer) break;
    reply.more = reply.blocks.size() == x.limit;
    if (reply.more) break;
    reply.blocks.push_back(i->second);
  }
  return core_.commit({}, std::move(reply));
}

} // namespace fq
