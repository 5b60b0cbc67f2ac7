// SPDX-License-Identifier: Apache-2.0
// The limits of domain/seats, each with its reason.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fq {

// -- plans
/// Seats of a plan: an owner reads one in some 20 ms, in which its event waits.
inline constexpr std::size_t plan_seats_max = 50'000;
/// Sections and rows of a plan; a row has at least one seat.
inline constexpr std::size_t plan_sections_max = 500, plan_rows_max = 20'000;
/// Seats of a row: a search looks at a whole row.
inline constexpr std::size_t row_seats_max = 1'000;
/// Standing areas of a plan, and places in one of them.
inline constexpr std::size_t plan_areas_max = 100, area_places_max = 1'000'000;
/// Ticket types that a plan names; an event has at most 50.
inline constexpr std::size_t plan_types_max = 50;
/// Bytes of a label of a section, row or seat. A seat's name has three labels and two hyphens.
inline constexpr std::size_t seat_label_max = 8, seat_name_max = 3 * seat_label_max + 2;
/// Bytes of the name of a plan, section, ticket type or area.
inline constexpr std::size_t plan_text_max = 100;
/// Largest coordinate, in centimetres: a kilometre.
inline constexpr std::int32_t plan_extent_max = 100'000;
/// Largest rank of a section.
inline constexpr std::uint32_t section_rank_max = 999;
/// Errors that one import reports; the rest shows after they are mended.
inline constexpr std::size_t plan_errors_max = 20;
/// Rows and seats per row of a generated section.
inline constexpr std::uint32_t hall_rows_max = 500, hall_row_seats_max = 500;

// -- seat maps
/// Changes that a map keeps for readers of an earlier version: a minute of a very fast sale.
inline constexpr std::size_t seat_changes_max = 8'192;
/// Changes that one answer tells: some 3 KB in some 50 us. The whole map is kept as text and costs less than
/// more of them.
inline constexpr std::size_t seat_changes_told_max = 512;
/// Seats of one claim, as the largest `max_per_order` of a ticket type.
inline constexpr std::size_t claim_seats_max = 100;
/// Seats and pairs of pieces that one search for a group over two rows looks at: a few milliseconds of the
/// owner. A group of 20 has tried some 700 pairs of rows by then; beyond it there are no best seats.
inline constexpr std::size_t division_work_max = 1'000'000;
/// Ticket types that seats can have: a set of them is 64 bits.
inline constexpr std::size_t seat_types_max = 64;
/// Contradictions that a check reports.
inline constexpr std::size_t seat_contradictions_max = 20;

} // namespace fq
