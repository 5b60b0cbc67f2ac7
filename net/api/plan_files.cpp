// SPDX-License-Identifier: Apache-2.0
#include "net/api/plan_files.hpp"

#include "domain/seats/drawing.hpp"
#include "domain/seats/plan_text.hpp"
#include "net/api/limits.hpp"
#include "net/http/query.hpp"
#include "net/service/services.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/seat_plan_codec.hpp"

#include <utility>
#include <vector>

namespace fq::net {
namespace {

constexpr std::string_view json_type = "application/json", plan_csv_type = "text/csv",
                           svg_type = "image/svg+xml";

struct made_text {
  made_plan made;
  std::string text = {};
};

std::vector<field_error> errors_of(const std::vector<plan_error>& found) {
  std::vector<field_error> errors;
  for (const auto& e : found)
    errors.push_back(
      {e.line == 0 ? e.place : "line " + std::to_string(e.line) + " " + e.place, "invalid", e.what});
  return errors;
}

hall_section read_section(object_reader& o) {
  for (const auto* name : {"ticket_type", "rows", "seats"}) o.require(name);
  hall_section section;
  section.code = o.text("section", seat_label_size).value;
  section.name = o.text("name", plan_name_size).value;
  section.ticket_type = o.text("ticket_type", plan_type_size).value;
  section.rows = o.number<std::uint32_t>("rows", hall_rows_range).value;
  section.seats = o.number<std::uint32_t>("seats", hall_row_seats_range).value;
  section.widening = o.number<std::uint32_t>("widening", hall_aisles_range).value;
  section.accessible = o.number<std::uint32_t>("accessible", hall_accessible_range).value;
  return section;
}

} // namespace

awaitable<plan_read> read_aside(call c, std::function<made_plan()> make) {
  plan_read read;
  auto job = [make = std::move(make)] {
    made_text all{make()};
    if (all.made.plan != nullptr) all.text = text_of(*all.made.plan);
    return all;
  };
  auto got = co_await offload(c.ctx.io, c.ctx.shared->printing_lane, std::move(job), plan_pages);
  if (!got) {
    read.no = problem(fault::unavailable, c.rq.request_id, {}, plan_retry_after);
  } else if (got->made.plan == nullptr) {
    read.no = problem(fault::invalid_field, c.rq.request_id, errors_of(got->made.errors));
  } else {
    read.plan = std::move(got->made.plan);
    read.text = std::move(got->text);
  }
  co_return read;
}

std::function<made_plan()> reader_of(const request& rq) {
  const bool is_csv = rq.field("Content-Type").starts_with(plan_csv_type);
  return [is_csv, body = std::string{rq.body}] { return is_csv ? plan_of_csv(body) : plan_of_json(body); };
}

std::optional<response> read_hall(const request& rq, hall& made) {
  return read_json(rq, body_need::required, [&made](object_reader& body) {
    body.require("sections");
    made.name = body.text("name", plan_name_size).value;
    body.objects("sections", hall_sections_count,
                 [&made](object_reader& o) { made.sections.push_back(read_section(o)); });
    made.aisles = body.number<std::uint32_t>("aisles", hall_aisles_range).value;
    made.has_lettered_rows = body.flag("lettered_rows").value;
    const auto length = [&body](const char* name, range allowed, std::int32_t& to) {
      const auto given = body.number<std::int32_t>(name, allowed);
      if (given.given) to = given.value;
    };
    length("radius", hall_length_range, made.radius);
    length("stage_distance", hall_length_range, made.stage_distance);
    length("seat_width", hall_seat_range, made.seat_width);
    length("row_depth", hall_seat_range, made.row_depth);
    length("aisle_width", hall_length_range, made.aisle_width);
    length("section_gap", hall_length_range, made.section_gap);
  });
}

std::string read_plan_form(const request& rq, std::optional<response>& no) {
  std::string form{query_parameters::read(rq, {"form"}, no).find("form").value_or("json")};
  if (!no && form != "json" && form != "csv" && form != "svg")
    no = problem(fault::invalid_parameter, rq.request_id, "form: must be json, csv or svg");
  return form;
}

std::string_view plan_file_type(std::string_view form) {
  return form == "csv" ? plan_csv_type : form == "svg" ? svg_type : json_type;
}

std::string plan_file(std::string_view form, const seat_plan& plan) {
  if (form == "csv") return csv_of(plan);
  return form == "svg" ? draw(plan, drawing_style::built_in) : json_of(plan);
}

awaitable<tenant_plan_found> find_tenant_plan(call c, uuid id) {
  tenant_plan_found found;
  list_tenant_plans wish{c.by, id, {}, 1};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  found.no = refused(c.rq, got);
  if (found.no) co_return found;
  if (id.is_nil() || got.reply.plans.empty())
    found.no = problem(fault::not_found, c.rq.request_id);
  else
    found.row = std::move(got.reply.plans.front());
  co_return found;
}

} // namespace fq::net
