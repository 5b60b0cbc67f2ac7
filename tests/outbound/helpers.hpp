// SPDX-License-Identifier: Apache-2.0
// Other programs for tests of mail: a child that ends with its object, certificates, a third-party parser.
// Whatever is missing is an error that says so.
#pragma once
#include <boost/json/value.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace fq::test {

/// A running program. Its standard input stays open as long as the object lives; then it is killed.
class child_process {
public:
  /// Throws std::runtime_error if the program is not there.
  explicit child_process(const std::vector<std::string>& command);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// The next line it prints. Throws std::runtime_error if it ends without one.
  std::string line();
  void signal(int number);

private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

/// Output of a command. Throws std::runtime_error if it fails.
std::string output_of(const std::string& command);

std::string read_file(const std::filesystem::path& file);

/// A self-signed certificate for 127.0.0.1 and localhost: <folder>/certificate.pem, which is its own CA, and
/// <folder>/key.pem.
void make_certificate(const std::filesystem::path& folder);

/// Output of tests/support/parse_mail.py for each message.
std::vector<boost::json::value> parse_mails(const std::vector<std::string>& messages);

/// A text member of an object.
std::string text_at(const boost::json::value& object, const char* name);

} // namespace fq::test
