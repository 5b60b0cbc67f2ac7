// SPDX-License-Identifier: Apache-2.0
#include "tests/domain/sale/sale_checks.hpp"

#include "domain/sale/audit.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace fq::test {
namespace {

std::string text(const uuid& id) { return to_string(id); }

std::string stock_differs(const sample_sale& s) {
  const auto& rows = s.ledger;
  if (s.it->stock().types() != rows.types) return "memory and ledger disagree about stock";
  std::vector<std::int64_t> held(rows.types.size()), sold(rows.types.size());
  for (const auto& [id, c] : rows.claims)
    for (const auto& i : c.items) {
      if (is_live(c.status)) held[i.ticket_type] += i.quantity;
      if (c.status == claim_status::confirmed) sold[i.ticket_type] += i.quantity - i.refunded;
    }
  for (const auto& t : rows.types) {
    if (t.held != held[t.ordinal]) return "held is not the sum of live claims";
    if (t.sold != sold[t.ordinal]) return "sold is not the sum of confirmed claims";
    if (t.held + t.sold > t.total) return "I1";
  }
  return {};
}

/// Hidden types that the entry may buy now, by the rows alone.
bool may_buy(const sample_sale& s, const entry_row& e, const ticket_type_row& t) {
  if (!inventory::is_open(t, s.now)) return false;
  if (!t.hidden) return true;
  if (const auto i = s.ledger.invitations.find(e.subject);
      i != s.ledger.invitations.end() && i->second.ticket_type == t.ordinal
      && !(is_set(i->second.valid_until) && s.now >= i->second.valid_until)
      && s.it->remaining_of(i->second) > 0)
    return true;
  return std::ranges::any_of(s.ledger.access, [&](const entry_access_row& a) {
    const auto& code = s.ledger.promo_codes[a.promo_code];
    return a.number == e.number && opens(&code, t)
           && !may_use(code, s.it->claims().promo_uses(e.subject, code.ordinal + 1), s.now);
  });
}

/// I13: without another limit, no one waits for a type that has more free units than all sessions could take;
/// I6: no one is admitted who could buy nothing.
std::string starves(const sample_sale& s) {
  const auto& event = s.ledger.event;
  if (event.status != event_status::active || s.wake.again) return {};
  const bool has_parties = std::ranges::any_of(s.ledger.entries, [](const auto& e) {
    return is_in_line(e.second.status) && e.second.party != queue_number{}; // they wait for room for all
  });
  for (const auto& [n, e] : s.ledger.entries) {
    const auto buys = [&](const ticket_type_row& t) { return may_buy(s, e, t); };
    const auto was_admitted = [&, number = n](const change& c) {
      const auto* m = std::get_if<entry_moved>(&c);
      return m != nullptr && m->row.number == number && m->from == entry_status::waiting
             && m->row.status == entry_status::admitted;
    };
    if (!e.has_claimed && std::ranges::any_of(s.last.content, was_admitted)
        && (s.now < event.sale_start || std::ranges::none_of(s.ledger.types, buys)))
      return "I6: admitted before it could buy anything";
    const auto& q = event.queue;
    if (e.status != entry_status::waiting || q.policy != admission_policy::capacity || q.concurrency != 0
        || q.rate_per_minute != 0 || s.now < event.sale_start || s.now < event.queue_opens_at || has_parties)
      continue;
    const auto shopping = s.it->queue().counts().admitted;
    for (const auto& t : s.ledger.types)
      if (buys(t) && inventory::free_units(t) > static_cast<std::int64_t>(shopping))
        return "I13: entry " + std::to_string(value_of(n)) + " waits though it could be served";
  }
  return {};
}

std::string places_differ(const sample_sale& s) {
  std::set<uuid> live;
  std::set<std::tuple<std::uint8_t, line_rank, queue_number>> in_line;
  for (const auto& [n, row] : s.ledger.entries) {
    const auto* e = s.it->queue().find(n);
    if (e == nullptr || s.it->queue().row_of(*e) != row)
      return "memory and ledger disagree about entry " + std::to_string(value_of(n));
    if (is_live(row.status) && !live.insert(row.subject).second) return "I2: two live places";
    if (is_in_line(row.status)) in_line.emplace(row.priority_class, s.ledger.ranks.rank_of(n), n);
    std::uint32_t claims = 0;
    for (const auto& [id, c] : s.ledger.claims) claims += c.entry == n && is_live(c.status);
    if (e->live_claims() != claims) return "an entry's live claims are miscounted";
    if (claims > 1) return "I2: one session holds two live claims";
  }
  if (auto wrong = starves(s); !wrong.empty()) return wrong;
  std::uint64_t rank = 0;
  for (const auto& [priority_class, of_class, n] : in_line)
    if (s.it->queue().position(*s.it->queue().find(n)) != ++rank) return "a position is not the rank";
  return {};
}

money price_of(const claim_row& row, const sample_sale& s) {
  const auto own = s.rules.fees.find(s.it->event().currency);
  const auto& fees = own == s.rules.fees.end() ? s.rules.other_fees : own->second;
  money items = 0;
  std::int64_t paid_tickets = 0;
  for (const auto& i : row.items) {
    items += (i.unit_price - i.unit_discount + i.donation) * i.quantity;
    if (i.unit_price > i.unit_discount) paid_tickets += i.quantity;
  }
  const auto platform = paid_tickets * fees.platform_per_ticket;
  return items + platform + share_of(items + platform, fees.processing_basis_points)
         + (paid_tickets > 0 ? fees.processing_fixed : 0);
}

std::string claims_differ(const sample_sale& s) {
  std::map<uuid, std::uint32_t> standing;
  for (const auto& [id, row] : s.ledger.claims) {
    const auto* c = s.it->claims().find(id);
    if (c == nullptr || *c != row) return "memory and ledger disagree about claim " + text(id);
    if (row.amount != price_of(row, s))
      return "I4: a claim's amount is not the sum of its items and their fees";
    if (is_live(row.status) || row.status == claim_status::confirmed) ++standing[row.customer];
    if (is_guest(row.customer) && row.status == claim_status::confirmed)
      return "a guest has bought claim " + text(id) + " for nobody";
    const auto session_end = s.ledger.entries.at(row.entry).session_expires_at;
    if (is_live(row.status) && row.expires_at > session_end) return "a claim outlives its session";
  }
  for (const auto& [customer, n] : standing)
    if (n > 8) return "I2: more claims than slots";
  return {};
}

/// Checks I3 and I4 for one payment. `requested`, `succeeded`: sums of its refunds.
std::string payment_differs(const payment_row& p, const claim_row& claim, money requested, money succeeded) {
  switch (p.status) {
    case payment_status::initializing:
    case payment_status::pending:
    case payment_status::failed:
      if (p.captured != 0 || requested + succeeded != 0) return "an unpaid attempt has money";
      if (is_open(p.status) && claim.status == claim_status::released)
        return "stock was given away under an open attempt";
      break;
    case payment_status::confirmed:
      if (p.captured != p.amount) return "I4: confirmed another amount";
      if (claim.status != claim_status::confirmed || claim.amount != p.amount)
        return "I3: paid without a ticket";
      break;
    case payment_status::confirmed_late: return "I3: late money neither claimed again nor going back";
    case payment_status::refund_pending:
      if (p.captured - p.refunded < requested || (requested == 0 && p.captured > 0))
        return "I3: nothing, or too much, is going back";
      if (claim.status != claim_status::confirmed && p.captured - p.refunded != requested)
        return "I3: not everything is going back";
      break;
    case payment_status::refunded:
      if (p.captured != p.refunded) return "I3: refunded but not all of it";
      break;
    case payment_status::quarantined: break; // a person decides
    case payment_status::partially_refunded:
      if (claim.status != claim_status::confirmed || claim.amount != p.amount)
        return "I3: paid in part without a ticket";
      break;
    case payment_status::refund_failed:
      if (p.captured <= p.refunded || requested != 0) return "I3: a dead letter forgets money";
      break;
  }
  return {};
}

/// Checks I3 and I4 on the rows: each payment by its state.
std::string money_differs(const sample_sale& s) {
  std::map<claim_id, int> payers;
  money gone = 0;
  for (const auto& [id, p] : s.ledger.payments) {
    const auto* m = s.it->payments().find(id);
    if (m == nullptr || *m != p) return "memory and ledger disagree about payment " + text(id);
    const auto& claim = s.ledger.claims.at(p.claim);
    money requested = 0, succeeded = 0;
    for (const auto& [rid, r] : s.ledger.refunds) {
      if (r.payment != id) continue;
      if (r.status == refund_status::succeeded) succeeded += r.amount;
      if (r.status == refund_status::requested) requested += r.amount;
      if (*s.it->payments().find_refund(rid) != r) return "memory and ledger disagree about a refund";
    }
    if (succeeded != p.refunded) return "refunded is not the sum of succeeded refunds";
    gone += p.refunded;
    if (auto wrong = payment_differs(p, claim, requested, succeeded); !wrong.empty()) return wrong;
    payers[p.claim] +=
      p.status == payment_status::confirmed || p.status == payment_status::partially_refunded;
  }
  for (const auto& [claim, n] : payers)
    if (n > 1) return "I3: two payments for one ticket";
  for (const auto& [id, c] : s.ledger.claims) {
    const bool paid = std::ranges::any_of(s.ledger.payments, [&](const auto& p) {
      const auto st = p.second.status;
      return p.second.claim == id && is_kept(st);
    });
    if (c.status == claim_status::confirmed && !paid) return "a ticket nobody paid for";
  }
  if (s.it->payments().refunded() != gone) return "the book's refunds are miscounted";
  return {};
}

/// I3: as many valid event tickets as units that are bought and not refunded; exactly one place for each.
std::string event_tickets_differ(const sample_sale& s) {
  std::map<std::pair<claim_id, std::uint32_t>, std::uint32_t> valid;
  const auto& book = s.it->event_tickets();
  std::size_t place = 0;
  if (book.size() != s.ledger.event_tickets.size()) return "memory and ledger disagree about event tickets";
  if (s.it->transfers().all() != s.ledger.transfers) return "memory and ledger disagree about transfers";
  for (const auto& [id, offer] : s.ledger.transfers)
    if (offer.status == transfer_status::offered && !is_valid(s.ledger.event_tickets.at(offer.ticket).status))
      return "an open offer of a cancelled ticket";
  for (const auto& [id, t] : s.ledger.event_tickets) {
    if (book.at(place++) != t || *book.find(id) != t)
      return "memory and ledger disagree about an event ticket";
    if (owner_of(id) != sample_aggregate) return "the id of an event ticket does not lead to its event";
    if (t.generation == 1 && t.holder != s.ledger.claims.at(t.claim).customer)
      return "somebody else holds a ticket that was not transferred";
    valid[{t.claim, t.ticket_type}] += is_valid(t.status);
  }
  for (const auto& [id, c] : s.ledger.claims)
    for (const auto& i : c.items) {
      const auto due = c.status == claim_status::confirmed ? i.quantity - i.refunded : 0;
      if (valid[{id, i.ticket_type}] != due)
        return "I3: claim " + text(id) + " has other valid event tickets than units";
      valid.erase({id, i.ticket_type});
    }
  if (!valid.empty()) return "I3: event tickets of a type that the claim does not have";
  return {};
}

/// I1 for seats, in memory and against the rows.
std::string seats_differ(const sample_sale& s) {
  const auto* seats = s.it->seats();
  if ((seats != nullptr) != s.ledger.plan.has_value()) return "memory and ledger disagree about the plan";
  if (seats == nullptr) return {};
  if (seats->row() != *s.ledger.plan) return "memory and ledger have different plans";
  std::vector<seat_holding> live;
  for (const auto& [key, row] : s.ledger.claim_seats)
    if (row.is_live)
      live.push_back({row.seat, row.claim, s.ledger.claims.at(row.claim).status == claim_status::confirmed});
  for (const auto& lines : {contradictions(seats->map()), contradictions(seats->map(), live)})
    if (!lines.empty()) return "I1: " + lines.front();
  for (seat_number n = 0; n < seats->map().size(); ++n) {
    const auto setting = s.ledger.seat_settings.find(n);
    const bool is_set = setting != s.ledger.seat_settings.end();
    if ((seats->map().state(n) == seat_state::blocked) != (is_set && setting->second.is_blocked)
        || seats->map().type(n) != (is_set ? setting->second.ticket_type : seats->map().type_in_plan(n)))
      return "memory and ledger disagree about a seat's setting";
  }
  return {};
}

std::string scans_differ(const sample_sale& s) {
  if (s.it->checkin().scans() != s.ledger.scans.size()) return "memory and ledger disagree about scans";
  for (const auto& [id, row] : s.ledger.scans) {
    const auto* known = s.it->checkin().find(id);
    if (known == nullptr || *known != row) return "memory and ledger disagree about a scan";
  }
  for (const auto& type : s.ledger.types)
    for (std::uint8_t status = 0; status < event_ticket_statuses; ++status) {
      const auto of = static_cast<event_ticket_status>(status);
      const auto counted = std::ranges::count_if(s.ledger.event_tickets, [&](const auto& t) {
        return t.second.ticket_type == type.ordinal && t.second.status == of;
      });
      if (s.it->event_tickets().count(type.ordinal, of) != static_cast<std::size_t>(counted))
        return "event tickets are miscounted";
    }
  const auto& book = s.it->event_tickets();
  const auto changed = book.changed_after(never, {}, timestamp::max(), SIZE_MAX);
  if (changed.size() != s.ledger.event_tickets.size()) return "event tickets by time: others than there are";
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (s.ledger.event_tickets.at(changed[i]->id) != *changed[i]) return "event tickets by time: another row";
    if (book.changed_at(*changed[i]) < changed[i]->updated_at) return "event tickets by time: too early";
    if (i > 0 && book.changed_at(*changed[i]) < book.changed_at(*changed[i - 1]))
      return "event tickets by time: no order";
  }
  return {};
}

std::string orders_differ(const sample_sale& s) {
  for (const auto& [id, row] : s.ledger.orders) {
    const auto* o = s.it->orders().find(id);
    if (o == nullptr || *o != row) return "memory and ledger disagree about order " + text(id);
    if (o != s.it->orders().of_claim(row.claim)) return "an order is not its claim's";
    if (row.status == order_status::pending && s.now > row.created_at + s.rules.pending_max)
      return "I13: an order waits for ever";
    const auto& claim = s.ledger.claims.at(row.claim);
    if (row.status == order_status::pending && claim.status == claim_status::claimed
        && s.it->payments().open_of(claim.id) == nullptr)
      return "I13: an order waits for a page that nobody makes";
  }
  if (s.it->promo_codes().all() != s.ledger.promo_codes)
    return "memory and ledger disagree about promo codes";
  if (s.it->dead_letters() != s.ledger.dead_letters) return "memory and ledger disagree about dead letters";
  if (s.it->priorities() != s.ledger.priorities) return "memory and ledger disagree about priorities";
  if (s.it->invitations() != s.ledger.invitations) return "memory and ledger disagree about invitations";
  return {};
}

template <class T>
bool same_claims(const T& a, const T& b) {
  const auto seats = [](const T& view) {
    return std::set<std::string>(view.seats.begin(), view.seats.end());
  };
  return a.claim == b.claim && a.item_ids == b.item_ids && a.item_names == b.item_names && a.event == b.event
         && a.currency == b.currency && seats(a) == seats(b);
}

bool same_tickets(const sale& a, const sale& b, const claim_id& claim) {
  const auto x = a.event_tickets().of_claim(claim), y = b.event_tickets().of_claim(claim);
  return std::ranges::equal(a.views_of(x), b.views_of(y), [&](const auto& v, const auto& w) {
    return v.ticket == w.ticket && v.order == w.order && v.refund_pending == w.refund_pending
           && v.seat == w.seat && v.attendee == w.attendee
           && a.event_tickets().changed_at(v.ticket) == b.event_tickets().changed_at(w.ticket);
  });
}

auto tied(const entry_view& v) {
  return std::tie(v.id, v.event, v.customer, v.number, v.status, v.position, v.eta_low_seconds,
                  v.eta_high_seconds, v.poll_after_ms, v.admission_no, v.admission_batch, v.joined_at,
                  v.admitted_at, v.session_expires_at, v.claim_by);
}

auto tied(const event_stats& v) { // the arrival rate is not compared: it restarts with each owner
  return std::tie(v.event, v.status, v.waiting, v.away, v.admitted, v.joined_total, v.admitted_total,
                  v.completed_total, v.total, v.held, v.sold, v.available, v.claims_live, v.claims_confirmed,
                  v.payments_open, v.revenue, v.refunded, v.admission_rate_per_minute, v.last_admission_batch,
                  v.server_time);
}

} // namespace

std::string audit_says(const sample_sale& s) {
  const auto values = [](const auto& map) {
    std::vector<typename std::remove_cvref_t<decltype(map)>::mapped_type> all;
    for (const auto& [key, row] : map) all.push_back(row);
    return all;
  };
  const auto entries = values(s.ledger.entries);
  const auto claims = values(s.ledger.claims);
  const auto payments = values(s.ledger.payments);
  const auto refunds = values(s.ledger.refunds);
  const auto orders = values(s.ledger.orders);
  const auto tickets = values(s.ledger.event_tickets);
  const auto settings = values(s.ledger.seat_settings);
  const auto seats = values(s.ledger.claim_seats);
  const auto scans = values(s.ledger.scans);
  const auto lines = contradictions({s.ledger.event, s.ledger.types, entries, claims, payments, refunds,
                                     orders, s.ledger.promo_codes, tickets, true, scans,
                                     s.ledger.plan ? &*s.ledger.plan : nullptr, settings, seats});
  return lines.empty() ? std::string{} : "the audit finds: " + lines.front();
}

/// Nothing else changes the line than what the log tells.
std::string log_differs(const sample_sale& s) {
  return s.log.wrong().empty() ? s.log.differs(s.ledger.entries) : "the log: " + s.log.wrong();
}

std::string what_is_wrong(const sample_sale& s) {
  if (s.it->event() != s.ledger.event) return "memory and ledger disagree about the event";
  for (const auto check : {stock_differs, places_differ, claims_differ, money_differs, event_tickets_differ,
                           scans_differ, seats_differ, orders_differ, audit_says, log_differs})
    if (auto wrong = check(s); !wrong.empty()) return wrong;
  return {};
}

std::string what_money_is_wrong(const sample_sale& s, const gateway_book& book,
                                const std::map<payment_id, money>& told) {
  money in = 0, expected = 0;
  for (const auto& [id, p] : s.ledger.payments) in += p.captured;
  for (const auto& [id, amount] : told) {
    expected += amount;
    if (s.ledger.payments.at(id).captured != amount)
      return "I4: the ledger knows another amount than the gateway told";
  }
  if (in != expected) return "I4: the ledger knows money that no gateway told of";
  for (const auto& [id, r] : s.ledger.refunds)
    if (r.status == refund_status::succeeded && r.amount > 0 && !book.refunded.contains(id))
      return "I4: a refund no gateway made";
  return {};
}

std::string how_a_reload_differs(const sample_sale& s) {
  const auto again = load_sale(s.ledger, s.rules, 99);
  for (const auto& [n, row] : s.ledger.entries) {
    const auto &a = *s.it->queue().find(n), &b = *again->queue().find(n);
    if (tied(s.it->view_of(a, s.now)) != tied(again->view_of(b, s.now)) || a.live_claims() != b.live_claims())
      return "entry " + std::to_string(value_of(n)) + " is shown differently";
    if (s.it->queue().find(row.subject)->row() != again->queue().find(row.subject)->row())
      return "a subject has another place";
  }
  for (const auto& [id, row] : s.ledger.claims) {
    if (!same_claims(s.it->view_of(*s.it->claims().find(id)), again->view_of(*again->claims().find(id))))
      return "claim " + text(id) + " is shown differently";
    auto a = s.it->payments().of_claim(id), b = again->payments().of_claim(id);
    std::ranges::sort(a);
    std::ranges::sort(b);
    if (a != b) return "claim " + text(id) + " has other attempts";
    const auto *x = s.it->claims().standing(row.customer), *y = again->claims().standing(row.customer);
    if ((x == nullptr) != (y == nullptr) || (x != nullptr && x->id != y->id))
      return "another claim stands for a customer";
  }
  for (const auto& [id, row] : s.ledger.payments)
    if (again->view_of(*again->payments().find(id)).payment
        != s.it->view_of(*s.it->payments().find(id)).payment)
      return "payment " + text(id) + " is shown differently";
  for (const auto& [id, row] : s.ledger.orders) {
    const auto a = s.it->view_of(*s.it->orders().find(id)), b = again->view_of(*again->orders().find(id));
    if (a.order != b.order || a.payment != b.payment || a.payment_url != b.payment_url
        || a.refunded != b.refunded || a.can_retry != b.can_retry || !same_tickets(*s.it, *again, row.claim))
      return "order " + text(id) + " is shown differently";
  }
  if (s.it->locks().all() != again->locks().all()) return "other names are locked";
  const auto a = s.it->view(), b = again->view();
  if (a.event != b.event || a.ticket_types != b.ticket_types || a.sold_out != b.sold_out)
    return "the event is shown differently";
  const auto x = s.it->stats(s.now), y = again->stats(s.now);
  if (tied(x) != tied(y)) return "the stats differ";
  if (s.it->is_quiet(s.now) != again->is_quiet(s.now)) return "one of them is quiet";
  return {};
}

} // namespace fq::test
