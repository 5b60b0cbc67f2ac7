// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/options.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

/// The rate of a fault, or 0 in half of the seeds.
std::uint32_t perhaps(generator& rng, std::int64_t low, std::int64_t high) {
  return chance(rng, 500) ? static_cast<std::uint32_t>(between(rng, low, high)) : 0;
}

/// The lowest presence_timeout that the server accepts.
constexpr milliseconds presence_min{20'000};

queue_settings queue_of(generator& rng) {
  queue_settings q;
  constexpr std::array policies{admission_policy::batch,    admission_policy::batch,
                                admission_policy::capacity, admission_policy::capacity,
                                admission_policy::rate,     admission_policy::open};
  q.policy = policies[rng() % policies.size()];
  if (q.policy == admission_policy::capacity || chance(rng, 400))
    q.concurrency = static_cast<std::uint32_t>(between(rng, 1, 8));
  if (q.policy == admission_policy::rate)
    q.rate_per_minute = static_cast<std::uint32_t>(between(rng, 20, 60));
  q.batch_size = static_cast<std::uint32_t>(between(rng, 1, 6));
  q.admission_interval = between(rng, milliseconds{100}, milliseconds{1'500});
  q.over_admission_percent = static_cast<std::uint32_t>(chance(rng, 500) ? 100 : between(rng, 100, 180));
  q.claim_window = between(rng, milliseconds{1'000}, milliseconds{3'000});
  return q;
}

fault_rates faults_of(generator& rng) {
  fault_rates f;
  f.commit_unavailable = perhaps(rng, 5, 80);
  f.commit_applied_unknown = perhaps(rng, 5, 60);
  f.commit_lost_unknown = perhaps(rng, 5, 60);
  f.commit_late = perhaps(rng, 5, 60);
  f.commit_delayed = perhaps(rng, 5, 60);
  f.commit_busy = perhaps(rng, 5, 60);
  f.acquire_unavailable = perhaps(rng, 50, 300);
  f.call_unavailable = perhaps(rng, 20, 200);
  f.call_unanswered = perhaps(rng, 20, 200);
  f.store_delay = milliseconds{perhaps(rng, 1, 400)};
  f.kill_owner = perhaps(rng, 10, 150);
  f.kill_supervisor = perhaps(rng, 5, 40);
  f.crash_process = perhaps(rng, 5, 40);
  f.rival_owner = perhaps(rng, 5, 60);
  f.kill_payments = perhaps(rng, 2, 15);
  f.gateway_unavailable = perhaps(rng, 20, 400);
  f.gateway_effect_but_unavailable = perhaps(rng, 10, 100);
  f.gateway_answer_lost = perhaps(rng, 10, 100);
  f.gateway_outage = perhaps(rng, 10, 60);
  f.gateway_delay = milliseconds{perhaps(rng, 1, 2'000)};
  f.webhook_lost = perhaps(rng, 50, 500);
  f.webhook_gone = f.webhook_lost / 2;
  f.webhook_twice = perhaps(rng, 50, 400);
  f.webhook_delay = milliseconds{perhaps(rng, 1, 6'000)};
  f.wrong_amount = chance(rng, 200) ? 100 : 0;
  f.refund_pending = perhaps(rng, 100, 700);
  f.answer_lost = perhaps(rng, 10, 150);
  f.wall_clock_jumps = chance(rng, 200);
  f.cache_unavailable = perhaps(rng, 5, 80);
  f.cache_unanswered = perhaps(rng, 5, 80);
  f.cache_torn = perhaps(rng, 5, 80);
  f.cache_flushed = perhaps(rng, 2, 40);
  f.cache_rolled_back = perhaps(rng, 2, 40);
  f.cache_saved = 200;
  f.cache_away = perhaps(rng, 10, 60);
  f.freeze = perhaps(rng, 20, 120);
  f.consumer_refuses = perhaps(rng, 50, 400);
  f.consumer_stops_early = perhaps(rng, 50, 400);
  f.consumer_answer_lost = perhaps(rng, 10, 100);
  f.consumer_delay = milliseconds{perhaps(rng, 1, 4'000)};
  return f;
}

/// Windows, and what happens to stock that comes back. Draws from a generator of its own: the other options
/// of a seed stay as they were.
void draw_windows(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 2};
  if (chance(rng, 250)) o.sale_delay = between(rng, milliseconds{500}, milliseconds{6'000});
  if (o.ticket_types > 1 && chance(rng, 400))
    o.type_delay = between(rng, milliseconds{500}, milliseconds{6'000});
  o.queue.reclaim_window =
    chance(rng, 200) ? milliseconds{0} : between(rng, milliseconds{200}, milliseconds{3'000});
  o.queue.reclaims_max = static_cast<std::uint32_t>(between(rng, 0, 3));
}

void draw_statistics(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 13};
  if (chance(rng, 400)) o.statistics_step = between(rng, milliseconds{200}, milliseconds{3'000});
}

/// Settings that few sales change. From a generator of its own, as all groups that were added later.
void draw_settings(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 3};
  auto& q = o.queue;
  if (chance(rng, 200)) q.ticket_ttl = between(rng, milliseconds{3'000}, milliseconds{20'000});
  if (chance(rng, 200)) q.capacity = static_cast<std::uint32_t>(between(rng, 3, 20));
  if (chance(rng, 200)) {
    q.presence_timeout = between(rng, presence_min, presence_min + seconds{2});
    o.people.dozes = static_cast<std::uint32_t>(between(rng, 10, 60));
  }
  q.away_grace = between(rng, milliseconds{1'000}, milliseconds{8'000});
  if (chance(rng, 120)) q.policy = admission_policy::operated;
  o.max_per_order = static_cast<std::uint32_t>(chance(rng, 700) ? 2 : between(rng, 1, 3));
}

void draw_access(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 4};
  if (!chance(rng, 350)) return;
  auto& a = o.access;
  a.hidden = chance(rng, 700) ? 1 : 2;
  a.invites = static_cast<std::uint32_t>(chance(rng, 800) ? between(rng, 200, 700) : 0);
  a.sets_codes = static_cast<std::uint32_t>(chance(rng, 600) ? between(rng, 200, 600) : 0);
  a.gives_code = a.sets_codes > 0 ? static_cast<std::uint32_t>(between(rng, 200, 800)) : 0;
}

void draw_people(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 5};
  if (chance(rng, 200)) o.people.blocks = static_cast<std::uint32_t>(between(rng, 200, 1'000));
  if (chance(rng, 200)) o.people.revokes = static_cast<std::uint32_t>(between(rng, 50, 300));
}

void draw_seats(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 15};
  auto& s = o.seats;
  s.on = chance(rng, 250) && o.kind == event_kind::sale;
  if (!s.on) return;
  s.singles = static_cast<single_rule>(chance(rng, 500) ? 0 : between(rng, 1, 2));
  s.names = static_cast<std::uint32_t>(between(rng, 200, 900));
  s.best = static_cast<std::uint32_t>(between(rng, 100, 600));
  s.changes = perhaps(rng, 100, 600);
}

/// Sessions of standalone queues lock names.
void draw_locks(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 14};
  if (o.kind != event_kind::queue || !chance(rng, 500)) return;
  o.queue.locks_per_session = static_cast<std::uint32_t>(between(rng, 1, 3));
}

/// The model of a ledger that goes back knows no lobby.
void draw_lobby(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 17};
  auto& l = o.lobby;
  l.on = chance(rng, 300) && !o.loss.on && !o.mesh.opens_early;
  l.draws = chance(rng, 850);
  l.has_beacon = l.draws && chance(rng, 400);
  l.length = between(rng, milliseconds{1'000}, milliseconds{6'000});
  l.party_max = static_cast<std::uint32_t>(between(rng, 1, 4));
  l.parties = l.draws ? perhaps(rng, 200, 700) : 0;
}

/// What comes back after the sale is sold out is offered to the first in line.
void draw_waiting_list(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 16};
  if (o.kind != event_kind::sale || !chance(rng, 400)) return;
  o.waiting_list.enabled = true;
  o.waiting_list.claim_window = between(rng, milliseconds{1'000}, milliseconds{4'000});
  o.organizer_acts = true; // raises totals: then something comes back
}

void draw_subscribers(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 7};
  o.mesh.subscribes_again = perhaps(rng, 50, 300);
  if (!o.mesh.on || !chance(rng, 750)) return;
  if (chance(rng, 500)) { // a line that is long enough for absent holders to come back
    o.queue.policy = admission_policy::capacity;
    o.queue.concurrency = static_cast<std::uint32_t>(between(rng, 1, 2));
    o.fans += 8;
  }
  o.queue.presence_timeout = between(rng, presence_min, presence_min + seconds{2});
  o.queue.away_grace = between(rng, milliseconds{6'000}, milliseconds{12'000});
  o.people.dozes = static_cast<std::uint32_t>(between(rng, 250, 600));
}

/// Blocks are compared with the right time.
void draw_clocks(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 8};
  if (!chance(rng, 250)) return;
  o.clocks.drift = chance(rng, 600) ? between(rng, 1, 20) : 0;
  o.clocks.node_steps = perhaps(rng, 10, 60);
  o.clocks.ledger_steps = perhaps(rng, 5, 30);
  o.people.blocks = 0;
  constexpr milliseconds six_hours{6 * 3'600'000};
  if (o.clocks.ledger_steps > 0 && o.sale_length > milliseconds{60'000}) o.sale_length = six_hours;
}

/// Couriers use the wall clock of their node.
void draw_couriers(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 11};
  const bool is_right = o.clocks.drift == 0 && o.clocks.node_steps == 0 && o.clocks.ledger_steps == 0
                        && !o.faults.wall_clock_jumps;
  o.has_couriers = chance(rng, 500) && o.has_dispatcher && is_right;
}

void draw_origins(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 9};
  o.has_origins = chance(rng, 500);
  if (o.has_origins && o.faults.rival_owner > 0 && chance(rng, 800)) // tables must learn of many reloads
    o.faults.rival_owner = static_cast<std::uint32_t>(between(rng, 200, 1'000));
}

void draw_bounds(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 10};
  o.small_bounds = chance(rng, 250);
  if (!o.small_bounds) return;
  const auto some = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(between(rng, low, high));
  };
  o.bounds = {some(4, 30), some(1, 6), some(1, 6), some(0, 2), some(1, 3), some(1, 2)};
  auto& b = o.rules.bounds;
  b.revocations = some(1, 3);
  b.priorities = some(1, 8);
  b.invitations = some(2, 8);
  b.access_codes = some(1, 2);
  b.rows_per_run = some(1, 4);
  b.refunds_per_run = some(1, static_cast<std::int64_t>(b.rows_per_run));
  if (chance(rng, 400)) o.people.revokes = static_cast<std::uint32_t>(between(rng, 150, 400));
  if (chance(rng, 250)) { // a crowd that arrives while commits are slow
    o.fans += 45;
    o.arrival_span = milliseconds{0};
    o.bounds.held = some(4, 8);
    b.rows_per_run = b.refunds_per_run = 1;
    o.faults.store_delay = between(rng, milliseconds{250}, milliseconds{400});
  }
  if (o.kind == event_kind::sale && chance(rng, 400)) {
    o.access = {1, 400, 700, 1'000};
    b.access_codes = 1;
  }
}

void draw_directory(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 12};
  o.mail.on = chance(rng, 850) && o.has_dispatcher;
  o.mail.down = perhaps(rng, 20, 200);
  o.mail.put_off = chance(rng, 750) ? static_cast<std::uint32_t>(between(rng, 50, 500)) : 0;
  o.mail.refused = chance(rng, 250) ? static_cast<std::uint32_t>(between(rng, 10, 100)) : 0;
  o.mail.answer_lost = perhaps(rng, 50, 300);
  auto& d = o.directory;
  d.on = chance(rng, 350);
  if (chance(rng, 300)) d.code_life = between(rng, milliseconds{3'000}, milliseconds{12'000});
  if (d.on && o.faults.rival_owner > 0 && chance(rng, 500)) { // batches of accounts must be lost
    o.faults.rival_owner =
      std::max(o.faults.rival_owner, static_cast<std::uint32_t>(between(rng, 300, 1'000)));
    o.faults.store_delay = between(rng, milliseconds{200}, milliseconds{400});
  }
  if (!chance(rng, 400)) return;
  d.bounds.keys_per_tenant = static_cast<std::size_t>(between(rng, 1, 4));
  d.bounds.blocks_per_owner = static_cast<std::size_t>(between(rng, 1, 3));
  d.bounds.password_calls = static_cast<std::uint32_t>(between(rng, 1, 2));
  d.has_few_codes = chance(rng, 300);
  if (d.has_few_codes) d.bounds.codes = static_cast<std::size_t>(between(rng, 1, 3));
}

/// A standalone queue instead of a sale: nothing to sell, no end, its admitted are at an origin.
void draw_kind(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 6};
  if (o.checkout.on || !chance(rng, 130)) return;
  o.kind = event_kind::queue;
  o.queue.policy = chance(rng, 700) ? admission_policy::capacity : admission_policy::operated;
  o.queue.concurrency = static_cast<std::uint32_t>(between(rng, 1, 8));
  o.queue.claim_window = o.queue.session_ttl;
  o.rules.memory_retention = between(rng, milliseconds{500}, milliseconds{8'000});
  o.ticket_types = 0;
  o.access = {};
  o.people.blocks = 0; // a tenant checks its subjects itself
  o.sale_delay = o.type_delay = milliseconds{0};
  o.organizer_may_cancel = false;
}

/// Two processes in a third of the sales; leases also with one process.
void draw_nodes(generator& rng, sale_options& o) {
  o.nodes = chance(rng, 330) ? 2 : 1;
  if (o.nodes == 1 && !chance(rng, 300)) return;
  o.lease_term = between(rng, milliseconds{1'000}, milliseconds{3'000});
  o.takeover_interval = between(rng, milliseconds{200}, milliseconds{600});
}

/// Additional options for meshed sales. All times are short, so that one sale sees several failures.
void draw_mesh(generator& rng, sale_options& o) {
  auto& m = o.mesh;
  m.on = true;
  o.nodes = static_cast<std::uint32_t>(chance(rng, 400) ? 2 : between(rng, 3, 4));
  o.lease_term = between(rng, milliseconds{800}, milliseconds{2'500});
  o.takeover_interval = between(rng, milliseconds{150}, milliseconds{500});
  // A tool that breaks a lease leaves the owner unaware until the lease would have ended. Its answers until
  // then would count as violations.
  o.faults.rival_owner = 0;
  m.link_delay = milliseconds{chance(rng, 500) ? 2 : between(rng, 5, 120)};
  m.connection_timeout = between(rng, milliseconds{300}, milliseconds{900});
  m.beat_interval = between(rng, milliseconds{150}, milliseconds{400});
  m.alive_for = m.beat_interval * between(rng, 4, 6);
  m.bystanders = static_cast<std::uint32_t>(chance(rng, 500) ? between(rng, 3, 7) : 0);
  m.reset = perhaps(rng, 10, 100);
  m.stall = perhaps(rng, 20, 200);
  m.cut = perhaps(rng, 10, 80);
  m.ledger_cut = perhaps(rng, 10, 80);
  m.silent_death = perhaps(rng, 300, 1'000);
  m.move = perhaps(rng, 200, 800);
  m.drain = perhaps(rng, 50, 200);
  m.opens_early = chance(rng, 500);
  m.lost = chance(rng, 350) ? static_cast<std::uint32_t>(between(rng, 2, 30)) : 0;
  m.twice = chance(rng, 250) ? static_cast<std::uint32_t>(between(rng, 5, 80)) : 0;
  m.late = chance(rng, 250) ? static_cast<std::uint32_t>(between(rng, 5, 80)) : 0;
  m.late_by = between(rng, milliseconds{50}, milliseconds{3'000});
}

/// Additional options for sales with two living processes of one name: both have leases. No tool breaks a
/// lease, as in a mesh.
void draw_twins(generator& rng, sale_options& o) {
  o.nodes = chance(rng, 500) ? 1 : 2;
  o.lease_term = between(rng, milliseconds{1'000}, milliseconds{3'000});
  o.takeover_interval = between(rng, milliseconds{200}, milliseconds{600});
  o.faults.rival_owner = 0;
  o.faults.twin = static_cast<std::uint32_t>(between(rng, 50, 400));
}

/// Additional options for sales whose ledger goes back, in half of them on two nodes. Processes that saw
/// a commit live until the ledger has gone back, and the nodes reach each other: what they must remember is
/// known.
void draw_loss(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 3};
  auto& l = o.loss;
  l.on = true;
  l.back_at = between(rng, milliseconds{6'000}, o.chaos - milliseconds{2'000});
  l.kept_at = l.back_at - between(rng, milliseconds{20}, milliseconds{5'000});
  l.ends_at = l.back_at + between(rng, milliseconds{0}, milliseconds{chance(rng, 500) ? 100 : 4'000});
  auto& f = o.faults;
  f.crash_process = f.kill_payments = f.freeze = f.rival_owner = 0;
  f.wall_clock_jumps = false;
  o.arrival_span = o.chaos;
  o.organizer_may_end = o.organizer_may_cancel = false;
  o.sale_length = milliseconds{3'600'000};
  if (chance(rng, 500)) {
    o.nodes = 1;
    return;
  }
  draw_mesh(rng, o);
  auto& m = o.mesh;
  o.nodes = 2;
  m.bystanders = 0;
  m.reset = m.stall = m.cut = m.ledger_cut = m.silent_death = m.drain = 0;
  m.lost = m.twice = m.late = 0;
}

/// Additional options for sales on the SQLite engine: one process, as its file lock demands, and only the
/// disk loses what the ledger did.
void draw_disk(sale_options& o) {
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 8};
  auto& d = o.disk;
  d.on = true;
  d.error = perhaps(rng, 50, 400);
  d.power = perhaps(rng, 50, 400);
  d.full = perhaps(rng, 20, 200);
  d.open = perhaps(rng, 50, 400);
  d.tears = chance(rng, 500);
  d.checkpoint_pages = static_cast<std::uint32_t>(between(rng, 20, 600));
  o.nodes = 1;
  auto& f = o.faults;
  f.crash_process = perhaps(rng, 20, 150);
  f.commit_unavailable = f.commit_applied_unknown = f.commit_lost_unknown = f.commit_late = 0;
  f.commit_delayed = f.commit_busy = f.acquire_unavailable = f.call_unavailable = f.call_unanswered = 0;
  f.rival_owner = 0;
}

/// Additional options for checkouts: order deadlines (pending_max), fees, and more kinds of gateway refusals.
void draw_checkout(generator& rng, sale_options& o) {
  auto& c = o.checkout;
  auto& f = o.faults;
  c.on = true;
  c.by_order = static_cast<std::uint32_t>(chance(rng, 500) ? 1000 : between(rng, 500, 900));
  c.two_types = perhaps(rng, 200, 600);
  c.donates = perhaps(rng, 100, 500);
  c.uses_promo = static_cast<std::uint32_t>(between(rng, 200, 800));
  c.cancels = perhaps(rng, 50, 300);
  c.releases = perhaps(rng, 20, 150);
  c.pays_all_the_same = perhaps(rng, 100, 600);
  c.webhooks_are_reports = chance(rng, 350);
  generator guests{o.seed ^ 0x6e57}; // of its own, so that other draws stay
  if (chance(guests, 500)) c.guests = static_cast<std::uint32_t>(between(guests, 200, 800));
  o.ticket_types = chance(rng, 600) ? 2 : 1;
  o.price = chance(rng, 80) ? 0 : between(rng, 1, 5'000);
  o.claim_ttl = between(rng, milliseconds{1'500}, milliseconds{7'000});
  o.queue.session_ttl =
    o.queue.claim_window + o.claim_ttl + between(rng, milliseconds{0}, milliseconds{4'000});
  o.claims_per_customer = static_cast<std::uint32_t>(between(rng, 1, 3));
  o.rules.fees["NGN"] = {.platform_per_ticket = 7, .processing_basis_points = 290, .processing_fixed = 3};
  o.rules.pending_max = between(rng, milliseconds{700}, milliseconds{4'000});
  o.rules.initialize_again = between(rng, milliseconds{200}, milliseconds{1'500});
  o.rules.payment_link_after = between(rng, milliseconds{50}, milliseconds{1'500});
  o.rules.refund_retry = {3, milliseconds{50}, milliseconds{1'000}};
  f.rejected = perhaps(rng, 20, 150);
  f.taxed = perhaps(rng, 50, 500);
  f.refund_refused = perhaps(rng, 50, 400);
  f.declined_after_paid = perhaps(rng, 50, 300);
  f.report_forged = c.webhooks_are_reports ? perhaps(rng, 5, 30) : 0;
  f.references_once = chance(rng, 300);
  f.gateway_stays_away = chance(rng, 200);
  if (!f.gateway_stays_away) return;
  c.late_fans = static_cast<std::uint32_t>(between(rng, 3, 8));
  c.by_order = 1000;
  o.total += 20; // stock for the late fans
  o.fans_vanish = false;
  o.organizer_may_end = o.organizer_may_cancel = false;
  o.sale_length = milliseconds{3'600'000};
}

/// What the seed's family adds.
void draw_family(generator& rng, sale_options& o) {
  if (o.seed >= first_disk) return draw_disk(o);
  if (o.seed >= first_lost) return draw_loss(o);
  if (o.seed >= first_twins) return draw_twins(rng, o);
  if (o.seed >= first_meshed) draw_mesh(rng, o);
}

void draw_rules(generator& rng, sale_rules& rules) {
  rules.attempts_per_claim = 3;
  rules.stale_after = between(rng, milliseconds{2'000}, milliseconds{8'000});
  rules.verdict_grace = between(rng, milliseconds{400}, milliseconds{2'500});
  rules.recheck_after = {milliseconds{3'000}, milliseconds{12'000}};
  rules.recheck_pause = milliseconds{1'000};
  rules.refund_retry = {20, milliseconds{50}, milliseconds{1'000}};
}

/// What fans do with a place and a claim.
void draw_habits(generator& rng, sale_options& o) {
  o.no_show = perhaps(rng, 50, 300);
  o.leaves = perhaps(rng, 20, 150);
  o.abandons = perhaps(rng, 50, 300);
  o.releases = perhaps(rng, 50, 300);
  o.declines = perhaps(rng, 50, 400);
  o.pays_late = perhaps(rng, 50, 500);
}

} // namespace

sale_options options_of(std::uint64_t seed) {
  generator rng{seed * 0x9e3779b97f4a7c15ull + 1};
  sale_options o;
  o.seed = seed;
  o.fans = static_cast<std::uint32_t>(between(rng, 6, chance(rng, 300) ? 60 : 25));
  o.queue = queue_of(rng);
  o.claim_ttl = between(rng, milliseconds{1'000}, milliseconds{4'000});
  o.queue.session_ttl =
    o.queue.claim_window + o.claim_ttl + between(rng, milliseconds{0}, milliseconds{4'000});
  o.claims_per_customer = chance(rng, 800) ? 1 : 2;
  o.total = between(rng, 2, chance(rng, 300) ? 30 : 12);
  o.ticket_types = chance(rng, 700) ? 1 : 2;
  o.price = chance(rng, 100) ? 0 : between(rng, 1, 100'000);
  o.arrival_span = chance(rng, 400) ? milliseconds{0} : between(rng, milliseconds{100}, milliseconds{8'000});
  o.sale_length = chance(rng, 150) ? milliseconds{15'000} : milliseconds{3'600'000};
  draw_rules(rng, o.rules);
  o.restarts_in_budget = chance(rng, 300) ? 1 : 5;
  o.idle_after = chance(rng, 500) ? milliseconds{2'000} : milliseconds{300'000};
  o.organizer_acts = chance(rng, 500);
  o.organizer_may_end = chance(rng, 250);
  o.organizer_may_cancel = chance(rng, 200);
  o.steps_per_timer = static_cast<std::uint32_t>(std::int64_t{1} << between(rng, 3, 8));
  o.chaos = between(rng, milliseconds{12'000}, milliseconds{25'000});
  draw_habits(rng, o);
  o.faults = faults_of(rng);
  o.pays_after_declining = perhaps(rng, 100, 500);
  o.fans_vanish = chance(rng, 250);
  draw_nodes(rng, o);
  o.has_cache = chance(rng, 500);
  o.reconciliation_interval = between(rng, milliseconds{1'000}, milliseconds{4'000});
  o.cache_chunk_max = static_cast<std::size_t>(chance(rng, 500) ? between(rng, 2, 5) : 1'000);
  o.has_dispatcher = chance(rng, 500);
  o.patience = between(rng, milliseconds{1'500}, milliseconds{8'000});
  if (seed % checkout_every == 0) draw_checkout(rng, o);
  draw_family(rng, o);
  draw_windows(o);
  draw_settings(o);
  draw_access(o);
  draw_people(o);
  draw_subscribers(o);
  draw_kind(o);
  draw_seats(o);
  draw_locks(o);
  draw_waiting_list(o);
  draw_lobby(o);
  draw_bounds(o);
  draw_statistics(o);
  if (!o.loss.on) draw_directory(o);
  if (seed >= first_lost) return o; // the checks of these families do not know clocks, couriers and origins
  draw_clocks(o);
  draw_couriers(o);
  draw_origins(o);
  return o;
}

} // namespace fq::sim
