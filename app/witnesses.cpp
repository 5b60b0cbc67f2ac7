// SPDX-License-Identifier: Apache-2.0
#include "app/witnesses.hpp"

#include "app/log.hpp"
#include "outbound/witness_sender.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace fq {

witnesses::witnesses(const config::options& options, environment& env) {
  auto configured = options.witness.parsed_urls().value_or(std::vector<config::witness_address>{});
  std::vector<std::string> urls;
  for (auto& w : configured) {
    auto key = parse_note_verifier(w.key);
    if (!key || key->kind != note_key_kind::witness)
      throw std::runtime_error("witness.urls: not the verifier key of a witness: " + w.key);
    services_.witnesses.push_back(std::move(*key));
    urls.push_back(std::move(w.url));
  }
  if (urls.empty()) return;
  port_ = std::make_unique<witness_sender>(std::move(urls), env);
  services_.env = &env;
  services_.port = port_.get();
  services_.warn = [](const std::string& what) { log::warn("witness", {{"what", what}}); };
}

witness_client_handle witnesses::spawn(caf::actor_system& system, root_children& children) {
  if (!port_) return {};
  auto client = system.spawn(witness_client, static_cast<const witness_client_services*>(&services_));
  children.emplace_back("witness client", caf::actor_cast<caf::actor>(client));
  return client;
}

} // namespace fq
