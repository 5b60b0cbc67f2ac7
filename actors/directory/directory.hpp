// SPDX-License-Identifier: Apache-2.0
// Keeps tenants and API keys at hand for whoever checks them: reads them from the ledger now and then, so
// that a change by any node is seen everywhere within seconds, and at once when asked to.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "actors/storage/ledger_workers.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

/// How long a change by another node may stay unseen (I15 allows 5 s).
inline constexpr milliseconds directory_interval{2'000};
/// Until the first reading succeeded: owners of events wait for it.
inline constexpr milliseconds first_reading_retry{200};

using directory_ptr = std::shared_ptr<const access_directory>;

class directory_state {
public:
  static inline const char* name = "directory";
  using pointer = directory_handle::stateful_pointer<directory_state>;

  ~directory_state();
  /// `publish` is called with every content that differs from the one before; on the actor's thread.
  void init(pointer self, ledger_workers ledgers, std::function<void(directory_ptr)> publish);
  directory_handle::behavior_type behavior();

private:
  caf::result<ack_reply> on_refresh();
  void on_read(const directory_read& answer);
  void on_blocks(const blocks_read& answer);
  void publish(access_directory content);
  void finish(bool is_read);
  void read();

  pointer self_ = nullptr;
  ledger_workers ledgers_;
  std::function<void(directory_ptr)> publish_;
  directory_ptr current_;
  access_directory without_blocks_; ///< was read, and waits for the blocks of its version
  std::shared_ptr<const std::vector<block_row>> blocks_;
  std::string blocks_version_; ///< of blocks_
  bool is_reading_ = false;
  std::vector<caf::typed_response_promise<ack_reply>> next_; ///< asked since the reading under way began
  std::vector<caf::typed_response_promise<ack_reply>> waiting_; ///< for the reading under way
};

directory_handle::behavior_type directory(directory_handle::stateful_pointer<directory_state> self,
                                          ledger_workers ledgers, std::function<void(directory_ptr)> publish);

} // namespace fq
