// SPDX-License-Identifier: Apache-2.0
// Caches tenants, API keys, settings and block lists of the ledger. Polls, so that a change by any node is
// visible everywhere within seconds; reads immediately on refresh_directory.
#pragma once
#include "actors/directory/limits.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/storage/ledger_workers.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace fq {

using directory_ptr = std::shared_ptr<const access_directory>;

class directory_state {
public:
  static inline const char* name = "directory";
  using pointer = directory_handle::stateful_pointer<directory_state>;

  ~directory_state();
  /// `publish` is called on the actor's thread when the content has changed.
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
  access_directory without_blocks_; ///< content that waits for its version of the block lists
  std::shared_ptr<const std::vector<block_row>> blocks_;
  std::string blocks_version_; ///< of blocks_
  bool is_reading_ = false;
  /// Requests since the read in flight started; they wait for the next one.
  std::vector<caf::typed_response_promise<ack_reply>> next_;
  std::vector<caf::typed_response_promise<ack_reply>> waiting_; ///< requests that wait for the read in flight
};

directory_handle::behavior_type directory(directory_handle::stateful_pointer<directory_state> self,
                                          ledger_workers ledgers, std::function<void(directory_ptr)> publish);

} // namespace fq
