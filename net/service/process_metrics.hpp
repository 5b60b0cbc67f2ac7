// SPDX-License-Identifier: Apache-2.0
// This process as the system sees it, under the names that Prometheus' client libraries have in common.
#pragma once

namespace fq::net {

class metric_page;

/// What cannot be read has no series.
void append_process(metric_page& page);

} // namespace fq::net
