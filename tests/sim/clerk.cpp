// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/clerk.hpp"

#include "tests/sim/staff_ask.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

constexpr std::int64_t people = 6; ///< mail addresses
constexpr std::size_t queues_max = 3; ///< standalone queues; each gets an owner

const uuid some_client{0x0c, 0x01};
/// One for all requests for an address: the next code replaces the last.
std::string handle_of(const std::string& email) { return "handle of " + email; }
const uuid first_organizer{0x0a, 0x01}, second_organizer{0x0a, 0x02}, operator_key{0x0b, 0x01};

} // namespace

caf::behavior clerk::make_behavior() {
  set_default_handler(caf::drop);
  send(this, timer_fired{timer_kind::sweep, 0});
  return {[this](const timer_fired&) {
    delayed_send(this, between(world_->rng, milliseconds{50}, milliseconds{700}),
                 timer_fired{timer_kind::sweep, 0});
    if (world_->closing) return;
    at_ = world_->rng() % world_->offices.size();
    if (office().accounts) act();
  }};
}

/// Every answer counts, even if the asker would not wait for it. Without faults, and with one node, nothing
/// is refused.
template <class Reply, class Handle, class Message, class Then, class Failed>
void clerk::ask(const Handle& to, Message message, Then then, Failed failed) {
  const bool is_calm = world_->offices_are_calm();
  request(to, world_->options.patience, std::move(message))
    .then(
      [this, then, failed](const Reply& told) { told.no.why == reason::unavailable ? failed() : then(told); },
      [this, failed, is_calm](const caf::error& why) {
        failed();
        if (is_calm && world_->is_calm())
          world_->check->fail("I13",
                              "accounts or catalog refuse although nothing fails: " + caf::to_string(why));
      });
}

void clerk::act() {
  constexpr std::array acts{
    &clerk::want_code,      &clerk::want_code,   &clerk::use_code,       &clerk::use_code,
    &clerk::use_code,       &clerk::guess,       &clerk::log_in,         &clerk::add_organizer,
    &clerk::block,          &clerk::block,       &clerk::find_customers, &clerk::unblock,
    &clerk::change_setting, &clerk::record_deed, &clerk::add_tenant,     &clerk::issue_key,
    &clerk::issue_key,      &clerk::revoke_key,  &clerk::create_draft,   &clerk::create_queue,
    &clerk::refresh,        &clerk::refresh,     &clerk::list_all,       &clerk::list_all,
    &clerk::list_all};
  (this->*acts[world_->rng() % acts.size()])();
}

std::string clerk::some_email() {
  return "person" + std::to_string(between(world_->rng, 1, people)) + "@example.org";
}

std::string clerk::some_tenant() {
  const auto& all = world_->directory->tenants();
  return all.empty() ? std::string{"default"}
                     : std::next(all.begin(), static_cast<std::ptrdiff_t>(world_->rng() % all.size()))->first;
}

principal clerk::some_manager() {
  const auto n = world_->rng() % 3;
  if (n == 0) return {principal_kind::operate, default_tenant, operator_key};
  return {principal_kind::organizer, default_tenant, n == 1 ? first_organizer : second_organizer};
}

std::uint32_t clerk::page_limit() {
  return static_cast<std::uint32_t>(between(world_->rng, 1, world_->options.directory.page_max));
}

// -- accounts ---------------------------------------------------------------------------------------------

void clerk::want_code() {
  const auto email = some_email();
  world_->directory->code_wanted(email);
  ask<ack_reply>(
    office().accounts, request_otp{email, some_client, handle_of(email)},
    [this, email](const ack_reply& told) {
      told.no.why == reason::rate_limited ? world_->directory->code_refused(email)
                                          : world_->directory->code_answered(email, bool{told.no});
    },
    [this, email] { world_->directory->code_answered(email, true); });
}

/// Sometimes one that was used.
void clerk::use_code() {
  const auto email = some_email();
  auto code = world_->directory->used_code(email);
  if (code.empty() || chance(world_->rng, 500)) code = world_->directory->newest_code(email);
  if (code.empty()) return;
  const auto trial = world_->directory->try_code(email, code);
  ask<person_reply>(office().accounts, verify_otp{email, code, handle_of(email)},
                    [this, trial](const person_reply& told) { world_->directory->tried(trial, told); });
}

void clerk::guess() {
  const auto email = some_email();
  if (chance(world_->rng, 800)) { // of a stranger, who does not know the handle
    ask<person_reply>(office().accounts, verify_otp{email, world_->directory->newest_code(email), "stranger"},
                      [this](const person_reply& told) {
                        if (!told.no) world_->check->fail("I9", "a code is accepted without its handle");
                      });
    return;
  }
  const auto trial = world_->directory->try_code(email, "guess");
  ask<person_reply>(office().accounts, verify_otp{email, trial.code, handle_of(email)},
                    [this, trial](const person_reply& told) { world_->directory->tried(trial, told); });
}

/// The password is certain once the only open request for it is answered.
void clerk::add_organizer() {
  const auto email = some_email(), password = "password" + std::to_string(++keys_);
  passwords_.erase(email);
  const auto change = ++password_changes_[email];
  const bool is_known = change > 1;
  ask<person_reply>(office().accounts, fq::add_organizer{email, password, is_known, some_tenant()},
                    [=, this](const person_reply& told) {
                      if (told.no) return;
                      world_->directory->saw_organizer(email, told.person);
                      if (change == 1 && password_changes_[email] == 1) passwords_[email] = password;
                    });
}

void clerk::log_in() {
  const auto email = some_email();
  const auto known = passwords_.find(email);
  const bool is_right = known != passwords_.end() && chance(world_->rng, 700);
  fq::log_in x{email, is_right ? known->second : "wrong"};
  const auto changes = password_changes_[email];
  ask<person_reply>(office().accounts, std::move(x), [=, this](const person_reply& told) {
    if (!is_right && !told.no) world_->check->fail("I9", "a wrong password is accepted");
    if (is_right && told.no && changes == password_changes_[email] && world_->reads_are_fresh())
      world_->check->fail("I7", "an organizer that was acknowledged cannot sign in");
    if (is_right && !told.no) world_->check->reached(rare::organizer_signed_in);
  });
}

void clerk::find_customers() {
  std::vector<std::string> emails{some_email(), some_email()};
  ask<customers_reply>(office().accounts, fq::find_customers{default_tenant, emails},
                       [this, emails](const customers_reply& told) {
                         if (!told.no) world_->directory->saw_customers(emails, told.customers);
                       });
}

void clerk::block() {
  const auto by = some_manager();
  std::vector<std::string> emails{some_email()};
  const auto list = by.kind == principal_kind::organizer ? by.id : uuid{};
  ask<customers_reply>(office().accounts, block_customers{by, {}, emails, chance(world_->rng, 300)},
                       [this, emails, list](const customers_reply& told) {
                         if (told.no) return world_->check->reached(rare::block_list_full);
                         world_->directory->saw_customers(emails, told.customers);
                         for (const auto& who : told.customers) world_->directory->saw_block(list, who);
                       });
}

void clerk::unblock() {
  const auto by = some_manager();
  const auto all = world_->directory->blocked_by(by.kind == principal_kind::organizer ? by.id : uuid{});
  if (all.empty()) return;
  ask<ack_reply>(office().accounts, unblock_customer{by, {}, *all.begin()}, [](const ack_reply&) {});
}

void clerk::change_setting() {
  fq::change_setting x{some_manager(), {"simulated", std::to_string(++keys_), {}}, {}};
  ask<ack_reply>(office().accounts, x, [this, value = x.setting.value](const ack_reply& told) {
    if (!told.no) world_->directory->saw_setting(value);
  });
}

void clerk::record_deed() {
  const uuid target{0x0d, ++keys_};
  ask<ack_reply>(office().accounts, fq::record_deed{some_manager(), "simulated.deed", target, {}},
                 [this, target](const ack_reply& told) {
                   if (!told.no) world_->directory->saw_deed(target);
                 });
}

void clerk::add_tenant() {
  const auto name = "tenant" + std::to_string(between(world_->rng, 1, 3));
  ask<ack_reply>(office().accounts, fq::add_tenant{name, {}, chance(world_->rng, 500)},
                 [this, name](const ack_reply& told) {
                   if (!told.no) world_->directory->saw_tenant(name);
                 });
}

void clerk::issue_key() {
  const auto tenant = some_tenant();
  ask<api_key_reply>(office().accounts, issue_api_key{tenant, api_key_scope::server, "simulated"},
                     [this, tenant](const api_key_reply& told) {
                       if (!told.no) world_->directory->saw_key(tenant, told);
                     });
}

void clerk::revoke_key() {
  const auto* key = any(world_, world_->directory->keys());
  if (key == nullptr) return;
  ask<ack_reply>(office().accounts, revoke_api_key{key->id}, [this, id = key->id](const ack_reply& told) {
    if (!told.no) world_->directory->saw_revoked(id);
  });
}

// -- catalog ----------------------------------------------------------------------------------------------

/// Sometimes a request that was sent before, under its idempotency key.
void clerk::create_draft() {
  if (!created_.empty() && chance(world_->rng, 300)) {
    const auto again = world_->rng() % created_.size();
    return create(created_[again], again);
  }
  create_event x;
  x.by = {principal_kind::organizer, default_tenant, first_organizer};
  x.event = world_->draft;
  x.ticket_types = {{0, {}, "Type", 0, 10, 0, 0, 2, true}};
  create(std::move(x), created_.size());
}

/// Few external ids, so that some are taken.
void clerk::create_queue() {
  const auto queues = world_->directory->events_of(event_kind::queue).size();
  create_event x;
  x.by = {principal_kind::operate, default_tenant, operator_key};
  x.event.kind = event_kind::queue;
  x.event.name = "Simulated queue";
  x.event.queue.policy = admission_policy::operated;
  x.event.queue.claim_window = x.event.queue.session_ttl;
  x.event.external_id = "queue" + std::to_string(between(world_->rng, 1, queues_max));
  if (queues >= queues_max) return;
  create(std::move(x), created_.size());
}

void clerk::create(create_event x, std::uint64_t key) {
  x.idempotency = {true, {key, 0xca7a}, {key, 7}};
  if (key == created_.size()) created_.push_back(x);
  ask<event_reply>(office().catalog, x, [this, key, id = x.event.external_id](const event_reply& told) {
    if (!told.no) return world_->directory->saw_event(key, told.event);
    if (told.no.why == reason::external_id_taken) world_->directory->saw_taken(id, told.no);
  });
}

// -- directory --------------------------------------------------------------------------------------------

void clerk::refresh() {
  const auto& process = office().process;
  ask<ack_reply>(office().directory, refresh_directory{},
                 [this, process, least = world_->directory->now()](const ack_reply& told) {
                   if (!told.no) world_->directory->refreshed(process, least);
                 });
}

// -- lists ------------------------------------------------------------------------------------------------

/// Pages to the end: every row that is there from the beginning to the end is seen once. `see` gives a page's
/// ids and sets the cursor of the message. `is_there`: false for rows that ended meanwhile.
template <class Reply, class Handle, class Message, class See>
void clerk::walk(Handle to, Message message, std::set<uuid> must, See see,
                 std::function<bool(const uuid&)> is_there) {
  message.limit = page_limit();
  struct state {
    Message next;
    std::set<uuid> must, seen;
    std::function<void()> go;
  };
  auto s = std::make_shared<state>(state{std::move(message), std::move(must), {}, {}});
  const std::weak_ptr<state> weak = s;
  s->go = [this, to, see, is_there, weak] {
    auto s = weak.lock();
    ask<Reply>(to, s->next, [this, s, see, is_there](const Reply& told) {
      if (told.no) return;
      auto& check = *world_->check;
      const std::vector<uuid> ids = see(told, s->next);
      if (ids.size() > s->next.limit) return check.fail("I14", "a page is longer than its limit");
      for (const auto& id : ids)
        if (!s->seen.insert(id).second) return check.fail("I9", "a list shows a row twice");
      if (told.more && ids.size() == s->next.limit) return s->go();
      if (told.more) return check.fail("I9", "a page that is not the last is not full");
      for (const auto& id : s->must)
        if (!s->seen.contains(id) && (!is_there || is_there(id)))
          return check.fail("I9", "a list omits the row " + to_string(id));
      if (s->seen.size() > s->next.limit) check.reached(rare::list_walked);
    });
  };
  s->go();
}

void clerk::list_all() {
  const principal all{principal_kind::operate, default_tenant, operator_key};
  const auto& books = *world_->directory;
  const auto& check = *world_->check;
  const auto pick = world_->rng() % 5;
  if (pick == 0) {
    const auto kind = chance(world_->rng, 700) ? event_kind::sale : event_kind::queue;
    return walk<event_list_reply>(office().catalog, list_events{all, kind}, books.events_of(kind),
                                  [](const event_list_reply& page, list_events& next) {
                                    std::vector<uuid> ids;
                                    for (const auto& e : page.events) ids.push_back(e.event.id);
                                    if (!ids.empty()) next.after = page.events.back().event.aggregate;
                                    return ids;
                                  });
  }
  if (pick == 1)
    return walk<audit_reply>(office().catalog, list_audit{all, {}, {}}, books.audit(),
                             [](const audit_reply& page, list_audit& next) {
                               std::vector<uuid> ids;
                               for (const auto& r : page.rows) ids.push_back(r.id);
                               if (!ids.empty()) next.before = ids.back();
                               return ids;
                             });
  if (pick == 2) {
    const auto* order = any(world_, check.orders());
    if (order == nullptr) return;
    std::set<uuid> must;
    for (const auto& [id, row] : check.orders())
      if (row.customer == order->customer) must.insert(id);
    return walk<order_list_reply>(office().catalog, list_orders{order->customer, {}}, std::move(must),
                                  [](const order_list_reply& page, list_orders& next) {
                                    std::vector<uuid> ids;
                                    for (const auto& o : page.orders) ids.push_back(o.order.id);
                                    if (!ids.empty()) next.before = ids.back();
                                    return ids;
                                  });
  }
  if (pick == 3) {
    std::set<uuid> must;
    for (const auto& [id, row] : check.open_letters()) must.insert(id);
    return walk<dead_letters_reply>(
      office().catalog, list_dead_letters{all, true, {}}, std::move(must),
      [](const dead_letters_reply& page, list_dead_letters& next) {
        std::vector<uuid> ids;
        for (const auto& l : page.letters) ids.push_back(l.letter.id);
        if (!ids.empty()) next.before = ids.back();
        return ids;
      },
      [this](const uuid& id) { return world_->check->open_letters().contains(id); });
  }
  list_blocks();
}

void clerk::list_blocks() {
  const auto by = some_manager();
  const auto list = by.kind == principal_kind::organizer ? by.id : uuid{};
  const auto see = [](const blocks_reply& page, find_blocks& next) {
    std::vector<uuid> ids;
    for (const auto& b : page.blocks) ids.push_back(b.customer);
    if (!ids.empty()) next.after = ids.back();
    return ids;
  };
  auto must = world_->reads_are_fresh() ? world_->directory->blocked_by(list) : std::set<uuid>{};
  walk<blocks_reply>(
    office().accounts, find_blocks{by, {}}, std::move(must), see,
    [this, list](const uuid& id) { return world_->directory->blocked_by(list).contains(id); });
}

} // namespace fq::sim
