// SPDX-License-Identifier: Apache-2.0
// fairqueue-load: reads the options, gets the tokens, runs the crowd or the benchmark, writes the reports.
#include "load/base/options.hpp"
#include "load/base/tokens.hpp"
#include "load/checks/checker.hpp"
#include "load/fans/crowd.hpp"
#include "load/fans/join_bench.hpp"
#include "load/report/report.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace {

using namespace fq::load;

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::vector<std::string> get_tokens(const load_options& options) {
  if (!options.token_file.empty()) return read_tokens(options.token_file, options.fans);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const auto lifetime_s = static_cast<std::int64_t>(options.timeout_s) + 3600;
  return mint_tokens(options.data_dir, options.fans, now_s, lifetime_s);
}

// False if a report could not be written; the run's verdict still decides the exit code.
bool write_report(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  if (path == "-") {
    std::cout << text << std::flush;
    return true;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) std::cerr << "fairqueue-load: cannot write " << path << "\n";
  return static_cast<bool>(file);
}

// Writes the table to stderr if stdout carries the JSON.
void print_table(const load_options& options, const std::string& table) {
  (options.json_path == "-" ? std::cerr : std::cout) << table << std::flush;
}

bool shows_progress(const load_options& options) { return !options.quiet && ::isatty(STDERR_FILENO) == 1; }

void clear_line(bool shown) {
  if (shown) std::fputs("\r\x1b[K", stderr);
}

int run_bench(const load_options& options, const std::vector<std::string>& tokens) {
  const bool shown = shows_progress(options);
  std::function<void(std::uint64_t, double)> show;
  if (shown)
    show = [](std::uint64_t joined, double elapsed_s) {
      std::fprintf(stderr, "\r\x1b[K%5.1fs  joined %llu", elapsed_s, static_cast<unsigned long long>(joined));
    };
  const auto result = run_join_bench(options, tokens, show);
  clear_line(shown);
  if (!result.reached) {
    std::cerr << "fairqueue-load: " << result.failure << "\n";
    return 2;
  }
  print_table(options, table_of(options, result));
  write_report(options.json_path, json_of(options, result));
  write_report(options.html_path, html_of(options, result));
  return exit_code_of(result);
}

int run_sale(const load_options& options, std::vector<std::string> tokens) {
  const bool shown = shows_progress(options);
  std::function<void(const progress&)> show;
  if (shown)
    show = [](const progress& now) { std::fprintf(stderr, "\r\x1b[K%s", progress_line(now).c_str()); };
  crowd fans(options, std::move(tokens));
  const auto result = fans.run(show);
  clear_line(shown);
  if (!result.reached) {
    std::cerr << "fairqueue-load: " << result.failure << "\n";
    return 2;
  }
  const auto judged = judge(result.history);
  print_table(options, table_of(options, result, judged));
  write_report(options.json_path, json_of(options, result, judged));
  write_report(options.html_path, html_of(options, result, judged));
  return exit_code_of(result, judged);
}

} // namespace

int main(int argc, char** argv) {
  auto read = read_options(argc, argv);
  if (!read.options) {
    (read.exit_code == 0 ? std::cout : std::cerr) << read.message;
    return read.exit_code;
  }
  auto options = *read.options;
  if (const auto missing = complete_from_demo(options); !missing.empty()) {
    std::cerr << "fairqueue-load: " << missing << "\n";
    return 2;
  }
  raise_descriptor_limit();
  try {
    if (!options.seed_given) options.seed = system_random() % 1'000'000'000;
    auto tokens = get_tokens(options);
    return options.join_only ? run_bench(options, tokens) : run_sale(options, std::move(tokens));
  } catch (const token_error& error) {
    std::cerr << "fairqueue-load: " << error.what() << "\n";
    return 2;
  }
}
