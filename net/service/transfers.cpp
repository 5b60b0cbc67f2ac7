// SPDX-License-Identifier: Apache-2.0
#include "net/service/transfers.hpp"

#include "actors/protocol/accounts_messages.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"

namespace fq::net {

awaitable<offered> offer_to(context& ctx, const request& rq, customer_id giver, event_ticket_id ticket,
                            std::string email) {
  if (auto no = limit(ctx, rq, ctx.shared->offers, giver)) co_return offered{std::move(no)};
  if (auto no = limit(ctx, rq, ctx.shared->offer_clients, limit_key(rq.peer)))
    co_return offered{std::move(no)};
  auto account = co_await find_account_address(ctx, rq, giver, {});
  if (account.no) co_return offered{std::move(account.no)};
  find_customers people{default_tenant, {email}};
  auto found = co_await ask(ctx, ctx.accounts, std::move(people));
  if (auto no = refused(rq, found)) co_return offered{std::move(no)};
  const auto receiver = found.reply.customers.at(0);
  if (auto no = limit(ctx, rq, ctx.shared->offer_receivers, receiver)) co_return offered{std::move(no)};
  const auto& languages = found.reply.languages;
  offer_ticket wish{{ticket, giver, receiver, std::move(account.email), std::move(email), account.language,
                     languages.empty() ? language::en : languages.front()}};
  auto got = co_await ask_event(ctx, owner_of(ticket), std::move(wish));
  if (auto no = refused(rq, got)) {
    ctx.shared->offer_receivers.give_back(receiver, ctx.environment.steady_now()); // it sent no mail
    co_return offered{std::move(no), got.error ? reason::none : got.reply.no.why};
  }
  co_return offered{std::nullopt, reason::none, std::move(got.reply.transfer)};
}

} // namespace fq::net
