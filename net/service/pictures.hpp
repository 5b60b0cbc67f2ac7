// SPDX-License-Identifier: Apache-2.0
// Stored pictures for pages, files and the route that serves them.
#pragma once
#include "net/http/awaitable.hpp"
#include "net/http/http.hpp"
#include "store/port/picture_store.hpp"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace fq::net {

/// The pictures that were asked for last. Thread-safe. They never change, so none is ever outdated.
class picture_cache {
public:
  using bytes = std::shared_ptr<const std::string>;

  explicit picture_cache(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Null: not here.
  [[nodiscard]] bytes find(const std::string& name);
  void keep(const std::string& name, bytes content);

private:
  using entry = std::pair<std::string, bytes>;

  std::mutex lock_;
  std::list<entry> entries_; ///< the last used one first
  std::unordered_map<std::string, std::list<entry>::iterator> places_;
  std::size_t held_ = 0, bytes_max_;
};

/// "small"
[[nodiscard]] std::string_view name_of(picture_size size);
/// The id and size of "<id>-small"; nothing for a name that no picture has.
[[nodiscard]] std::optional<std::pair<std::string, picture_size>> parse_picture_name(std::string_view name);

struct picture_read {
  std::optional<response> no; ///< also if there is none
  picture_cache::bytes bytes = {};
};

/// From the cache, or else from the ledger.
awaitable<picture_read> read_picture(context& ctx, const request& rq, std::string id, picture_size size);

} // namespace fq::net
