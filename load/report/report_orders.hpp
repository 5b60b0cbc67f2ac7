// SPDX-License-Identifier: Apache-2.0
// The parts of the reports about checkouts and orders. Empty without checkouts.
#pragma once

#include "load/checks/checker.hpp"
#include "load/fans/crowd.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace fq::load {

std::string checkouts_text(const crowd_result& result, const judgement& judged);
boost::json::object checkouts_json(const crowd_result& result);
boost::json::object orders_json(const judgement& judged);

} // namespace fq::load
