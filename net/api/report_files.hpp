// SPDX-License-Identifier: Apache-2.0
// The report of a sale as files: CSV for spreadsheets, and what the PDF says. Called by report_routes.
#pragma once
#include "domain/sale/report.hpp"
#include "print/report_pdf.hpp"

#include <string>

namespace fq::net {

/// One value a row: section, item, measure, value.
[[nodiscard]] std::string report_csv(const sale_report& report);
[[nodiscard]] print::report_document report_document(const sale_report& report);

} // namespace fq::net
