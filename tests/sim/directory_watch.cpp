// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/directory_watch.hpp"

#include "crypto/digest.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

constexpr std::size_t code_digits = 6;
constexpr milliseconds code_slack{1'000};

/// The first number of six digits in a text.
std::string code_in(const std::string& text) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
    if (digits == code_digits) return text.substr(i + 1 - code_digits, code_digits);
  }
  return {};
}

template <class Rows, class Id>
bool has(const Rows& rows, const Id& id) {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.id == id; });
}

} // namespace

void directory_watch::must_be(bool is_committed, std::string_view what) const {
  if (!is_committed) world_.check->fail("I7", std::string{what} + " is acknowledged, but not committed");
}

// -- what the ledger did ----------------------------------------------------------------------------------

void directory_watch::applied(const batch& b) {
  for (const auto& c : b.content) std::visit([this](const auto& x) { see(x); }, c);
  if (b.aggregate == accounts_aggregate
      && world_.store->committed(accounts_aggregate)->otps.size() > world_.options.directory.bounds.codes)
    world_.check->fail("I14", "more sign-in codes are pending than may be");
}

void directory_watch::settled(const batch& b, commit_outcome outcome) const {
  if (outcome == commit_outcome::conflict || outcome == commit_outcome::out_of_order)
    world_.check->fail("I1", "the ledger had to refuse a change of the living owner of aggregate "
                               + std::to_string(number_of(b.aggregate)));
}

void directory_watch::see(const customer_stored& c) {
  if (!customers_.emplace(c.row.email, c.row.id).second)
    world_.check->fail("I9", "a second account for one mail address");
  const auto listed = listed_.find(c.row.email);
  if (listed != listed_.end() && listed->second != c.row.id)
    world_.check->fail("I9", "an account is not the customer that lists have named");
}

void directory_watch::see(const api_key_stored& c) {
  keys_[c.row.id] = c.row;
  const auto is_valid = [&](const auto& k) {
    return k.second.tenant == c.row.tenant && !is_set(k.second.revoked_at);
  };
  const auto most = world_.options.directory.bounds.keys_per_tenant;
  const auto valid = static_cast<std::size_t>(std::ranges::count_if(keys_, is_valid));
  if (valid == most) world_.check->reached(rare::keys_full);
  if (valid > most) world_.check->fail("I14", "a tenant has more valid keys than it may");
}

void directory_watch::see(const block_stored& c) {
  blocks_.emplace(c.row.organizer, c.row.customer);
  blocks_ever_.emplace(c.row.organizer, c.row.customer);
  if (blocked_by(c.row.organizer).size() > world_.options.directory.bounds.blocks_per_owner)
    world_.check->fail("I14", "a block list is longer than it may be");
}

void directory_watch::see(const block_removed& c) {
  blocks_.erase({c.organizer, c.customer});
  removed_at_[{c.organizer, c.customer}] = ++removals_;
}

void directory_watch::see(const audit_recorded& c) {
  audit_.insert(c.row.id);
  deeds_.insert(c.row.target);
}

void directory_watch::see(const event_created& c) {
  if (!events_.emplace(c.event.aggregate, c.event).second)
    world_.check->fail("I9", "two events of one number");
  if (c.event.external_id.empty()) return;
  if (!external_ids_.emplace(c.event.external_id, c.event.id).second)
    world_.check->fail("I9", "two queues with one external id");
}

// -- sign-in codes ----------------------------------------------------------------------------------------

mail_answer directory_watch::deliver_code(const mail_letter& letter) {
  const auto fate = draw_fate(world_);
  const auto code = code_in(letter.text);
  if (code.empty()) world_.check->fail("I16", "a mail without a code");
  if (fate != letter_fate::arrives && fate != letter_fate::arrives_without_answer) return answer_of(fate);
  auto& a = addresses_[letter.to];
  auto& known = a.codes[code];
  if (known.letters.empty()) known.since = world_.env->steady_now();
  if (known.letters.insert(letter.id).second) {
    a.newest = code;
    a.is_alone = a.is_alone && !a.has_arrived;
    a.has_arrived = true;
  }
  return answer_of(fate);
}

std::string directory_watch::newest_code(const std::string& email) const {
  const auto a = addresses_.find(email);
  return a == addresses_.end() ? std::string{} : a->second.newest;
}

std::string directory_watch::used_code(const std::string& email) const {
  const auto a = addresses_.find(email);
  if (a == addresses_.end()) return {};
  const auto used =
    std::ranges::find_if(a->second.codes, [](const auto& c) { return c.second.accepted > 0; });
  return used == a->second.codes.end() ? std::string{} : used->first;
}

void directory_watch::code_wanted(const std::string& email) {
  auto& a = addresses_[email];
  const bool is_first = a.codes.empty() && !a.is_acknowledged;
  a.is_alone = a.open++ == 0 && (is_first || a.has_arrived); // else an earlier code may still arrive
  a.is_acknowledged = a.has_arrived = a.is_tried = false;
}

void directory_watch::code_answered(const std::string& email, bool is_error) {
  auto& a = addresses_[email];
  --a.open;
  a.is_unsure = a.is_unsure || is_error;
  a.is_acknowledged = !is_error && a.open == 0;
}

directory_watch::trial directory_watch::try_code(const std::string& email, const std::string& code) {
  auto& a = addresses_[email];
  const auto now = world_.env->steady_now();
  const auto known = a.codes.find(code);
  const auto& o = world_.options;
  const bool is_valid = known != a.codes.end() && a.newest == code && a.is_alone && a.is_acknowledged
                        && a.has_arrived && !a.is_tried && !a.is_unsure
                        && now + o.patience + code_slack < known->second.since + o.directory.code_life;
  a.is_tried = true;
  return {email, code, now,
          is_valid && world_.reads_are_fresh() && !world_.has_clock_errors() && !o.directory.has_few_codes};
}

void directory_watch::tried(const trial& t, const person_reply& told) {
  if (told.no) {
    if (t.must_succeed && told.no.why == reason::invalid_otp)
      world_.check->fail("I7", "a sign-in code that was acknowledged is not accepted");
    return;
  }
  auto& known = addresses_[t.email].codes[t.code];
  if (known.letters.empty()) return world_.check->fail("I9", "a sign-in code was accepted that nobody got");
  if (++known.accepted > known.letters.size()) world_.check->fail("I9", "a sign-in code was accepted twice");
  if (!world_.has_clock_errors() && t.at > known.since + world_.options.directory.code_life + code_slack)
    world_.check->fail("I13", "a sign-in code was accepted after its life");
  world_.check->reached(rare::code_accepted);
  const auto person = customers_.find(t.email);
  must_be(person != customers_.end() && person->second == told.person, "an account");
}

// -- other answers ----------------------------------------------------------------------------------------

void directory_watch::saw_customers(const std::vector<std::string>& emails,
                                    const std::vector<customer_id>& told) {
  if (told.size() != emails.size()) return world_.check->fail("I9", "an answer omits a customer");
  for (std::size_t i = 0; i < emails.size(); ++i) {
    const auto known = customers_.find(emails[i]);
    const bool is_account = known == customers_.end() || known->second == told[i];
    if (!is_account || listed_.emplace(emails[i], told[i]).first->second != told[i])
      world_.check->fail("I9", "a list names two customers for one mail address");
  }
}

void directory_watch::saw_organizer(const std::string& email, const uuid& told) const {
  const auto known = organizers_.find(email);
  must_be(known != organizers_.end() && known->second == told, "an organizer");
}

void directory_watch::saw_tenant(const std::string& name) const {
  must_be(tenants_.contains(name), "a tenant");
}

void directory_watch::saw_key(const std::string& tenant, const api_key_reply& told) const {
  const auto known = keys_.find(told.id);
  const auto secret = told.key.substr(std::string{"wr_"}.size() + tenant.size() + 1);
  must_be(known != keys_.end() && known->second.secret_hash == to_hex(sha256(secret)), "an API key");
}

void directory_watch::saw_revoked(const uuid& key) const {
  const auto known = keys_.find(key);
  must_be(known != keys_.end() && is_set(known->second.revoked_at), "the end of an API key");
}

void directory_watch::saw_deed(const uuid& target) const { must_be(deeds_.contains(target), "a deed"); }

void directory_watch::saw_setting(const std::string& value) const {
  must_be(settings_.contains(value), "a setting");
}

void directory_watch::saw_block(const uuid& list, const customer_id& who) const {
  must_be(blocks_ever_.contains({list, who}), "a block");
}

void directory_watch::saw_event(std::uint64_t key, const event_view& told) {
  const auto known = events_.find(told.event.aggregate);
  must_be(known != events_.end() && known->second.id == told.event.id, "an event");
  if (event_of_key_.emplace(key, told.event.id).first->second != told.event.id)
    world_.check->fail("I9", "two events for one idempotency key");
}

void directory_watch::saw_taken(const std::string& external_id, const refusal& no) const {
  const auto known = external_ids_.find(external_id);
  if (known != external_ids_.end() && !no.id.is_nil() && known->second != no.id)
    world_.check->fail("I9", "an external id is said to belong to another queue");
  world_.check->reached(rare::external_id_taken);
}

// -- directories ------------------------------------------------------------------------------------------

directory_watch::moment directory_watch::now() const {
  moment m{world_.store->directory(), {}, removals_};
  m.content.blocks = std::make_shared<const std::vector<block_row>>(world_.store->blocks());
  for (const auto& [id, key] : keys_)
    if (is_set(key.revoked_at)) m.revoked.insert(id);
  return m;
}

void directory_watch::check_shown(const access_directory& shown, const moment& least) const {
  const auto stale = [this](const char* what) {
    world_.check->fail("I15", std::string{what} + " was committed, and a directory read it differently");
  };
  for (const auto& t : least.content.tenants)
    if (!has(shown.tenants, t.id)) stale("a tenant");
  for (const auto& k : least.content.api_keys)
    if (!has(shown.api_keys, k.id) && !is_set(keys_.at(k.id).revoked_at)) stale("an API key");
  for (const auto& k : shown.api_keys)
    if (least.revoked.contains(k.id)) stale("the end of an API key");
  const auto was_removed = [&](const block_row& b) { // also if it was stored again
    const auto last = removed_at_.find({b.organizer, b.customer});
    return last != removed_at_.end() && last->second > least.removals;
  };
  for (const auto& b : *least.content.blocks)
    if (!was_removed(b) && (!shown.blocks || std::ranges::none_of(*shown.blocks, [&](const block_row& s) {
          return s.organizer == b.organizer && s.customer == b.customer;
        })))
      stale("a block");
}

void directory_watch::refreshed(const std::string& process, const moment& least) const {
  const auto shown = shown_.find(process);
  if (shown == shown_.end()) return world_.check->fail("I15", "a directory was read, and shows nothing");
  check_shown(*shown->second, least);
  world_.check->reached(rare::directory_refreshed);
}

void directory_watch::check_end(const std::vector<std::string>& processes) const {
  const auto last = now();
  for (const auto& process : processes) {
    const auto shown = shown_.find(process);
    if (shown == shown_.end())
      return world_.check->fail("I15", "a directory of " + process + " shows nothing");
    check_shown(*shown->second, last);
  }
}

// -- committed rows ---------------------------------------------------------------------------------------

std::set<uuid> directory_watch::events_of(event_kind kind) const {
  std::set<uuid> ids;
  for (const auto& [number, event] : events_)
    if (event.kind == kind) ids.insert(event.id);
  return ids;
}

std::set<uuid> directory_watch::blocked_by(const uuid& list) const {
  std::set<uuid> who;
  for (const auto& [organizer, customer] : blocks_)
    if (organizer == list) who.insert(customer);
  return who;
}

} // namespace fq::sim
