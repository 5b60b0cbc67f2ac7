// SPDX-License-Identifier: Apache-2.0
#include "app/bus.hpp"

namespace fq {
namespace {

nats_settings servers_of(const config::options& o) {
  return {.url = o.bus.url,
          .credentials_file = o.nats.credentials_file.string(),
          .ca_file = o.nats.ca_file.string()};
}

} // namespace

std::unique_ptr<bus_port> make_bus(const config::options& o, environment&) {
  if (o.bus.url.empty()) return nullptr;
  nats_bus_settings s;
  s.servers = servers_of(o);
  s.stream = {o.bus.stream, o.bus.prefix + ".>"};
  s.prefix = o.bus.prefix;
  s.source = o.bus.source;
  return std::make_unique<nats_bus>(std::move(s));
}

std::unique_ptr<inbox_port> make_payment_inbox(const config::options& o) {
  if (o.bus.payments_subject.empty()) return nullptr;
  nats_inbox_settings s;
  s.servers = servers_of(o);
  s.stream = o.bus.payments_stream;
  s.subject = o.bus.payments_subject;
  return std::make_unique<nats_inbox>(std::move(s));
}

} // namespace fq
