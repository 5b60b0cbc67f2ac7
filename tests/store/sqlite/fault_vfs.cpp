// SPDX-License-Identifier: Apache-2.0
#include "tests/store/sqlite/fault_vfs.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <sqlite3.h>

namespace fq::test {

/// A name in the folder. The real file is the page cache.
struct disk_file {
  std::optional<std::string> durable; ///< what a power loss leaves under this name; none: no file
  std::set<std::uint64_t> dirty; ///< sectors that the next sync writes
  bool is_new = false; ///< created since; its name is not on the disk before its first sync
  bool is_gone = false; ///< deleted, but the folder was not synced
};

struct fault_vfs::disk {
  sqlite3_vfs self{};
  sqlite3_vfs* real = nullptr;
  std::map<std::string, disk_file> files;
  std::mt19937_64 rng;
  std::function<std::int64_t()> clock; ///< empty: the machine's
  disk_counts counts;
  struct {
    disk_call which = disk_call::any;
    unsigned left = 0; ///< 0: nothing is armed
    disk_fault what = disk_fault::error;
  } armed;
  bool is_full = false, is_tearing = false, is_down = false, has_lost_power = false;

  bool coin() { return (rng() & 1) != 0; }

  /// Whether this call fails: the machine is down, or the call is the armed one.
  bool fails(disk_call which, std::uint64_t& count) {
    errno = EIO;
    if (is_down) return true;
    if (armed.left == 0 || (armed.which != disk_call::any && armed.which != which)) return false;
    if (--armed.left > 0) return false;
    if (armed.what == disk_fault::power)
      go_down(true);
    else
      ++count;
    return true;
  }

  void go_down(bool with_power) {
    if (with_power && !has_lost_power) ++counts.power_losses;
    if (!with_power && !is_down) ++counts.process_ends;
    has_lost_power = has_lost_power || with_power;
    is_down = true;
  }
};

namespace {

using disk = fault_vfs::disk;
constexpr std::uint64_t sector = 512;

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::string content(in ? static_cast<std::size_t>(in.tellg()) : 0, '\0');
  in.seekg(0).read(content.data(), static_cast<std::streamsize>(content.size()));
  return content;
}

/// The object that SQLite keeps for an open file; the real one follows it in memory.
struct open_file {
  sqlite3_file base;
  disk* on;
  disk_file* file; ///< null: a temporary file
};
static_assert(sizeof(open_file) % 8 == 0);

open_file& self_of(sqlite3_file* f) { return *reinterpret_cast<open_file*>(f); }
sqlite3_file* real_of(sqlite3_file* f) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(f) + sizeof(open_file));
}

std::uint64_t size_of(sqlite3_file* real) {
  sqlite3_int64 size = 0;
  real->pMethods->xFileSize(real, &size);
  return static_cast<std::uint64_t>(size);
}

/// Copies sectors from the page cache to the disk, neighbours together.
void write_back(std::string& durable, const std::set<std::uint64_t>& numbers, sqlite3_file* real) {
  const auto size = size_of(real);
  for (auto at = numbers.begin(); at != numbers.end();) {
    const auto first = *at;
    auto end = first;
    while (at != numbers.end() && *at == end) ++at, ++end;
    const auto from = first * sector, to = std::min(end * sector, size);
    if (from >= to) return;
    if (durable.size() < to) durable.resize(to);
    real->pMethods->xRead(real, durable.data() + from, static_cast<int>(to - from),
                          static_cast<sqlite3_int64>(from));
  }
}

void write_back_some(disk& d, disk_file& file, sqlite3_file* real) {
  if (!d.is_tearing || file.is_new || !file.durable) return;
  std::set<std::uint64_t> some;
  std::ranges::copy_if(file.dirty, std::inserter(some, some.end()), [&](std::uint64_t) { return d.coin(); });
  write_back(*file.durable, some, real);
  std::erase_if(file.dirty, [&](std::uint64_t n) { return some.contains(n); });
}

int on_close(sqlite3_file* f) { return real_of(f)->pMethods->xClose(real_of(f)); }
int on_read(sqlite3_file* f, void* to, int amount, sqlite3_int64 offset) {
  return real_of(f)->pMethods->xRead(real_of(f), to, amount, offset);
}

int on_write(sqlite3_file* f, const void* from, int amount, sqlite3_int64 offset) {
  auto& [base, on, file] = self_of(f);
  auto* real = real_of(f);
  const auto first = static_cast<std::uint64_t>(offset), end = first + static_cast<std::uint64_t>(amount);
  if (!file) return real->pMethods->xWrite(real, from, amount, offset);
  if (on->fails(disk_call::write, on->counts.failed_writes)) return SQLITE_IOERR_WRITE;
  if (on->is_full && end > size_of(real)) {
    ++on->counts.full;
    errno = ENOSPC;
    return SQLITE_FULL;
  }
  const int rc = real->pMethods->xWrite(real, from, amount, offset);
  for (auto n = first / sector; rc == SQLITE_OK && n * sector < end; ++n) file->dirty.insert(n);
  if (on->is_tearing && on->rng() % 50 == 0) write_back_some(*on, *file, real);
  return rc;
}

int on_truncate(sqlite3_file* f, sqlite3_int64 size) {
  auto& [base, on, file] = self_of(f);
  if (file && on->fails(disk_call::truncate, on->counts.failed_truncates)) return SQLITE_IOERR_TRUNCATE;
  return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

/// SQLite syncs the folder at the first sync of a journal or WAL.
void sync_folder(disk& d) {
  for (auto& [path, file] : d.files)
    if (std::exchange(file.is_gone, false)) file.durable.reset();
}

int on_sync(sqlite3_file* f, int) {
  auto& [base, on, file] = self_of(f);
  auto* real = real_of(f);
  if (!file) return SQLITE_OK;
  if (on->fails(disk_call::sync, on->counts.failed_syncs)) {
    if (on->is_down) return SQLITE_IOERR_FSYNC;
    write_back_some(*on, *file, real);
    file->dirty.clear(); // the kernel reports the error once, and does not try these sectors again
    return SQLITE_IOERR_FSYNC;
  }
  ++on->counts.syncs;
  if (file->is_new) sync_folder(*on);
  if (file->is_new || !file->durable) {
    file->durable.emplace(size_of(real), '\0');
    if (!file->durable->empty()) on_read(f, file->durable->data(), static_cast<int>(size_of(real)), 0);
  }
  write_back(*file->durable, file->dirty, real);
  file->durable->resize(size_of(real));
  file->dirty.clear();
  file->is_new = false;
  return SQLITE_OK; // without the real sync, which no test needs
}

int on_file_size(sqlite3_file* f, sqlite3_int64* size) {
  return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
int on_lock(sqlite3_file* f, int level) { return real_of(f)->pMethods->xLock(real_of(f), level); }
int on_unlock(sqlite3_file* f, int level) { return real_of(f)->pMethods->xUnlock(real_of(f), level); }
int on_check_lock(sqlite3_file* f, int* is_reserved) {
  return real_of(f)->pMethods->xCheckReservedLock(real_of(f), is_reserved);
}
int on_control(sqlite3_file* f, int what, void* argument) {
  if (what == SQLITE_FCNTL_SIZE_HINT) return SQLITE_OK; // files grow by writes only
  return real_of(f)->pMethods->xFileControl(real_of(f), what, argument);
}
int on_sector_size(sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); }
int on_characteristics(sqlite3_file* f) { return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f)); }
int on_shm_map(sqlite3_file* f, int region, int size, int extend, void volatile** to) {
  return real_of(f)->pMethods->xShmMap(real_of(f), region, size, extend, to);
}
int on_shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
}
void on_shm_barrier(sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); }
int on_shm_unmap(sqlite3_file* f, int is_deleted) {
  return real_of(f)->pMethods->xShmUnmap(real_of(f), is_deleted);
}

/// Version 2: without memory maps, which the ledger does not use.
constexpr sqlite3_io_methods methods{2,
                                     on_close,
                                     on_read,
                                     on_write,
                                     on_truncate,
                                     on_sync,
                                     on_file_size,
                                     on_lock,
                                     on_unlock,
                                     on_check_lock,
                                     on_control,
                                     on_sector_size,
                                     on_characteristics,
                                     on_shm_map,
                                     on_shm_lock,
                                     on_shm_barrier,
                                     on_shm_unmap,
                                     nullptr,
                                     nullptr};

disk_file* file_of(disk& d, const std::string& path, bool exists) {
  const auto [at, is_unknown] = d.files.try_emplace(path);
  auto& file = at->second;
  if (is_unknown && exists) file.durable = content_of(path);
  if (!exists) file.is_new = true;
  file.is_gone = false;
  return &file;
}

int on_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* flags_out) {
  auto& d = *static_cast<disk*>(vfs->pAppData);
  int exists = 0;
  if (name) d.real->xAccess(d.real, name, SQLITE_ACCESS_EXISTS, &exists);
  f->pMethods = nullptr;
  const int rc = d.real->xOpen(d.real, name, real_of(f), flags, flags_out);
  if (rc != SQLITE_OK) return rc;
  self_of(f).on = &d;
  self_of(f).file = name ? file_of(d, name, exists != 0) : nullptr;
  f->pMethods = &methods;
  return SQLITE_OK;
}

int on_delete(sqlite3_vfs* vfs, const char* name, int is_folder_synced) {
  auto& d = *static_cast<disk*>(vfs->pAppData);
  if (d.is_down) return SQLITE_IOERR_DELETE;
  const int rc = d.real->xDelete(d.real, name, 0);
  const auto at = d.files.find(name);
  if (rc != SQLITE_OK || at == d.files.end()) return rc;
  if (is_folder_synced)
    d.files.erase(at);
  else {
    at->second.is_gone = true;
    at->second.dirty.clear();
  }
  return rc;
}

int on_time(sqlite3_vfs* vfs, sqlite3_int64* to) {
  constexpr sqlite3_int64 unix_epoch = 210'866'760'000'000; // in milliseconds of the Julian day
  auto& d = *static_cast<disk*>(vfs->pAppData);
  if (!d.clock) return d.real->xCurrentTimeInt64(d.real, to);
  *to = unix_epoch + d.clock();
  return SQLITE_OK;
}

/// The file after a power loss.
void lose(disk& d, const std::string& path, disk_file& file) {
  if (d.is_tearing && !file.is_new && !file.is_gone && file.durable) {
    const auto cached = content_of(path);
    for (const auto n : file.dirty) {
      const auto part = cached.substr(std::min(n * sector, cached.size()), sector);
      if (part.empty() || d.coin()) continue;
      if (file.durable->size() < n * sector + part.size()) file.durable->resize(n * sector + part.size());
      file.durable->replace(n * sector, part.size(), part);
    }
  }
  if (file.is_gone && d.is_tearing && d.coin()) file.durable.reset();
  std::filesystem::remove(path);
  std::filesystem::remove(path + "-shm");
  if (file.durable) std::ofstream(path, std::ios::binary) << *file.durable;
  file.dirty.clear();
  file.is_new = file.is_gone = false;
}

} // namespace

fault_vfs::fault_vfs(std::uint64_t seed) : disk_(std::make_unique<disk>()) {
  auto& d = *disk_;
  d.rng.seed(seed);
  d.real = sqlite3_vfs_find(nullptr);
  d.self = *d.real;
  d.self.pNext = nullptr;
  d.self.zName = "fault";
  d.self.pAppData = &d;
  d.self.szOsFile = static_cast<int>(sizeof(open_file)) + d.real->szOsFile;
  d.self.xOpen = on_open;
  d.self.xDelete = on_delete;
  d.self.xCurrentTimeInt64 = on_time;
  if (sqlite3_vfs_register(&d.self, 1) != SQLITE_OK) throw std::runtime_error{"no fault VFS"};
}

fault_vfs::~fault_vfs() {
  sqlite3_vfs_unregister(&disk_->self);
  sqlite3_vfs_register(disk_->real, 1);
}

void fault_vfs::arm(disk_call which, unsigned n, disk_fault what) { disk_->armed = {which, n, what}; }
void fault_vfs::disarm() { disk_->armed.left = 0; }
void fault_vfs::set_full(bool is_full) { disk_->is_full = is_full; }
void fault_vfs::set_tearing(bool is_tearing) { disk_->is_tearing = is_tearing; }
void fault_vfs::set_clock(std::function<std::int64_t()> unix_ms) { disk_->clock = std::move(unix_ms); }
void fault_vfs::end_process() { disk_->go_down(false); }
void fault_vfs::cut_power() { disk_->go_down(true); }
bool fault_vfs::is_down() const { return disk_->is_down; }
const disk_counts& fault_vfs::counts() const { return disk_->counts; }

void fault_vfs::start_again() {
  auto& d = *disk_;
  if (d.has_lost_power)
    for (auto& [path, file] : d.files) lose(d, path, file);
  if (d.has_lost_power) std::erase_if(d.files, [](const auto& f) { return !f.second.durable; });
  d.is_down = d.has_lost_power = d.is_full = false;
  disarm();
}

} // namespace fq::test
