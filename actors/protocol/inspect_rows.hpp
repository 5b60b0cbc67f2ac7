// SPDX-License-Identifier: Apache-2.0
// `inspect` of the rows (domain/model/rows.hpp) that messages carry: their fields in the order of the
// description.
#pragma once
#include "actors/protocol/inspect.hpp"
#include "domain/model/rows.hpp"

namespace fq {

FQ_INSPECT(uuid, x.hi, x.lo)
FQ_INSPECT(question, x.id, x.kind, x.of_attendee, x.is_required, x.label, x.choices)
FQ_INSPECT(answer_row, x.question, x.attendee, x.label, x.value)

template <class Inspector, described Row>
typename Inspector::result_type inspect(Inspector& f, Row& x) {
  return description<Row>::fields([&](const auto&... fields) {
    return f(caf::meta::type_name(description<Row>::name.data()), x.*fields.member...);
  });
}

template <class Inspector, class Row>
typename Inspector::result_type inspect(Inspector& f, patch_of<Row>& x) {
  return f(caf::meta::type_name("patch_of"), x.given, x.values);
}

} // namespace fq
