// SPDX-License-Identifier: Apache-2.0
// Sends checkpoints to witnesses over HTTP.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/http_client.hpp"
#include "outbound/witness_port.hpp"

#include <string>
#include <vector>

namespace fq {

class witness_sender final : public witness_port {
public:
  /// `urls`: without "/add-checkpoint". `env` must outlive the sender.
  witness_sender(std::vector<std::string> urls, environment& env);
  void add_checkpoint(std::size_t witness, std::string body,
                      std::function<void(witness_reply)> done) override;

private:
  std::vector<std::string> urls_;
  http_client client_;
};

} // namespace fq
