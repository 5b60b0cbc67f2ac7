// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/shrink.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fq::sim {
namespace {

/// A part that was needed before may be turned off once others are.
constexpr int passes_max = 3;

/// A part of a sale's options that can be turned off.
struct part {
  std::string_view name;
  void (*off)(sale_options&);
};

template <auto Member>
void no_fault(sale_options& o) {
  o.faults.*Member = {};
}
template <auto Member>
void no_option(sale_options& o) {
  o.*Member = {};
}
template <auto Member>
void no_mesh_fault(sale_options& o) {
  o.mesh.*Member = {};
}
template <auto Member>
void no_disk_fault(sale_options& o) {
  o.disk.*Member = {};
}
template <auto Member>
void no_checkout_option(sale_options& o) {
  o.checkout.*Member = {};
}

constexpr std::array parts{
  part{"organizer", [](sale_options& o) { o.organizer_acts = false; }},
  part{"invitations", [](sale_options& o) { o.access.invites = 0; }},
  part{"codes", [](sale_options& o) { o.access.sets_codes = o.access.gives_code = 0; }},
  part{"seats", no_option<&sale_options::seats>},
  part{"seat_changes", [](sale_options& o) { o.seats.changes = 0; }},
  part{"blocks", [](sale_options& o) { o.people.blocks = 0; }},
  part{"revokes", [](sale_options& o) { o.people.revokes = 0; }},
  part{"waiting_list", [](sale_options& o) { o.waiting_list = {}; }},
  part{"absence", [](sale_options& o) { o.people.dozes = 0; }},
  part{"presence", [](sale_options& o) { o.queue.presence_timeout = {}; }},
  part{"ticket_ttl", [](sale_options& o) { o.queue.ticket_ttl = {}; }},
  part{"capacity", [](sale_options& o) { o.queue.capacity = 0; }},
  part{"cache", no_option<&sale_options::has_cache>},
  part{"dispatcher", [](sale_options& o) { o.has_dispatcher = o.has_couriers = false; }},
  part{"sale_delay", no_option<&sale_options::sale_delay>},
  part{"type_delay", no_option<&sale_options::type_delay>},
  part{"commit_unavailable", no_fault<&fault_rates::commit_unavailable>},
  part{"commit_applied_unknown", no_fault<&fault_rates::commit_applied_unknown>},
  part{"commit_lost_unknown", no_fault<&fault_rates::commit_lost_unknown>},
  part{"commit_late", no_fault<&fault_rates::commit_late>},
  part{"commit_delayed", no_fault<&fault_rates::commit_delayed>},
  part{"commit_busy", no_fault<&fault_rates::commit_busy>},
  part{"acquire_unavailable", no_fault<&fault_rates::acquire_unavailable>},
  part{"call_unavailable", no_fault<&fault_rates::call_unavailable>},
  part{"call_unanswered", no_fault<&fault_rates::call_unanswered>},
  part{"store_delay", no_fault<&fault_rates::store_delay>},
  part{"kill_owner", no_fault<&fault_rates::kill_owner>},
  part{"kill_supervisor", no_fault<&fault_rates::kill_supervisor>},
  part{"crash_process", no_fault<&fault_rates::crash_process>},
  part{"rival_owner", no_fault<&fault_rates::rival_owner>},
  part{"kill_payments", no_fault<&fault_rates::kill_payments>},
  part{"freeze", no_fault<&fault_rates::freeze>},
  part{"wall_clock_jumps", no_fault<&fault_rates::wall_clock_jumps>},
  part{"gateway_unavailable", no_fault<&fault_rates::gateway_unavailable>},
  part{"gateway_effect_but_unavailable", no_fault<&fault_rates::gateway_effect_but_unavailable>},
  part{"gateway_answer_lost", no_fault<&fault_rates::gateway_answer_lost>},
  part{"gateway_outage", no_fault<&fault_rates::gateway_outage>},
  part{"gateway_delay", no_fault<&fault_rates::gateway_delay>},
  part{"webhook_gone", no_fault<&fault_rates::webhook_gone>},
  part{"webhook_lost", no_fault<&fault_rates::webhook_lost>},
  part{"webhook_twice", no_fault<&fault_rates::webhook_twice>},
  part{"webhook_delay", no_fault<&fault_rates::webhook_delay>},
  part{"wrong_amount", no_fault<&fault_rates::wrong_amount>},
  part{"refund_pending", no_fault<&fault_rates::refund_pending>},
  part{"answer_lost", no_fault<&fault_rates::answer_lost>},
  part{"rejected", no_fault<&fault_rates::rejected>},
  part{"taxed", no_fault<&fault_rates::taxed>},
  part{"refund_refused", no_fault<&fault_rates::refund_refused>},
  part{"declined_after_paid", no_fault<&fault_rates::declined_after_paid>},
  part{"report_forged", no_fault<&fault_rates::report_forged>},
  part{"references_once", no_fault<&fault_rates::references_once>},
  part{"consumer",
       [](sale_options& o) {
         o.faults.consumer_refuses = o.faults.consumer_stops_early = o.faults.consumer_answer_lost = 0;
         o.faults.consumer_delay = {};
       }},
  part{"cache_faults",
       [](sale_options& o) {
         auto& f = o.faults;
         f.cache_unavailable = f.cache_unanswered = f.cache_torn = f.cache_flushed = f.cache_rolled_back = 0;
         f.cache_saved = f.cache_away = 0;
       }},
  part{"drift", [](sale_options& o) { o.clocks.drift = 0; }},
  part{"node_steps", [](sale_options& o) { o.clocks.node_steps = 0; }},
  part{"ledger_steps", [](sale_options& o) { o.clocks.ledger_steps = 0; }},
  part{"directory", [](sale_options& o) { o.directory.on = false; }},
  part{"mail", [](sale_options& o) { o.mail.on = false; }},
  part{"mail_faults",
       [](sale_options& o) { o.mail.down = o.mail.put_off = o.mail.refused = o.mail.answer_lost = 0; }},
  part{"statistics", [](sale_options& o) { o.statistics_step = milliseconds{0}; }},
  part{"couriers", no_option<&sale_options::has_couriers>},
  part{"origins", no_option<&sale_options::has_origins>},
  part{"bounds",
       [](sale_options& o) {
         o.small_bounds = false;
         o.bounds = {};
         o.rules.bounds = {};
       }},
  part{"reset", no_mesh_fault<&mesh_options::reset>},
  part{"stall", no_mesh_fault<&mesh_options::stall>},
  part{"cut", no_mesh_fault<&mesh_options::cut>},
  part{"ledger_cut", no_mesh_fault<&mesh_options::ledger_cut>},
  part{"silent_death", no_mesh_fault<&mesh_options::silent_death>},
  part{"move", no_mesh_fault<&mesh_options::move>},
  part{"drain", no_mesh_fault<&mesh_options::drain>},
  part{"bystanders", no_mesh_fault<&mesh_options::bystanders>},
  part{"lost", no_mesh_fault<&mesh_options::lost>},
  part{"twice", no_mesh_fault<&mesh_options::twice>},
  part{"late", no_mesh_fault<&mesh_options::late>},
  part{"subscribes_again", no_mesh_fault<&mesh_options::subscribes_again>},
  part{"disk_errors", no_disk_fault<&disk_options::error>},
  part{"power", no_disk_fault<&disk_options::power>},
  part{"full_disk", no_disk_fault<&disk_options::full>},
  part{"faults_at_start", no_disk_fault<&disk_options::open>},
  part{"tears", no_disk_fault<&disk_options::tears>},
  part{"donates", no_checkout_option<&checkout_options::donates>},
  part{"two_types", no_checkout_option<&checkout_options::two_types>},
  part{"promo", no_checkout_option<&checkout_options::uses_promo>},
  part{"cancels", no_checkout_option<&checkout_options::cancels>},
  part{"by_order", no_checkout_option<&checkout_options::by_order>},
  part{"late_fans", no_checkout_option<&checkout_options::late_fans>},
  part{"no_show", no_option<&sale_options::no_show>},
  part{"leaves", no_option<&sale_options::leaves>},
  part{"abandons", no_option<&sale_options::abandons>},
  part{"releases", no_option<&sale_options::releases>},
  part{"declines", no_option<&sale_options::declines>},
  part{"pays_late", no_option<&sale_options::pays_late>},
  part{"half_the_fans", [](sale_options& o) { o.fans = std::max(o.fans / 2, 2u); }},
};

std::string_view invariant_of(const outcome& o) {
  return std::string_view{o.violation}.substr(0, o.violation.find(':'));
}

} // namespace

bool turn_off(std::string_view names, sale_options& o) {
  while (!names.empty()) {
    const auto name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const auto found = std::ranges::find(parts, name, &part::name);
    if (found == parts.end()) return false;
    found->off(o);
  }
  return true;
}

shrunk shrink(const sale_options& o, const outcome& failed) {
  shrunk result{{}, failed};
  auto smallest = o;
  bool has_changed = true;
  for (int pass = 0; pass < passes_max && std::exchange(has_changed, false); ++pass)
    for (const auto& each : parts) {
      auto smaller = smallest;
      each.off(smaller);
      if (describe(smaller) == describe(smallest)) continue; // it was off
      auto again = run_sale(smaller, false);
      if (again.violation.empty() || invariant_of(again) != invariant_of(failed)) continue;
      smallest = smaller;
      has_changed = true;
      result.off += (result.off.empty() ? "" : ",") + std::string{each.name};
      result.last = std::move(again);
    }
  return result;
}

} // namespace fq::sim
