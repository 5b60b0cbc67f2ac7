// SPDX-License-Identifier: Apache-2.0
#include "net/service/pictures.hpp"

#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace fq::net {
namespace {

constexpr std::size_t id_length = 64; ///< of SHA-256 in hex
constexpr std::array all_sizes{picture_size::small, picture_size::medium, picture_size::large};

bool is_id(std::string_view text) {
  return text.size() == id_length && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

} // namespace

picture_cache::bytes picture_cache::find(const std::string& name, milliseconds now) {
  const std::scoped_lock held{lock_};
  const auto found = places_.find(name);
  if (found == places_.end()) return nullptr;
  const auto place = found->second;
  if (now - place->kept_at >= pictures_kept_life) {
    drop(place);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, place);
  return place->content;
}

void picture_cache::keep(const std::string& name, bytes content, milliseconds now) {
  const std::scoped_lock held{lock_};
  if (places_.contains(name) || content->size() > bytes_max_) return;
  held_ += content->size();
  entries_.push_front({name, std::move(content), now});
  places_[name] = entries_.begin();
  while (held_ > bytes_max_) drop(std::prev(entries_.end()));
}

void picture_cache::drop(std::list<entry>::iterator place) {
  held_ -= place->content->size();
  places_.erase(place->name);
  entries_.erase(place);
}

std::string_view name_of(picture_size size) {
  switch (size) {
    case picture_size::small: return "small";
    case picture_size::medium: return "medium";
    case picture_size::large: break;
  }
  return "large";
}

std::optional<std::pair<std::string, picture_size>> parse_picture_name(std::string_view name) {
  if (name.size() <= id_length || name[id_length] != '-' || !is_id(name.substr(0, id_length)))
    return std::nullopt;
  const auto size =
    std::ranges::find(all_sizes, name.substr(id_length + 1), [](picture_size s) { return name_of(s); });
  if (size == all_sizes.end()) return std::nullopt;
  return std::pair{std::string{name.substr(0, id_length)}, *size};
}

std::string logo_url(const std::string& base, const std::string& id) {
  return base + "/pictures/" + id + '-' + std::string{name_of(picture_size::small)};
}

awaitable<picture_read> read_picture(context& ctx, const request& rq, std::string id, picture_size size) {
  const auto name = id + '-' + std::string{name_of(size)};
  if (auto known = ctx.shared->pictures_kept.find(name, ctx.environment.steady_now()))
    co_return picture_read{std::nullopt, std::move(known)};
  find_picture wish{std::move(id), size};
  auto got = co_await ask(ctx, ctx.notices, std::move(wish));
  if (auto no = refused(rq, got)) co_return picture_read{std::move(no)};
  ctx.shared->pictures_kept.keep(name, got.reply.bytes, ctx.environment.steady_now());
  co_return picture_read{std::nullopt, std::move(got.reply.bytes)};
}

} // namespace fq::net
