// SPDX-License-Identifier: Apache-2.0
// Process metrics under the names that Prometheus' client libraries share.
#pragma once

namespace fq::net {

class metric_page;

/// Values that cannot be read have no series.
void append_process(metric_page& page);

} // namespace fq::net
