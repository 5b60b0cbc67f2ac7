// SPDX-License-Identifier: Apache-2.0
// The files of outbound/templates, embedded by cmake/embed_texts.cmake at build time. Used by
// mail_templates.cpp only.
#pragma once
#include <span>
#include <string_view>

namespace fq {

struct mail_template_file {
  std::string_view name; ///< "otp.text"
  std::string_view text;
};

[[nodiscard]] std::span<const mail_template_file> mail_template_files();

} // namespace fq
