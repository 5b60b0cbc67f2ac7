// SPDX-License-Identifier: Apache-2.0
#include "tests/domain/sale/sample_sale.hpp"

#include <algorithm>

namespace fq::test {

event_row sample_event() {
  event_row e;
  e.id = make_uuid(opening, sample_aggregate, 1);
  e.aggregate = sample_aggregate;
  e.organizer = {7, 7};
  e.name = "Concert";
  e.currency = "NGN";
  e.status = event_status::active;
  e.queue_opens_at = e.sale_start = opening;
  e.sale_end = opening + seconds{3600};
  e.queue.session_ttl = seconds{60};
  e.queue.claim_window = seconds{10};
  e.claim_ttl = seconds{20};
  e.created_at = e.updated_at = opening - seconds{100};
  return e;
}

std::vector<ticket_type_row> sample_types(std::int64_t total, money price) {
  return {
    {.ordinal = 0, .id = {0x77, 1}, .name = "Standard", .price = price, .total = total, .max_per_order = 4}};
}

namespace {

/// Any order that depends on the inputs, in which the members of a party follow each other.
line_ranks drawn_order(const sale& s) {
  const auto& lobby = *s.lobby();
  const auto parties = s.lobby_parties();
  std::vector<std::tuple<std::size_t, std::uint32_t, std::uint32_t>> lots;
  for (std::uint32_t n = 1; n <= parties.size(); ++n) {
    const auto drawn_for = parties[n - 1] == 0 ? n : parties[n - 1];
    lots.emplace_back(
      std::hash<std::string>{}(lobby.seed + lobby.root + lobby.value + std::to_string(drawn_for)), drawn_for,
      n);
  }
  std::ranges::sort(lots);
  std::vector<std::uint32_t> order;
  for (const auto& lot : lots) order.push_back(std::get<2>(lot));
  return line_ranks{std::move(order)};
}

} // namespace

std::unique_ptr<sale> load_sale(const naive_ledger& ledger, const sale_rules& rules, std::uint64_t seed) {
  auto s = std::make_unique<sale>(rules, [d = dice{seed}]() mutable { return d.bits(); });
  s->load(ledger.event, ledger.types);
  s->load(ledger.totals());
  if (ledger.lobby)
    s->load(*ledger.lobby);
  else
    s->queue().draw(ledger.ranks);
  std::vector<entry_row> entries;
  for (const auto& [n, row] : ledger.entries) entries.push_back(row);
  s->load(entries);
  if (ledger.plan) s->load(*ledger.plan, seed << 32);
  for (const auto& [seat, row] : ledger.seat_settings) s->load(row);
  for (const auto& [id, row] : ledger.event_tickets) s->load(row);
  for (const auto& [id, row] : ledger.transfers) s->load(row);
  for (const auto& [id, row] : ledger.claims) s->load(row);
  for (const auto& [key, row] : ledger.claim_seats) s->load(row);
  for (const auto& [id, row] : ledger.checkin_lists) s->load(row);
  for (const auto& [id, row] : ledger.checkin_devices) s->load(row);
  for (const auto& [id, row] : ledger.scans) s->load(row);
  for (const auto& [id, row] : ledger.payments) s->load(row);
  for (const auto& [id, row] : ledger.refunds) s->load(row);
  for (const auto& row : ledger.promo_codes) s->load(row);
  for (const auto& [id, row] : ledger.orders) s->load(row);
  for (const auto& [id, row] : ledger.dead_letters) s->load(row);
  for (const auto& [id, row] : ledger.priorities) s->load(row);
  for (const auto& [id, row] : ledger.invitations) s->load(row);
  for (const auto& row : ledger.access) s->load(row);
  for (const auto& [name, row] : ledger.locks) s->load(row);
  for (const auto& row : ledger.receipts) s->load(row);
  for (const auto& row : ledger.answers) s->load(row);
  s->loaded();
  if (s->next_draw_step() == sale::draw_step::order) s->rank(drawn_order(*s));
  return s;
}

sample_sale::sample_sale(event_row event, std::vector<ticket_type_row> types, std::uint64_t seed,
                         sale_rules r) :
    rules(r), seed_(seed) {
  ledger.event = std::move(event);
  ledger.types = std::move(types);
  it = load_sale(ledger, rules, seed_);
  it->begin_log({}, last);
  read_log();
  last = {};
}

void sample_sale::read_log() {
  log.rank_of = [ranks = ledger.ranks](queue_number n) { return value_of(ranks.rank_of(n)); };
  for (const auto& r : last.records)
    log.take(r, [this](queue_number n) {
      const auto found = ledger.entries.find(n);
      return found == ledger.entries.end() ? nullptr : &found->second;
    });
}

void sample_sale::settle() {
  wake = it->run(now, last);
  static_cast<void>(copy.advance(copy.version(), copy.version() + 1));
  for (const auto& spot : last.overtaking) copy.arrived(spot);
  for (const auto& c : last.entry_changes) copy.changed(c.spot, c.status);
  ledger.apply(last.content);
  read_log();
  if (draws) follow_draw();
}

void sample_sale::follow_draw() {
  using step = sale::draw_step;
  const auto decide = [this](auto call) {
    auto before = std::move(last);
    last = {};
    call();
    draws = false;
    settle();
    draws = true;
    last.content.insert(last.content.begin(), before.content.begin(), before.content.end());
  };
  if (it->next_draw_step() == step::root)
    decide([this] {
      std::string root;
      std::vector<sale::entrant_place> entrants;
      it->add_entrants(entrants, {}, value_of(it->lobby()->last));
      for (const auto& e : entrants) root += std::to_string(value_of(e.where.number)) + ' ';
      it->set_root(root.empty() ? "none" : root, now, last);
    });
  if (it->next_draw_step() == step::beacon && !beacon.empty())
    decide([this] { static_cast<void>(it->give_beacon(it->event().lobby.beacon, beacon, now, last)); });
  if (it->next_draw_step() == step::order)
    decide([this] {
      ledger.ranks = drawn_order(*it);
      it->rank(ledger.ranks);
      copy.begin(copy.version());
      noted.clear();
    });
}

void sample_sale::note_positions(dice& d) {
  const auto& line = it->queue();
  line.each([&](const queue_line::entry& e) {
    if (is_in_line(e.status) && d.chance(30))
      noted[e.number] = copy.base_of(line.spot_of(e), line.position(e));
  });
}

std::string sample_sale::what_the_copy_misses() const {
  const auto& line = it->queue();
  for (const auto& [number, base] : noted) {
    const auto* e = line.find(number);
    if (e == nullptr) continue; // a reload forgot it
    const auto spot = line.spot_of(*e);
    const auto position = copy.position(spot, base);
    const auto right = is_in_line(e->status) ? std::optional{line.position(*e)} : std::nullopt;
    if (position != right || copy.is_away(spot) != (e->status == entry_status::away))
      return "the copy has another place " + std::to_string(value_of(number));
  }
  return {};
}

void sample_sale::pass(milliseconds span) {
  now += span;
  last = {};
  it->settle_loaded_tickets(now, last);
  settle();
}

int sample_sale::drain() {
  int runs = 0;
  decision all;
  do {
    pass(milliseconds{0});
    std::move(last.gateway_calls.begin(), last.gateway_calls.end(), std::back_inserter(all.gateway_calls));
    std::move(last.notices.begin(), last.notices.end(), std::back_inserter(all.notices));
    std::move(last.entry_changes.begin(), last.entry_changes.end(), std::back_inserter(all.entry_changes));
    ++runs;
  } while (wake.again && runs < 10'000);
  last = std::move(all);
  return runs;
}

void sample_sale::reload() {
  it = load_sale(ledger, rules, ++seed_);
  it->keep_log();
  it->block(blocked);
  if (draws) follow_draw();
}

void sample_sale::block(const std::set<std::uint64_t>& fans, bool includes_ended) {
  auto customers = std::make_shared<blocked_customers::list>();
  for (const auto n : fans) customers->emplace(fan(n), includes_ended);
  blocked.own = std::move(customers);
  it->block(blocked);
  pass(milliseconds{0});
}

refusal sample_sale::invite(const std::vector<std::uint64_t>& fans, const invitation_wish& wish,
                            std::size_t* news) {
  last = {};
  std::vector<customer_id> customers;
  for (const auto n : fans) customers.push_back(fan(n));
  auto no = it->invite(customers, wish, now, last);
  if (news != nullptr) *news = last.invited.size();
  settle();
  return no;
}

std::size_t sample_sale::uninvite(std::uint64_t n) {
  last = {};
  const auto withdrawn = it->withdraw_invitations({fan(n)}, now, last);
  settle();
  return withdrawn;
}

sale::joined sample_sale::join(std::uint64_t n, std::uint64_t key, std::string_view access_code) {
  last = {};
  auto done = it->join(fan(n), key, now, last, {}, access_code);
  settle();
  return done;
}

sale::joined sample_sale::join_party(std::uint64_t n, queue_number party, std::uint64_t key) {
  last = {};
  auto done = it->join(fan(n), key, now, last, {}, {}, false, party);
  settle();
  return done;
}

refusal sample_sale::change_party(std::uint64_t n, queue_number party) {
  last = {};
  const auto* own = it->queue().find(fan(n));
  auto no = own == nullptr ? refusal{reason::not_in_queue} : it->change_party(*own, party, now, last);
  settle();
  return no;
}

void sample_sale::join_all(std::uint64_t first, std::uint64_t last_fan) {
  for (auto n = first; n <= last_fan; ++n) join(n);
}

refusal sample_sale::leave(std::uint64_t n) {
  last = {};
  auto no = it->leave(fan(n), now, last);
  settle();
  return no;
}

void sample_sale::give_plan(std::shared_ptr<const seat_plan> plan, const std::vector<std::uint8_t>& types,
                            const seat_rules& seat_rules) {
  const seating seats(std::move(plan), types, seat_rules, 1);
  ledger.plan = seats.row();
  for (auto& t : ledger.types)
    if (seats.governs(t.ordinal)) t.total = seats.units_of(t.ordinal);
  reload();
}

refusal sample_sale::set_seats(const seat_patch& p) {
  last = {};
  auto no = it->set_seats(p, now, last);
  settle();
  return no;
}

refusal sample_sale::claim(std::uint64_t n, const std::vector<item_wish>& wishes, const seat_wish& seats) {
  last = {};
  claim_id opened;
  auto no = it->open_claim(fan(n), it->queue().find(fan(n)), wishes, now, last, opened, seats);
  settle();
  return no;
}

refusal sample_sale::release(std::uint64_t n, const claim_id& id) {
  last = {};
  auto no = it->release_claim(fan(n), id, now, last);
  settle();
  return no;
}

sale::placed sample_sale::order(std::uint64_t n, const std::vector<item_wish>& items, std::string promo_code,
                                const seat_wish& seats) {
  last = {};
  order_wish wish;
  wish.items = items;
  wish.seats = seats;
  wish.promo_code = std::move(promo_code);
  wish.contact = {"Ada", "Obi", "ada@example.org", ""};
  wish.contact.answers = answers;
  wish.gateway = "sandbox";
  if (is_guest(fan(n))) wish.buyer = fan(n % first_guest);
  auto done = it->place_order(fan(n), it->queue().find(fan(n)), wish, now, last);
  settle();
  return done;
}

refusal sample_sale::cancel_order(std::uint64_t n, const order_id& id) {
  last = {};
  auto no = it->cancel_order(fan(n), id, now, last);
  settle();
  return no;
}

refusal sample_sale::refund_order(const order_id& id, std::vector<item_wish> items,
                                  std::vector<event_ticket_id> tickets) {
  last = {};
  refund_id opened;
  auto no = it->refund_order(id, {std::move(items), std::move(tickets)}, now, last, opened);
  settle();
  return no;
}

refusal sample_sale::offer(const event_ticket_id& ticket, std::uint64_t receiver, transfer_id* made) {
  last = {};
  transfer_id id;
  const auto holder = ledger.event_tickets.at(ticket).holder;
  auto no = it->offer_ticket({ticket, holder, fan(receiver), "giver@example.org", "receiver@example.org"},
                             now, last, id);
  if (made != nullptr) *made = id;
  settle();
  return no;
}

refusal sample_sale::end_transfer(const transfer_id& id, std::uint64_t by, transfer_trigger how) {
  last = {};
  auto no = it->end_transfer(id, fan(by), how, now, last);
  settle();
  return no;
}

scan_view sample_sale::scan(const checkin_device_id& device, const scan_wish& wish) {
  last = {};
  auto answer = it->redeem(device, wish, now, last);
  settle();
  return answer;
}

checkin_list_id sample_sale::checkin_list(checkin_mode mode, std::vector<ticket_type_id> types) {
  checkin_list_patch p;
  p.name = {true, "Main"};
  p.mode = {true, mode};
  p.ticket_types = {!types.empty(), std::move(types)};
  checkin_list_id id;
  last = {};
  if (it->set_checkin_list(p, now, last, id)) throw std::runtime_error{"no check-in list"};
  settle();
  return id;
}

checkin_device_id sample_sale::checkin_device(std::vector<checkin_list_id> lists, bool may_force) {
  checkin_device_patch p;
  p.label = "Phone";
  p.gate = "West";
  p.lists = std::move(lists);
  p.secret_hash = "hash";
  p.may_force = may_force;
  checkin_device_id id;
  last = {};
  if (it->set_checkin_device(p, now, last, id)) throw std::runtime_error{"no device"};
  settle();
  return id;
}

refusal sample_sale::promo(const promo_code_patch& p) {
  last = {};
  promo_code_id id;
  auto no = it->set_promo_code(p, now, last, id);
  settle();
  return no;
}

refusal sample_sale::prefer(std::uint64_t n, std::optional<std::uint8_t> priority_class) {
  last = {};
  auto no = it->set_priorities({fan(n)}, priority_class, now, last);
  settle();
  return no;
}

void sample_sale::initialized(const payment_id& payment) {
  last = {};
  it->initialized(payment, "http://page", "gw-1", now, last);
  settle();
}

const order_row& sample_sale::order_of(std::uint64_t n) const {
  const order_row* newest = nullptr;
  // ordered by id, so by time
  for (const auto& [id, row] : ledger.orders)
    if (row.is_of(fan(n))) newest = &row;
  if (newest == nullptr) throw std::runtime_error{"fan without an order"};
  return *newest;
}

const payment_row& sample_sale::payment_of(const order_row& order) const {
  const auto attempts = it->payments().of_claim(order.claim);
  if (attempts.empty()) throw std::runtime_error{"order without a payment"};
  return payment(attempts.back());
}

std::vector<event_ticket_id> sample_sale::tickets_of(std::uint64_t n) const {
  const auto claim = claim_of(n).id;
  std::vector<event_ticket_id> ids;
  for (const auto& [id, row] : ledger.event_tickets)
    if (row.claim == claim && is_valid(row.status)) ids.push_back(id);
  return ids;
}

sale::attempt sample_sale::pay(std::uint64_t n) {
  last = {};
  auto done = it->open_payment(fan(n), claim_of(n).id, "sandbox", now, last);
  settle();
  return done;
}

refusal sample_sale::hear(gateway_fact f) {
  last = {};
  auto no = it->apply(f, now, last);
  settle();
  return no;
}

gateway_fact sample_sale::fact(const payment_id& id, verdict what) {
  const auto& p = payment(id);
  return {p.gateway, "evt_" + std::to_string(++next_fact_), what, p.reference, p.amount, it->event().currency,
          {}};
}

refusal sample_sale::captured(const payment_id& id) { return hear(fact(id, verdict::paid)); }
refusal sample_sale::declined(const payment_id& id) { return hear(fact(id, verdict::declined)); }

refusal sample_sale::refunded(const refund_id& id) {
  auto f = fact(it->payments().find_refund(id)->payment, verdict::refund_processed);
  f.refund = to_string(id);
  return hear(f);
}

void sample_sale::closed(const payment_id& id) {
  last = {};
  it->closed(id, now, last);
  settle();
}

refusal sample_sale::change_status(event_trigger trigger) {
  last = {};
  auto no = it->change_status(trigger, now, last);
  settle();
  return no;
}

refusal sample_sale::patch(const event_patch& p) {
  last = {};
  auto no = it->patch(p, now, last);
  settle();
  return no;
}

const claim_row& sample_sale::claim_of(std::uint64_t n) const {
  const claim_row* newest = nullptr;
  for (const auto& [id, row] : ledger.claims)
    if (row.customer == fan(n) && (newest == nullptr || newest->created_at <= row.created_at)) newest = &row;
  if (newest == nullptr) throw std::runtime_error{"fan without a claim"};
  return *newest;
}

bool sample_sale::told(socket_notice_kind what) const { return std::ranges::count(last.notices, what) > 0; }

bool sample_sale::asked(gateway_call_kind kind) const {
  return std::ranges::count(last.gateway_calls, kind, &gateway_call::kind) > 0;
}

std::optional<refund_id> sample_sale::refund_asked() const {
  const auto i = std::ranges::find(last.gateway_calls, gateway_call_kind::refund, &gateway_call::kind);
  return i == last.gateway_calls.end() ? std::nullopt : std::optional{i->refund};
}

} // namespace fq::test
