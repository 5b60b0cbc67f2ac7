// SPDX-License-Identifier: Apache-2.0
#include "domain/base/challenge.hpp"

#include "domain/base/guesses.hpp"
#include "domain/base/hex.hpp"
#include "domain/base/limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace fq {
namespace {

/// Removes `before` and the number behind it from the front of `text`. False: `text` has no such front.
template <class Number>
bool take(std::string_view& text, std::string_view before, Number& to, int base = 10) {
  if (!text.starts_with(before)) return false;
  text.remove_prefix(before.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

} // namespace

std::uint64_t highest_number(std::uint64_t of_client, std::uint64_t of_all) {
  const std::uint64_t crowd = 1 + (of_all >= 100'000) + (of_all >= 1'000'000);
  const auto most = std::min(of_client, challenge_client_joins_max);
  return challenge_base * crowd * std::max(challenge_free_joins, most) / challenge_free_joins;
}

std::string salt_of(const challenge_terms& terms) {
  return hex_text(terms.random) + "?expires=" + std::to_string(terms.expires_at)
         + "&n=" + std::to_string(terms.serial) + "&max=" + std::to_string(terms.highest) + "&";
}

std::optional<challenge_terms> read_salt(std::string_view salt) {
  challenge_terms terms;
  auto left = salt;
  const bool is_read = take(left, "", terms.random, 16) && take(left, "?expires=", terms.expires_at)
                       && take(left, "&n=", terms.serial) && take(left, "&max=", terms.highest);
  if (!is_read || salt_of(terms) != salt) return std::nullopt; // each challenge has one text
  return terms;
}

challenge_book::challenge_book() :
    clients_{challenge_clients_max}, heavy_clients_{challenge_clients_max}, mails_{challenge_clients_max} {}

std::uint64_t challenge_book::used_by(const uuid& client, timestamp now) const {
  const auto* known = heavy_clients_.find(client);
  if (known == nullptr) known = clients_.find(client);
  return known != nullptr && now - known->last < challenge_memory ? known->used : 0;
}

void challenge_book::count(const uuid& client, timestamp now) {
  const client_count next{used_by(client, now) + 1, now};
  const bool is_heavy = next.used > challenge_free_joins;
  (is_heavy ? clients_ : heavy_clients_).erase(client);
  (is_heavy ? heavy_clients_ : clients_).put(client, next);
}

std::optional<challenge_terms> challenge_book::next(std::uint64_t highest, std::uint64_t random,
                                                    timestamp now) {
  for (; !words_.empty() && words_.front().last_opened + challenge_life <= now; ++first_word_)
    words_.pop_front();
  if (words_.empty()) next_ = first(); // the rest of the last word was not opened
  if (open_count() >= challenges_open_max) return std::nullopt;
  if (next_ - first() == words_.size() * 64) words_.emplace_back();
  words_.back().last_opened = now;
  const auto ends = std::chrono::floor<seconds>((now + challenge_life).time_since_epoch());
  return challenge_terms{random, ends.count(), next_++, highest};
}

std::optional<challenge_terms> challenge_book::open(const uuid& client, std::uint64_t of_all,
                                                    std::uint64_t random, timestamp now) {
  return next(highest_number(used_by(client, now), of_all), random, now);
}

std::optional<challenge_terms> challenge_book::pass(std::uint64_t random, timestamp now) {
  return next(0, random, now);
}

bool challenge_book::may_mail(const uuid& client, timestamp now) {
  const auto* full_at = mails_.find(client);
  const auto verdict = next_mail(full_at ? *full_at : never, challenge_mails, now);
  if (verdict.wait.count() > 0) return false;
  mails_.put(client, verdict.full_at);
  return true;
}

bool challenge_book::accepts(const challenge_terms& terms, const uuid& client, std::uint64_t of_all,
                             timestamp now) const {
  if (terms.serial < first() || terms.serial >= next_) return false;
  if (now >= timestamp{seconds{terms.expires_at}}) return false;
  const auto& within = words_[static_cast<std::size_t>(terms.serial / 64 - first_word_)];
  if ((within.used >> (terms.serial % 64) & 1) != 0) return false;
  return terms.highest == 0 || terms.highest >= highest_number(used_by(client, now), of_all) / 2;
}

void challenge_book::use(const challenge_terms& terms, const uuid& client, timestamp now) {
  words_[static_cast<std::size_t>(terms.serial / 64 - first_word_)].used |= std::uint64_t{1}
                                                                            << (terms.serial % 64);
  count(client, now);
}

} // namespace fq
