// SPDX-License-Identifier: Apache-2.0
// The answer of an owner that opens challenges: event actors for joins, accounts for requests for codes.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "crypto/challenge_desk.hpp"
#include "domain/base/guesses.hpp"

#include <utility>

namespace fq {

/// `kind`: what the owner asks for; `of_all`: joins of all clients.
inline challenge_reply answer_of(challenge_desk& desk, challenge_kind kind, challenge_way way,
                                 const uuid& client, std::uint64_t of_all, timestamp now) {
  challenge_reply reply{{}, kind};
  if (way == challenge_way::work) {
    if (kind != challenge_kind::proof_of_work) return reply;
    if (auto opened = desk.open(client, of_all, now))
      reply.opened = *std::move(opened);
    else
      reply.no = reason::unavailable;
    return reply;
  }
  if (way == challenge_way::mail && !desk.may_mail(client, now)) {
    reply.no = reason::rate_limited;
    reply.no.first = challenge_mails.window.count() / 1000 / challenge_mails.quota;
    return reply;
  }
  if (auto solved = desk.pass(now))
    reply.solved = *std::move(solved);
  else
    reply.no = reason::unavailable;
  return reply;
}

} // namespace fq
