// SPDX-License-Identifier: Apache-2.0
// Draws a plan as SVG. Pure and without state, so that an answer can be cached with the plan; the page that
// shows it sets classes for the state of the seats.
#pragma once
#include "domain/seats/plan.hpp"

namespace fq {

enum class drawing_style : std::uint8_t {
  of_page, ///< the page has the rules, as its Content-Security-Policy wants
  built_in, ///< plain rules inside, for a picture by itself
};

/// Circles with the ids s0, s1, ... in groups with the class tN of their ticket type; the radius is a rule of
/// the style, drawing_radius. Accessible, companions' and seats with restricted view have the classes a, c
/// and o. Sections and areas have the ids section-0 and area-0. About 40 bytes a seat.
[[nodiscard]] std::string draw(const seat_plan& plan, drawing_style style = drawing_style::of_page);

/// Of a seat, in units of the drawing: neighbours are 24 units apart.
inline constexpr int drawing_radius = 10;

} // namespace fq
