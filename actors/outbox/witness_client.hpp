// SPDX-License-Identifier: Apache-2.0
// Sends each log's newest checkpoint to every witness and gives their cosignatures to the log. At most one
// request for each log and witness is under way; a witness that is away is asked again after a pause that
// doubles. Nothing waits for it: a log serves its checkpoint at once, and cosignatures are added to it.
#pragma once
#include "actors/protocol/witness_messages.hpp"
#include "domain/base/environment.hpp"
#include "fair/cosigning.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fq {

struct witness_client_services {
  environment* env = nullptr;
  witness_port* port = nullptr;
  std::vector<note_verifier> witnesses; ///< in the order of the port
  std::function<void(const std::string&)> warn; ///< may be null
};

class witness_client_state {
public:
  static inline const char* name = "witness_client";
  using pointer = witness_client_handle::stateful_pointer<witness_client_state>;

  void init(pointer self, const witness_client_services& services);
  witness_client_handle::behavior_type behavior();

private:
  struct offered {
    std::string note;
    checkpoint_note parsed; ///< the same
    [[nodiscard]] std::uint64_t size() const { return parsed.content.size; }
  };
  struct watched {
    offered newest;
    std::optional<offered> first; ///< before it
    cosigned_log_handle log;
    std::vector<cosigning> progress; ///< by witness
    milliseconds updated_at{0}; ///< steady time
  };

  void on_signed(const checkpoint_signed& x);
  void on_answer(const witness_answered& x);
  void on_timer(const timer_fired& t);
  void on_down(const caf::down_msg& down);
  static std::optional<offered> offer(const std::string& note);
  /// Sends what is due, to every witness.
  void send_due(aggregate_id aggregate, watched& w);
  void ask(aggregate_id aggregate, std::size_t witness, std::uint64_t old_size, const watched& w,
           const offered& what);
  void send(aggregate_id aggregate, std::size_t witness, std::uint64_t old_size, const std::string& note,
            const growth_proof& proof);
  void fail(aggregate_id aggregate, std::size_t witness);
  void tell(cosigning_event what, const watched& w, std::size_t witness, int status) const;
  void forget_oldest();
  void set_timer(aggregate_id aggregate, const cosigning& progress);
  [[nodiscard]] milliseconds now() const { return services_->env->steady_now(); }

  pointer self_ = nullptr;
  const witness_client_services* services_ = nullptr;
  std::map<aggregate_id, watched> logs_;
};

witness_client_handle::behavior_type witness_client(
  witness_client_handle::stateful_pointer<witness_client_state> self,
  const witness_client_services* services);

} // namespace fq
