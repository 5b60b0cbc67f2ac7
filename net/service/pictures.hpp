// SPDX-License-Identifier: Apache-2.0
// Stored pictures for pages, files and the route that serves them.
#pragma once
#include "domain/base/time.hpp"
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

/// The pictures that were asked for last. Thread-safe. They never change, but one that is taken down must
/// not be served for ever: each is read anew after pictures_kept_life.
class picture_cache {
public:
  using bytes = std::shared_ptr<const std::string>;

  explicit picture_cache(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Null: not here. `now`: of the steady clock.
  [[nodiscard]] bytes find(const std::string& name, milliseconds now);
  void keep(const std::string& name, bytes content, milliseconds now);

private:
  struct entry {
    std::string name;
    bytes content;
    milliseconds kept_at;
  };

  void drop(std::list<entry>::iterator place);

  std::mutex lock_;
  std::list<entry> entries_; ///< the last used one first
  std::unordered_map<std::string, std::list<entry>::iterator> places_;
  std::size_t held_ = 0, bytes_max_;
};

/// "small"
[[nodiscard]] std::string_view name_of(picture_size size);
/// The id and size of "<id>-small"; nothing for a name that no picture has.
[[nodiscard]] std::optional<std::pair<std::string, picture_size>> parse_picture_name(std::string_view name);

/// Address of a tenant's logo.
[[nodiscard]] std::string logo_url(const std::string& base, const std::string& id);

struct picture_read {
  std::optional<response> no; ///< also if there is none
  picture_cache::bytes bytes = {};
};

/// From the cache, or else from the ledger.
awaitable<picture_read> read_picture(context& ctx, const request& rq, std::string id, picture_size size);

} // namespace fq::net
