// SPDX-License-Identifier: Apache-2.0
// An event's questions and the answers to them in JSON.
#pragma once
#include "domain/sale/views.hpp"
#include "net/wire/json_in.hpp"

#include <boost/json/array.hpp>

#include <string>

namespace fq::net {

/// Reads `questions` of an event, all of them. One without id is new.
void read_questions(object_reader& body, event_patch& patch);
/// Reads `answers` of a checkout.
void read_answers(object_reader& body, contact& who);

void append_questions(std::string& out, const std::vector<question>& questions);
[[nodiscard]] boost::json::array answers_json(const std::vector<answer_row>& answers);

} // namespace fq::net
