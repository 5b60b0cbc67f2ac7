// SPDX-License-Identifier: Apache-2.0
// Devices, webhook endpoints and deliveries as JSON. Called by notice_routes.
#pragma once
#include "net/wire/delivery_page.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Omits the devices' tokens.
[[nodiscard]] std::string devices_text(const std::vector<device_row>& devices);

/// `secret`: shown once, at its creation; else empty.
[[nodiscard]] std::string endpoint_text(const webhook_endpoint_row& endpoint, std::string_view secret = {});
[[nodiscard]] std::string endpoints_text(const std::vector<webhook_endpoint_row>& endpoints);

/// Omits payloads, which contain personal data.
[[nodiscard]] std::string deliveries_text(const delivery_page& page);

/// {name: id}
[[nodiscard]] std::string id_text(std::string_view name, const uuid& id);

} // namespace fq::net
