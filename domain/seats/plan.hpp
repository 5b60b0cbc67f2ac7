// SPDX-License-Identifier: Apache-2.0
// The seat plan of a hall: sections, rows, seats and standing areas. Readers and the generator make a
// `plan_draft`; `make_plan` checks it and makes the compact form, which never changes and is shared.
// Knows no event: `seat_map.hpp` has the state of the seats at one.
#pragma once
#include "domain/seats/limits.hpp"
#include "domain/seats/seat_place.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Index of a seat in its plan, row by row.
using seat_number = std::uint32_t;

/// A place in the hall, in centimetres from the upper left corner of the drawing.
struct plan_point {
  std::int32_t x = 0, y = 0;
  friend bool operator==(const plan_point&, const plan_point&) = default;
};

// -- what a reader makes. `line`: of the file; 0: unknown

struct draft_seat {
  std::string label;
  plan_point at;
  std::uint32_t type = 0; ///< index in plan_draft::ticket_types
  bool accessible = false; ///< for a wheelchair
  bool companion = false; ///< beside an accessible seat, for a companion
  bool obstructed = false; ///< restricted view
  bool aisle = false; ///< an aisle is between it and the seat before it
  std::uint32_t line = 0;
};

struct draft_row {
  std::string label; ///< may be empty if the section has a code: a table
  std::vector<draft_seat> seats; ///< in the order in which they stand
  std::uint32_t line = 0;
};

struct draft_section {
  std::string code = {}; ///< first part of the seats' names; may be empty
  std::string name = {}; ///< for people; may be empty
  std::uint32_t rank = 0; ///< a lower rank is better, whatever the distance
  std::vector<draft_row> rows = {}; ///< from the front to the back
  std::uint32_t line = 0;
};

/// Places without numbers: `places` units of a ticket type, drawn as a rectangle.
struct standing_area {
  std::string code = {}, name = {};
  std::uint32_t type = 0; ///< index in ticket_types
  std::uint32_t places = 0;
  plan_point corner = {}; ///< upper left
  std::int32_t width = 0, height = 0;
  std::uint32_t line = 0;
};

struct plan_draft {
  std::string name = {}; ///< may be empty
  std::optional<plan_point> focus = {}; ///< what the audience faces; default: the middle of the upper edge
  std::vector<std::string> ticket_types = {};
  std::vector<draft_section> sections = {};
  std::vector<standing_area> areas = {};
};

struct plan_error {
  std::uint32_t line = 0; ///< of the file; 0: unknown
  std::string place; ///< "sections[0].rows[2].seats[5].x", or the name of a column
  std::string what; ///< for people
};

/// Checks a draft; at most plan_errors_max errors.
[[nodiscard]] std::vector<plan_error> errors_of(const plan_draft& draft);

/// 1 to seat_label_max ASCII letters, digits, dots and underscores. No hyphen: it joins labels to a name.
[[nodiscard]] bool is_seat_label(std::string_view text);

// -- the plan

class seat_plan {
public:
  enum trait : std::uint8_t { accessible = 1, companion = 2, obstructed = 4, aisle = 8 };

  struct seat {
    plan_point at;
    std::uint32_t label = 0; ///< begin of its text in labels_
    std::uint16_t row = 0;
    std::uint16_t by_label = 0; ///< index in the row of the seat that has this place by label
    std::uint8_t label_size = 0;
    std::uint8_t type = 0; ///< index in ticket_types()
    std::uint8_t traits = 0;
    [[nodiscard]] bool has(trait t) const { return (traits & t) != 0; }
    friend bool operator==(const seat&, const seat&) = default;
  };
  struct row {
    std::string name; ///< of its seats, without their labels
    std::string label;
    seat_number first = 0;
    std::uint16_t count = 0;
    std::uint16_t section = 0;
    std::uint16_t accessible = 0; ///< accessible seats in it
    std::uint16_t quality = 0; ///< place in rows_by_quality()
    std::int32_t best = 0; ///< twice the index in the row of its best point
    friend bool operator==(const row&, const row&) = default;
  };
  struct section {
    std::string code, name;
    std::uint32_t rank = 0;
    std::uint16_t first_row = 0, rows = 0;
    friend bool operator==(const section&, const section&) = default;
  };

  /// Precondition: errors_of(draft) is empty.
  explicit seat_plan(const plan_draft& draft);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] plan_point focus() const { return focus_; }
  [[nodiscard]] const std::vector<std::string>& ticket_types() const { return types_; }
  [[nodiscard]] std::span<const seat> seats() const { return seats_; }
  [[nodiscard]] std::span<const row> rows() const { return rows_; }
  [[nodiscard]] std::span<const section> sections() const { return sections_; }
  [[nodiscard]] std::span<const standing_area> areas() const { return areas_; }
  /// Indices of rows, the best first: by rank of the section, then by the distance of the row's middle seat
  /// from the focus.
  [[nodiscard]] std::span<const std::uint16_t> rows_by_quality() const { return by_quality_; }

  [[nodiscard]] std::string_view label_of(seat_number n) const {
    return std::string_view{labels_}.substr(seats_[n].label, seats_[n].label_size);
  }
  /// "P-A-3": section, row and seat, without the parts that are empty.
  [[nodiscard]] std::string name_of(seat_number n) const;
  [[nodiscard]] seat_place place_of(seat_number n) const;
  [[nodiscard]] std::optional<seat_number> find(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint16_t> find_section(std::string_view code) const;

  friend bool operator==(const seat_plan&, const seat_plan&);

private:
  void add_row(const draft_row& from, std::uint16_t section);
  void order_labels(const row& r);
  void rank_rows();
  [[nodiscard]] std::int32_t distance_of(seat_number n) const;
  [[nodiscard]] plan_point upper_middle() const;

  std::string name_;
  plan_point focus_;
  std::vector<std::string> types_;
  std::vector<seat> seats_;
  std::vector<row> rows_;
  std::vector<section> sections_;
  std::vector<standing_area> areas_;
  std::string labels_;
  std::vector<std::uint16_t> by_quality_, by_name_;
};
static_assert(sizeof(seat_plan::seat) <= 24, "a plan of 50,000 seats takes about 1 MB");

/// A plan, or what is wrong with the draft.
struct made_plan {
  std::shared_ptr<const seat_plan> plan;
  std::vector<plan_error> errors;
};
[[nodiscard]] made_plan make_plan(const plan_draft& draft);

/// Name of a row's seats without their labels.
[[nodiscard]] std::string row_name(std::string_view section, std::string_view row);

} // namespace fq
