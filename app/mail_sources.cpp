// SPDX-License-Identifier: Apache-2.0
#include "app/mail_sources.hpp"

#include "app/limits.hpp"

#include <caf/scoped_actor.hpp>

namespace fq {

std::optional<mailbox> mailbox_of(caf::actor_system& system, const accounts_handle& accounts,
                                  const customer_id& customer) {
  caf::scoped_actor self{system};
  std::optional<mailbox> found;
  self->request(accounts, mailbox_timeout, find_customer{customer})
    .receive(
      [&](const customer_reply& reply) {
        if (!reply.no || reply.no.why == reason::not_found)
          found = mailbox{reply.email, std::string{tag_of(reply.language)}};
      },
      [](const caf::error&) {});
  return found;
}

std::string picture_of(caf::actor_system& system, const notices_handle& reader, const std::string& id,
                       picture_size size) {
  caf::scoped_actor self{system};
  std::string bytes;
  self->request(reader, picture_read_timeout, find_picture{id, size})
    .receive(
      [&](const picture_found& found) {
        if (found.bytes) bytes = *found.bytes;
      },
      [](const caf::error&) {});
  return bytes;
}

} // namespace fq
