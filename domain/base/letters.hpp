// SPDX-License-Identifier: Apache-2.0
// Letters of names as people search for them: without case and accents. Latin as far as U+017F (all languages
// of the European Union but Greek and Bulgarian) and Cyrillic, which keeps its accents. Others stay as they
// are. Pure.
#pragma once
#include <string>
#include <string_view>

namespace fq {

/// "ŠIMIĆ", "Šimić" and "simic" have one text; "ß" is "ss". `text`: UTF-8; other bytes stay.
[[nodiscard]] std::string folded(std::string_view text);

} // namespace fq
