// SPDX-License-Identifier: Apache-2.0
// Owning wrapper of libcurl's string list, for header fields and recipients.
#pragma once
#include <curl/curl.h>

#include <memory>
#include <new>
#include <string>

namespace fq {

struct free_curl_list {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using curl_list = std::unique_ptr<curl_slist, free_curl_list>;

/// Throws std::bad_alloc; the list is then unchanged.
inline void append(curl_list& list, const std::string& text) {
  auto* longer = curl_slist_append(list.get(), text.c_str());
  if (longer == nullptr) throw std::bad_alloc{};
  static_cast<void>(list.release());
  list.reset(longer);
}

} // namespace fq
