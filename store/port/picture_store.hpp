// SPDX-License-Identifier: Apache-2.0
// Events' pictures. As notice_store, this part of the ledger port has no owners: a picture decides nothing,
// and its id is the hash of its content.
#pragma once
#include "domain/base/hex.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"
#include "domain/model/description.hpp"
#include "store/port/limits.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fq {

enum class picture_size : std::uint8_t { small, medium, large };

/// JPEGs of one picture, and who stored it.
struct picture_row {
  std::string id; ///< SHA-256 of the large one in hex
  tenant_id tenant{};
  organizer_id organizer; ///< nil: an operator
  timestamp stored_at; ///< the last time
  std::vector<char> small, medium, large;
  friend bool operator==(const picture_row&, const picture_row&) = default;
};
FQ_ROW(picture_row, "picture", installation, row_field("id", &row::id, key),
       row_field("tenant", &row::tenant, key), row_field("organizer", &row::organizer, once),
       row_field("stored_at", &row::stored_at), row_field("small", &row::small, once),
       row_field("medium", &row::medium, once), row_field("large", &row::large, once))

/// The ids from the first to below the second, of which a pruning at this time removes those that no event
/// names. Each has its turn every two hours.
inline std::pair<std::string, std::string> pictures_to_prune(timestamp before) {
  const auto turn =
    std::chrono::duration_cast<seconds>(before.time_since_epoch()).count() / picture_slice_time.count() % 256;
  const auto first = hex_text(static_cast<std::uint64_t>(turn), 1);
  return {first, first + 'g'};
}

/// Throws ledger_unavailable or commit_unknown like the rest of the ledger.
class picture_store {
public:
  virtual ~picture_store() = default;

  /// May be repeated: then only stored_at is written. False if its tenant has pictures_per_tenant_max, or its
  /// organizer pictures_per_organizer_max.
  virtual bool store_picture(const picture_row& picture) = 0;
  /// Empty: there is none.
  virtual std::vector<char> find_picture(const std::string& id, picture_size size) = 0;
};

} // namespace fq
