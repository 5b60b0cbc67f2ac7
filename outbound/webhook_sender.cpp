// SPDX-License-Identifier: Apache-2.0
// Uses one handle of libcurl's easy interface, so that its connection is kept.
#include "outbound/webhook_sender.hpp"

#include "outbound/curl_list.hpp"
#include "outbound/limits.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq {
namespace {

// Reads and drops the answer. A too long answer closes the connection; the status stays valid.
std::size_t discard(char*, std::size_t size, std::size_t count, void* seen) {
  auto& total = *static_cast<std::size_t*>(seen);
  total += size * count;
  return total > webhook_answer_bytes_max ? 0 : size * count;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

} // namespace

struct webhook_sender::handle {
  CURL* curl = nullptr;
  handle() {
    static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    curl = ready ? curl_easy_init() : nullptr;
    if (curl == nullptr) throw std::runtime_error{"libcurl cannot be initialised"};
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { curl_easy_cleanup(curl); }

  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl, option, value) != CURLE_OK)
      throw std::runtime_error{"libcurl refuses an option"};
  }
};

webhook_sender::webhook_sender(milliseconds timeout) :
    handle_{std::make_unique<handle>()}, timeout_{timeout} {}
webhook_sender::~webhook_sender() = default;

post_result webhook_sender::post(const std::string& url, std::string_view body,
                                 const std::vector<header>& headers) {
  curl_list list;
  append(list, "Content-Type: application/json");
  append(list, "Expect:"); // no wait for 100-continue
  for (const auto& [name, value] : headers) {
    if (has_control_character(name) || has_control_character(value))
      return {0, "a header has a control character"};
    append(list, std::string{name}.append(": ").append(value));
  }
  std::size_t answer_bytes = 0;
  auto& h = *handle_;
  curl_easy_reset(h.curl); // keeps the connections
  h.set(CURLOPT_URL, url.c_str());
  h.set(CURLOPT_PROTOCOLS_STR, "http,https");
  h.set(CURLOPT_PROXY, "");
  h.set(CURLOPT_NOSIGNAL, 1L);
  h.set(CURLOPT_POST, 1L);
  h.set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data()); // null would make libcurl call a read callback
  h.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  h.set(CURLOPT_HTTPHEADER, list.get());
  h.set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_.count()));
  h.set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, timeout_.count() / 2)));
  h.set(CURLOPT_WRITEFUNCTION, &discard);
  h.set(CURLOPT_WRITEDATA, static_cast<void*>(&answer_bytes));
  const auto code = curl_easy_perform(h.curl);
  long status = 0;
  curl_easy_getinfo(h.curl, CURLINFO_RESPONSE_CODE, &status);
  const bool answered = code == CURLE_OK || code == CURLE_WRITE_ERROR;
  return answered ? post_result{static_cast<int>(status), {}} : post_result{0, curl_easy_strerror(code)};
}

} // namespace fq
