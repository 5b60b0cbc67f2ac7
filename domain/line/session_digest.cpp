// SPDX-License-Identifier: Apache-2.0
#include "domain/line/session_digest.hpp"

#include <functional>

namespace fq {

void count_session(session_digests& all, queue_number number, std::uint32_t admission_no,
                   const subject_key& subject, timestamp joined_at, timestamp ends,
                   std::string_view subject_name, int delta) {
  const std::hash<uuid> mixed; // changes about half of its bits when one bit of either half changes
  auto h = mixed({value_of(number), admission_no});
  h = mixed({h ^ subject.hi, subject.lo});
  h = mixed({h ^ static_cast<std::uint64_t>(unix_ms(joined_at)), static_cast<std::uint64_t>(unix_ms(ends))});
  if (!subject_name.empty()) h = mixed({h, std::hash<std::string_view>{}(subject_name)});
  const auto span = unix_ms(ends) / digest_span.count();
  auto& digest = all[span];
  digest.count += static_cast<std::uint64_t>(delta);
  digest.sum += static_cast<std::uint64_t>(delta) * h;
  if (digest.count == 0) all.erase(span);
}

} // namespace fq
