// SPDX-License-Identifier: Apache-2.0
#include "net/pages/line_of.hpp"

#include "net/service/guards.hpp"

namespace fq::net {

awaitable<line_found> find_line(const visit& v) {
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_event{{v.id, {}, event_kind::sale}});
  if (!got.error && got.reply.no.why == reason::not_found)
    got = co_await ask_event(v.ctx, owner_of(v.id), find_event{{v.id, {}, event_kind::queue}});
  if (auto no = refused(v.rq, got)) co_return line_found{std::move(no), {}};
  co_return line_found{std::nullopt, std::move(got.reply.event)};
}

} // namespace fq::net
