// SPDX-License-Identifier: Apache-2.0
// Seat plans in requests and answers, of events and of tenants: files, simple halls, forms.
#pragma once
#include "domain/seats/hall.hpp"
#include "domain/seats/plan.hpp"
#include "net/service/guards.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

struct plan_read {
  std::optional<response> no; ///< with each error of the file
  std::shared_ptr<const seat_plan> plan = {};
  std::string text = {}; ///< text_of(seat_plan)
};

/// Calls `make` on a thread that prints: 50,000 seats take 50 ms.
awaitable<plan_read> read_aside(call c, std::function<made_plan()> make);

/// Reads the request's body as JSON or CSV.
[[nodiscard]] std::function<made_plan()> reader_of(const request& rq);

/// The body describes a simple hall.
[[nodiscard]] std::optional<response> read_hall(const request& rq, hall& made);

/// ?form=: "json", "csv" or "svg", else sets `no`.
[[nodiscard]] std::string read_plan_form(const request& rq, std::optional<response>& no);
[[nodiscard]] std::string_view plan_file_type(std::string_view form);
[[nodiscard]] std::string plan_file(std::string_view form, const seat_plan& plan);

struct tenant_plan_found {
  std::optional<response> no;
  seat_plan_row row = {}; ///< with its content
};

/// A plan of the manager's tenant that the manager sees.
awaitable<tenant_plan_found> find_tenant_plan(call c, uuid id);

} // namespace fq::net
