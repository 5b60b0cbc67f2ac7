// SPDX-License-Identifier: Apache-2.0
// The part of accounts that signs people in: organizers by password, customers by a one-time code.
#include "actors/base/challenge_answers.hpp"
#include "actors/directory/accounts.hpp"
#include "outbound/mail_templates.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace fq {
namespace {

constexpr std::uint64_t codes = 1'000'000; ///< six digits

std::int64_t whole_seconds(milliseconds d) { return std::chrono::ceil<seconds>(d).count(); }

refusal too_early(milliseconds pause) {
  refusal no{reason::rate_limited};
  no.first = whole_seconds(pause);
  return no;
}

refusal too_late(milliseconds retry_after) {
  refusal no{reason::unavailable, "Too much mail is waiting. Try again later."};
  no.first = std::max<std::int64_t>(1, whole_seconds(retry_after));
  return no;
}

send_mail code_mail(const request_otp& x, const uuid& turn, const std::string& code,
                    const accounts_services& services, std::string key) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(services.otp_life).count();
  const auto style = services.style ? services.style() : mail_style{};
  // Cannot fail: the template gets all its variables.
  auto content =
    std::get<mail_content>(render("otp", tag_of(x.language), {{"code", code}, {"minutes", minutes}}, style));
  return {
    x.email, std::move(content.subject), std::move(content.text), std::move(content.html), std::move(key),
    turn,    style.from.address,         style.from.name};
}

std::string key_of(const std::string& handle) { return to_hex(sha256(handle)); }

/// Whether the key is of a client with a browser mark: its last bit, which is stored with the code.
bool has_mark(const uuid& client) { return (client.lo & 1) != 0; }

} // namespace

// -- organizers

bool accounts_state::has_room_for_password(bool is_known) const {
  const auto all = services_->bounds.password_calls;
  return password_calls_ < (is_known ? all : all - all / password_reserve_part);
}

caf::result<person_reply> accounts_state::on_log_in(const log_in& x) {
  const bool is_known = known_desks_.find(client_key(x.email, x.client)) != nullptr;
  if (core_.refuses() || !has_room_for_password(is_known)) return core_.refusal();
  const auto known = organizers_.find(x.email);
  const auto stored = known == organizers_.end() ? std::string{} : known->second.password_hash;
  auto promise = self_->make_response_promise<person_reply>();
  ++password_calls_;
  self_->request(services_->passwords, password_timeout, check_password{stored, x.password})
    .then(
      [this, promise, x, stored](const password_checked& checked) mutable {
        --password_calls_;
        const auto still = organizers_.find(x.email); // the password may have changed meanwhile
        if (checked.matches && still != organizers_.end() && still->second.password_hash == stored)
          return logged_in(std::move(promise), x);
        promise.deliver(person_reply{reason::invalid_credentials});
      },
      [this, promise](caf::error&) mutable {
        --password_calls_;
        promise.deliver(make_error(errc::unavailable));
      });
  return promise;
}

/// The session is committed before its token exists, so that it can be ended from then on.
void accounts_state::logged_in(caf::response_promise promise, const log_in& x) {
  if (core_.refuses()) return promise.deliver(core_.refusal());
  const auto& organizer = organizers_.at(x.email);
  known_desks_.put(client_key(x.email, x.client), true);
  changes content;
  drop_expired_sessions(organizer.id, content);
  const auto open = sessions_of(organizer.id, false);
  if (open.size() >= services_->bounds.sessions) drop_session(open.front(), content);
  const organizer_session_row row{
    core_.make_id(),          organizer.id, x.agent.substr(0, agent_bytes_max), core_.now(),
    core_.now() + x.lifetime, never};
  sessions_.emplace(row.id, row);
  content.emplace_back(organizer_session_stored{row});
  person_reply reply;
  reply.person = organizer.id;
  reply.session = row.id;
  reply.not_before = organizer.tokens_not_before;
  core_.hold(std::move(promise), std::move(content), std::move(reply));
}

caf::result<person_reply> accounts_state::on_add_organizer(const add_organizer& x) {
  if (core_.refuses() || !has_room_for_password(true)) return core_.refusal();
  if (organizers_.contains(x.email) && !x.replace) return person_reply{reason::email_taken};
  const auto tenant = tenants_.find(x.tenant);
  if (tenant == tenants_.end())
    return person_reply{{reason::invalid_field, "tenant: there is none of that name"}};
  auto promise = self_->make_response_promise();
  ++password_calls_;
  self_->request(services_->passwords, password_timeout, hash_new_password{x.password})
    .then(
      [this, promise, email = x.email, replace = x.replace,
       tenant = tenant->second.id](const password_hashed& hashed) mutable {
        --password_calls_;
        // State may have changed meanwhile: check again.
        if (core_.refuses() || hashed.stored.empty()) return promise.deliver(make_error(errc::unavailable));
        const auto known = organizers_.find(email);
        if (known != organizers_.end() && !replace) return promise.deliver(person_reply{reason::email_taken});
        organizer_row row = known == organizers_.end() ? organizer_row{} : known->second;
        changes content;
        if (known == organizers_.end()) {
          row.id = core_.make_id();
          row.email = email;
          row.tenant = tenant;
          row.created_at = core_.now();
        } else {
          end_all_sessions(row, content);
        }
        row.password_hash = hashed.stored;
        organizers_[email] = row;
        person_reply reply;
        reply.person = row.id;
        content.emplace_back(organizer_stored{std::move(row)});
        core_.hold(std::move(promise), std::move(content), std::move(reply));
      },
      [this, promise](caf::error&) mutable {
        --password_calls_;
        promise.deliver(make_error(errc::unavailable));
      });
  return caf::delegated<person_reply>{};
}

std::vector<uuid> accounts_state::sessions_of(const organizer_id& organizer, bool has_ended) const {
  std::vector<uuid> ids;
  for (const auto& [id, row] : sessions_)
    if (row.organizer == organizer && is_set(row.ended_at) == has_ended) ids.push_back(id);
  return ids;
}

void accounts_state::drop_session(const uuid& id, changes& out) {
  sessions_.erase(id);
  out.emplace_back(organizer_session_removed{id});
}

void accounts_state::drop_expired_sessions(const organizer_id& of, changes& out) {
  for (const bool has_ended : {false, true})
    for (const auto& id : sessions_of(of, has_ended))
      if (sessions_.at(id).expires_at <= core_.now()) drop_session(id, out);
}

void accounts_state::end_session(const uuid& id, changes& out) {
  auto& row = sessions_.at(id);
  row.ended_at = core_.now();
  out.emplace_back(organizer_session_stored{row});
}

/// The rows end tokens of nodes whose clocks are ahead; `tokens_not_before` ends those without a row.
void accounts_state::end_all_sessions(organizer_row& row, changes& out) {
  row.tokens_not_before = std::chrono::ceil<seconds>(core_.now());
  drop_expired_sessions(row.id, out);
  for (const auto& id : sessions_of(row.id, false)) end_session(id, out);
  auto ended = sessions_of(row.id, true);
  for (std::size_t i = 0; i + 2 * services_->bounds.sessions < ended.size(); ++i) drop_session(ended[i], out);
}

caf::result<organizer_sessions_reply> accounts_state::on_list_sessions(const list_organizer_sessions& x) {
  if (core_.refuses()) return core_.refusal();
  organizer_sessions_reply reply;
  for (const auto& id : sessions_of(x.organizer, false))
    if (sessions_.at(id).expires_at > core_.now()) reply.sessions.push_back(sessions_.at(id));
  return core_.commit({}, std::move(reply));
}

caf::result<ack_reply> accounts_state::on_end_session(const end_organizer_session& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = sessions_.find(x.session);
  if (known == sessions_.end() || known->second.organizer != x.organizer) return ack_reply{reason::not_found};
  changes content;
  drop_expired_sessions(x.organizer, content);
  if (!sessions_.contains(x.session)) return core_.commit(std::move(content), ack_reply{});
  if (!is_set(known->second.ended_at)) {
    if (sessions_of(x.organizer, true).size() >= services_->bounds.sessions)
      return ack_reply{too_early(sessions_full_pause)};
    end_session(x.session, content);
    const auto by = std::ranges::find(organizers_, x.organizer, [](const auto& o) { return o.second.id; });
    if (by != organizers_.end())
      record({principal_kind::organizer, by->second.tenant, x.organizer}, "organizer.end_session", {},
             x.session, content);
  }
  return core_.commit(std::move(content), ack_reply{});
}

caf::result<ack_reply> accounts_state::on_sign_out(const sign_organizer_out& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = organizers_.find(x.email);
  if (known == organizers_.end()) return ack_reply{reason::not_found};
  changes content;
  auto& row = known->second;
  record({principal_kind::nobody, row.tenant, {}}, x.remove ? "organizer.remove" : "organizer.sign_out", {},
         row.id, content);
  if (x.remove) {
    for (const bool has_ended : {false, true})
      for (const auto& id : sessions_of(row.id, has_ended)) drop_session(id, content);
    content.emplace_back(organizer_removed{row.id});
    organizers_.erase(known);
  } else {
    end_all_sessions(row, content);
    content.emplace_back(organizer_stored{row});
  }
  return core_.commit(std::move(content), ack_reply{});
}

// -- one-time codes

std::string accounts_state::hash_of(const std::string& email, const std::string& handle,
                                    const std::string& code) const {
  return to_hex(hmac_sha256(services_->otp_key.bytes(), email + '\n' + handle + '\n' + code));
}

uuid accounts_state::client_key(const std::string& email, const uuid& client) const {
  const auto hash = keyed_hash_128(services_->otp_key.bytes(),
                                   "client\n" + customers().key_of(email) + '\n' + to_string(client));
  return {hash[0], hash[1] & ~std::uint64_t{1}};
}

/// A mark counts for the customer who got it: an erasure ends it.
uuid accounts_state::client_of(const request_otp& x) const {
  const auto* owner = customers().find(x.email);
  if (owner == nullptr || x.mark.lo != owner->id.lo) return client_key(x.email, x.client);
  const auto key = client_key(x.email, x.mark);
  return {key.hi, key.lo | 1};
}

/// Known browsers have turns of their own in the queue of mails, but few of one network.
uuid accounts_state::turn_of(const request_otp& x, bool is_known) const {
  return is_known ? client_key(std::to_string(x.mark.hi % known_turns), x.client) : x.client;
}

void accounts_state::remember(const otp_row& row) {
  otp_ends_.emplace(row.expires_at, row.handle_hash);
  otps_of_[row.email].push_back(row.handle_hash);
  otps_.emplace(row.handle_hash, row);
}

/// Below the bounds, without expired codes.
void accounts_state::make_room(const std::string& email, changes& out) {
  while (!otp_ends_.empty()
         && (otps_.size() >= services_->bounds.codes || otp_ends_.begin()->first <= core_.now()))
    drop(std::string{otp_ends_.begin()->second}, out);
  const auto own = otps_of_.find(email);
  if (own == otps_of_.end() || own->second.size() < services_->bounds.codes_per_address) return;
  std::unordered_map<uuid, std::size_t> counts;
  for (const auto& hash : own->second) ++counts[otps_.at(hash).client];
  const auto most = std::ranges::max(own->second, {}, [&](const std::string& hash) {
    return counts[otps_.at(hash).client];
  }); // the first of equals: the oldest
  drop(most, out);
}

void accounts_state::keep(otp_row row, changes& out) {
  drop(row.handle_hash, out);
  make_room(row.email, out);
  out.emplace_back(otp_stored{row});
  remember(row);
}

void accounts_state::drop(const std::string& handle_hash, changes& out) {
  const auto known = otps_.find(handle_hash);
  if (known == otps_.end()) return;
  const auto row = std::move(known->second);
  otps_.erase(known);
  for (auto [i, end] = otp_ends_.equal_range(row.expires_at); i != end; ++i)
    if (i->second == row.handle_hash) {
      otp_ends_.erase(i);
      break;
    }
  auto& own = otps_of_[row.email];
  std::erase(own, row.handle_hash);
  if (own.empty()) otps_of_.erase(row.email);
  out.emplace_back(otp_removed{row.handle_hash});
  self_->send(services_->mailer, forget_mail{row.handle_hash});
}

milliseconds accounts_state::pause_of(const uuid& client, const uuid& strangers) {
  const auto after_guesses = [this](const uuid& key, const guess_rule& rule) {
    const auto* count = guesses_.find(key);
    return count ? guess_pause(*count, rule, core_.now()) : milliseconds{0};
  };
  if (const auto own = after_guesses(client, client_guesses); own.count() > 0) return own;
  if (has_mark(client)) return milliseconds{0};
  if (const auto all = after_guesses(strangers, stranger_guesses); all.count() > 0) return all;
  const auto* full_at = mails_.find(strangers);
  const auto verdict = next_mail(full_at ? *full_at : never, stranger_mails, core_.now());
  if (verdict.wait.count() == 0) mails_.put(strangers, verdict.full_at);
  return verdict.wait;
}

challenge_desk& accounts_state::challenges() {
  if (!challenges_) challenges_.emplace(core_.env());
  return *challenges_;
}

caf::result<challenge_reply> accounts_state::on_open_challenge(const open_code_challenge& x) {
  if (core_.refuses()) return core_.refusal();
  return answer_of(challenges(), services_->code_challenge, x.way, x.client, 0, core_.now());
}

/// A known browser needs no challenge.
bool accounts_state::may_request_code(const request_otp& x, const uuid& client) {
  if (services_->code_challenge == challenge_kind::none || has_mark(client)) return true;
  if (const auto solved = challenges().check(x.solved, x.client, 0, core_.now())) {
    challenges().use(*solved, x.client, core_.now());
    return true;
  }
  return !x.may_work && challenges().may_mail(x.client, core_.now());
}

caf::result<ack_reply> accounts_state::on_mail_challenge(const mail_challenge& x) {
  if (core_.refuses()) return core_.refusal();
  const auto strangers = client_key(x.email, {});
  if (const auto pause = pause_of(client_key(x.email, x.client), strangers); pause.count() > 0)
    return ack_reply{too_early(pause)};
  const auto style = services_->style ? services_->style() : mail_style{};
  // Cannot fail: the template gets all its variables.
  auto content = std::get<mail_content>(
    render("challenge_link", tag_of(x.language), {{"event_name", x.event}, {"join_url", x.link}}, style));
  auto promise = self_->make_response_promise();
  self_
    ->request(services_->mailer, code_mail_timeout,
              send_mail{x.email,
                        std::move(content.subject),
                        std::move(content.text),
                        std::move(content.html),
                        {},
                        x.client,
                        style.from.address,
                        style.from.name})
    .then(
      [promise](const mail_sent& sent) mutable {
        promise.deliver(sent.accepted ? ack_reply{} : ack_reply{too_late(sent.retry_after)});
      },
      [promise](caf::error&) mutable { promise.deliver(make_error(errc::unavailable)); });
  return caf::delegated<ack_reply>{};
}

caf::result<ack_reply> accounts_state::on_request_otp(const request_otp& x) {
  if (core_.refuses()) return core_.refusal();
  const auto client = client_of(x);
  if (!may_request_code(x, client)) return ack_reply{reason::challenge_required};
  if (const auto pause = pause_of(client, client_key(x.email, {})); pause.count() > 0)
    return ack_reply{too_early(pause)};
  std::array<std::uint64_t, 2> drawn{}; // more than an id's bytes: never read ahead
  core_.env().random_bytes(std::as_writable_bytes(std::span{drawn}));
  auto code = std::to_string(drawn[0] % codes);
  code.insert(0, 6 - code.size(), '0');
  changes content;
  const auto key = key_of(x.handle);
  const auto hash = hash_of(x.email, x.handle, code);
  keep({key, x.email, client, hash, core_.now() + services_->otp_life, 0}, content);
  core_.note(std::move(content));
  auto promise = self_->make_response_promise();
  self_
    ->request(services_->mailer, code_mail_timeout,
              code_mail(x, turn_of(x, has_mark(client)), code, *services_, key))
    .then(
      [this, promise, key, hash, earlier = key_of(x.replaces)](const mail_sent& sent) mutable {
        const auto kept = otps_.find(key);
        // False after a reload or if it had to make room.
        const bool is_kept = kept != otps_.end() && kept->second.code_hash == hash;
        if (!is_kept || core_.refuses()) return promise.deliver(make_error(errc::unavailable));
        if (!sent.accepted) {
          changes unsent;
          drop(key, unsent);
          core_.note(std::move(unsent));
          return promise.deliver(ack_reply{too_late(sent.retry_after)});
        }
        changes replaced;
        drop(earlier, replaced);
        if (planted(bug::code_before_commit)) {
          core_.note(std::move(replaced));
          return promise.deliver(ack_reply{});
        }
        core_.hold(std::move(promise), std::move(replaced), ack_reply{}); // durable before the answer
      },
      [promise](caf::error&) mutable { promise.deliver(make_error(errc::unavailable)); });
  return caf::delegated<ack_reply>{};
}

/// For the client that asked for the code, and unless it has a mark for all strangers together.
void accounts_state::note_wrong_guess(const otp_row& row) {
  const auto note = [this](const uuid& key) {
    const auto* count = guesses_.find(key);
    guesses_.put(key, with_wrong_guess(count ? std::optional{*count} : std::nullopt, core_.now()));
  };
  note(row.client);
  if (!has_mark(row.client)) note(client_key(row.email, {}));
}

caf::result<person_reply> accounts_state::on_verify_otp(const verify_otp& x) {
  if (core_.refuses()) return core_.refusal();
  const auto known = otps_.find(key_of(x.handle));
  // Same work for an unknown handle, to prevent timing attacks.
  const auto given = hash_of(x.email, x.handle, x.code);
  if (known == otps_.end() || known->second.email != x.email || known->second.expires_at <= core_.now())
    return person_reply{reason::invalid_otp};
  changes content;
  person_reply reply;
  auto row = known->second;
  if (constant_time_equal(row.code_hash, given)) {
    changes forgotten;
    drop(row.handle_hash, planted(bug::code_accepted_twice) ? forgotten : content);
    reply.person = customer_of(x.email, x.language, content);
    reply.had_mark = has_mark(row.client);
    guesses_.erase(row.client);
  } else {
    reply.no = reason::invalid_otp;
    note_wrong_guess(row);
    if (++row.failures >= services_->otp_failures_max) {
      drop(row.handle_hash, content);
    } else {
      known->second = row;
      content.emplace_back(otp_stored{std::move(row)});
    }
  }
  return core_.commit(std::move(content), std::move(reply));
}

} // namespace fq
