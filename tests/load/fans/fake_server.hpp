// SPDX-License-Identifier: Apache-2.0
// A small in-memory sale with the server's wire contract, for tests of the load program only. It runs on its
// own thread and can inject one kind of misbehaviour at a time.
#pragma once

#include "tests/load/fans/fake_sale.hpp"
#include "tests/load/fans/fake_shop.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace fq::load::test {

struct fake_options : sale_options {
  // Faults; 0 disables them.
  int drop_every = 0; // apply, then close without an answer
  int busy_every = 0; // 503 before applying
  int outage_after_ms = 0; // once: close every connection and refuse new ones for outage_ms
  int outage_ms = 0;
  shop_options shop; // if enabled, replaces the sale by claims
};

class fake_server {
public:
  explicit fake_server(fake_options options);
  ~fake_server();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] static std::string event_id();

private:
  class work;
  std::unique_ptr<work> work_;
};

} // namespace fq::load::test
