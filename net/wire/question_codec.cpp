// SPDX-License-Identifier: Apache-2.0
#include "net/wire/question_codec.hpp"

#include "net/wire/limits.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace fq::net {
namespace {

namespace json = boost::json;

static_assert(question_id_range.high == question_id_max);

constexpr range size_max(std::size_t bytes) { return {1, static_cast<std::int64_t>(bytes)}; }

question read_question(object_reader& in) {
  question q;
  q.id = in.number<std::uint32_t>("id", question_id_range).value;
  in.require("label");
  q.label = in.text("label", size_max(question_bytes_max)).value;
  in.require("kind");
  const auto kind = in.text("kind", {1, 16});
  for (const auto k : {question_kind::text, question_kind::choice, question_kind::consent})
    if (kind.value == name_of(k)) q.kind = k;
  if (kind.given && kind.value != name_of(q.kind)) in.reject("kind", "Must be text, choice or consent.");
  const auto to = in.text("to", {1, 16});
  q.of_attendee = to.value == "attendee";
  if (to.given && !q.of_attendee && to.value != "buyer") in.reject("to", "Must be buyer or attendee.");
  q.is_required = in.flag("required").value;
  q.choices = in.texts("choices", {0, static_cast<std::int64_t>(choices_max)}, size_max(choice_bytes_max));
  return q;
}

} // namespace

void read_questions(object_reader& body, event_patch& patch) {
  std::vector<question> questions;
  const bool is_given = body.objects("questions", {0, static_cast<std::int64_t>(questions_max)},
                                     [&](object_reader& in) { questions.push_back(read_question(in)); });
  if (is_given) patch.set(&event_row::questions, std::move(questions));
}

void read_answers(object_reader& body, contact& who) {
  body.objects("answers", {0, static_cast<std::int64_t>(answers_max)}, [&](object_reader& in) {
    auto& a = who.answers.emplace_back();
    in.require("question_id");
    a.question = in.number<std::uint32_t>("question_id", question_id_range).value;
    a.attendee = in.number<std::uint32_t>("attendee", attendee_range).value;
    in.require("value");
    a.value = in.text("value", {0, static_cast<std::int64_t>(answer_bytes_max)}).value;
  });
}

void append_questions(std::string& out, const std::vector<question>& questions) {
  json::array all;
  for (const auto& q : questions) {
    json::object one{{"id", q.id},
                     {"label", q.label},
                     {"kind", name_of(q.kind)},
                     {"to", q.of_attendee ? "attendee" : "buyer"},
                     {"required", q.is_required}};
    if (q.kind == question_kind::choice) one["choices"] = json::array(q.choices.begin(), q.choices.end());
    all.push_back(std::move(one));
  }
  out += json::serialize(all);
}

json::array answers_json(const std::vector<answer_row>& answers) {
  json::array all;
  for (const auto& a : answers)
    all.push_back(json::object{{"question_id", a.question},
                               {"attendee", a.attendee == 0 ? json::value(nullptr) : json::value(a.attendee)},
                               {"label", a.label},
                               {"value", a.value}});
  return all;
}

} // namespace fq::net
