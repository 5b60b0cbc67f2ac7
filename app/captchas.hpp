// SPDX-License-Identifier: Apache-2.0
// The providers of captchas that have keys.
#pragma once
#include "config/options.hpp"
#include "domain/model/event_rows.hpp"
#include "outbound/captcha.hpp"

#include <map>
#include <memory>

namespace fq {

[[nodiscard]] std::map<challenge_kind, std::unique_ptr<captcha_port>> open_captchas(const config::options& o,
                                                                                    environment& env);

} // namespace fq
