// SPDX-License-Identifier: Apache-2.0
#include "tests/outbound/helpers.hpp"

#include "tests/crypto/temp_folder.hpp"

#include <boost/json/parse.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fq::test {

child_process::child_process(const std::vector<std::string>& command) {
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
    throw std::runtime_error{"no pipe"};
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int error = ::posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  in_ = in[1];
  out_ = out[0];
  if (error != 0)
    throw std::runtime_error{"cannot start " + command[0] + "; scripts/setup installs what tests need"};
}

child_process::~child_process() {
  ::close(in_);
  ::close(out_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string child_process::line() {
  std::string text;
  for (char c = 0; ::read(out_, &c, 1) == 1;) {
    if (c == '\n') return text;
    text += c;
  }
  throw std::runtime_error{"a program that a test needs has ended; what it said is above"};
}

void child_process::signal(int number) { ::kill(pid_, number); }

std::string output_of(const std::string& command) {
  auto* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error{"cannot run " + command};
  std::string text;
  std::array<char, 4096> some{};
  while (const auto n = std::fread(some.data(), 1, some.size(), pipe)) text.append(some.data(), n);
  if (::pclose(pipe) != 0)
    throw std::runtime_error{"this failed: " + command + " (scripts/setup installs what tests need)"};
  return text;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void make_certificate(const std::filesystem::path& folder) {
  output_of("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
            "/CN=localhost -addext "
            "subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout '"
            + (folder / "key.pem").string() + "' -out '" + (folder / "certificate.pem").string() + "' 2>&1");
}

std::vector<boost::json::value> parse_mails(const std::vector<std::string>& messages) {
  const temp_folder folder;
  std::string command = FQ_TEST_SUPPORT "/parse_mail.py";
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto file = folder / std::to_string(i).c_str();
    std::ofstream{file, std::ios::binary} << messages[i];
    command += " '" + file.string() + "'";
  }
  std::istringstream lines{output_of(command)};
  std::vector<boost::json::value> result;
  for (std::string line; std::getline(lines, line);) result.push_back(boost::json::parse(line));
  if (result.size() != messages.size()) throw std::runtime_error{"parse_mail.py has lost a message"};
  return result;
}

std::string text_at(const boost::json::value& object, const char* name) {
  const auto& value = object.at(name);
  return value.is_null() ? "(null)" : std::string{value.as_string().c_str(), value.as_string().size()};
}

} // namespace fq::test
