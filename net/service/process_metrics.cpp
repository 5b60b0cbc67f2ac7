// SPDX-License-Identifier: Apache-2.0
#include "net/service/process_metrics.hpp"

#include "net/service/metric_page.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace fq::net {
namespace {

double seconds_of(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

/// Since Linux 6.2 the folder's size is the number of its files; older kernels need a count.
double open_files() {
  struct stat folder {};
  if (::stat("/proc/self/fd", &folder) == 0 && folder.st_size > 0) return static_cast<double>(folder.st_size);
  std::error_code error;
  const std::filesystem::directory_iterator files{"/proc/self/fd", error};
  return error ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}

/// Field 22 of /proc/self/stat, in ticks since boot (proc(5)). The name in field 2 may contain any
/// character, so fields are counted from the last ")".
double start_ticks() {
  std::ifstream file{"/proc/self/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::istringstream rest{text.substr(std::min(text.rfind(')') + 1, text.size()))};
  std::string field;
  for (int i = 3; i <= 22; ++i) rest >> field;
  return field.empty() ? 0 : std::stod(field);
}

double boot_time() {
  std::ifstream file{"/proc/stat"};
  for (std::string name; file >> name;)
    if (double at = 0; name == "btime" && file >> at) return at;
  return 0;
}

} // namespace

void append_process(metric_page& page) {
  if (rusage used{}; ::getrusage(RUSAGE_SELF, &used) == 0)
    page.counter("process_cpu_seconds_total", "CPU time of this process, its own and the kernel's for it.")
      .add(seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  std::ifstream memory{"/proc/self/statm"};
  if (double all = 0, resident = 0; memory >> all >> resident) {
    const auto page_size = static_cast<double>(::sysconf(_SC_PAGESIZE));
    page.gauge("process_resident_memory_bytes", "Memory of this process that is in RAM.")
      .add(resident * page_size);
    page.gauge("process_virtual_memory_bytes", "Addresses that this process has in use.")
      .add(all * page_size);
  }
  if (const auto files = open_files(); files > 0)
    page.gauge("process_open_fds", "Open files and sockets.").add(files);
  if (rlimit limit{}; ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    page.gauge("process_max_fds", "Files and sockets that may be open.")
      .add(static_cast<double>(limit.rlim_cur));
  static const double started = boot_time() + start_ticks() / static_cast<double>(::sysconf(_SC_CLK_TCK));
  page.gauge("process_start_time_seconds", "When this process began, in Unix time.").add(started);
}

} // namespace fq::net
