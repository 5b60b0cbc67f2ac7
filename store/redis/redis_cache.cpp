// SPDX-License-Identifier: Apache-2.0
// The two scripts, their arguments, and the reading of a mirror.
#include "store/redis/redis_cache.hpp"

#include "store/redis/cache_scripts.hpp"
#include "store/redis/limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <utility>

namespace fq {
namespace {

using namespace redis_bounds;
constexpr const char* forgetful = "redis does not keep its scripts";
/// Error code for a foreign value under one of our keys; the next generation uses other keys.
constexpr std::string_view foreign_key = "WRONGTYPE";
constexpr std::size_t apply_fixed_words =
  3 + 4 + 12; ///< EVALSHA sha numkeys, keys, arguments before the lists

// -- names and values

struct key_names {
  key_names(const uuid& queue, std::uint64_t generation) :
      stem("fairqueue:{" + to_string(queue) + "}:"), of_generation(stem + std::to_string(generation)) {}
  [[nodiscard]] std::string head() const { return stem + "head"; }
  [[nodiscard]] std::string waiting() const { return of_generation + ":waiting"; }
  [[nodiscard]] std::string active() const { return of_generation + ":active"; }
  [[nodiscard]] std::string inventory() const { return of_generation + ":inventory"; }
  [[nodiscard]] std::string sessions() const { return of_generation + ":session:"; }

  std::string stem;
  std::string of_generation;
};

constexpr std::size_t uuid_text_size = 36;

/// The subject's name comes last, unescaped.
std::string session_value(const mirrored_session& s) {
  return std::to_string(s.admission_no) + ' ' + std::to_string(value_of(s.number)) + ' '
         + std::to_string(unix_ms(s.expires_at)) + ' ' + to_string(s.subject) + s.subject_name;
}

std::string stock_value(const mirrored_stock& s) {
  return std::to_string(s.total) + ' ' + std::to_string(s.held) + ' ' + std::to_string(s.sold);
}

/// Parses and removes the number and the following space at the front of `text`.
template <class Integer>
bool take_number(std::string_view& text, Integer& out) {
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc{} || (rest != end && *rest != ' ')) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + (rest != end ? 1 : 0));
  return true;
}

std::optional<queue_number> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  if (!take_number(text, number) || !text.empty()) return std::nullopt;
  return queue_number{number};
}

std::optional<mirrored_session> parse_session(const entry_id& id, std::string_view value) {
  std::uint32_t admission_no = 0;
  std::uint64_t number = 0;
  std::int64_t end = 0;
  if (!take_number(value, admission_no) || !take_number(value, number) || !take_number(value, end))
    return std::nullopt;
  const auto subject = parse_uuid(value.substr(0, uuid_text_size));
  if (!subject || queue_number{number} != queue_number_of(id)) return std::nullopt;
  return mirrored_session{queue_number{number}, admission_no,      *subject,
                          time_of(id),          from_unix_ms(end), std::string{value.substr(uuid_text_size)}};
}

std::optional<mirrored_stock> parse_stock(std::string_view id, std::string_view value) {
  const auto type = parse_uuid(id);
  mirrored_stock stock;
  if (!type || !take_number(value, stock.total) || !take_number(value, stock.held)
      || !take_number(value, stock.sold) || !value.empty())
    return std::nullopt;
  stock.id = *type;
  return stock;
}

class entry_name {
public:
  entry_name(const mirror_step& step, const mirrored_session& s) {
    write_text(make_entry_id(s.joined_at, step.aggregate, s.number), text_.data());
  }
  operator std::string_view() const { return {text_.data(), text_.size()}; }

private:
  std::array<char, 36> text_;
};

bool is_over(const mirrored_session& s, const mirror_step& step) { return s.expires_at <= step.now; }

/// Number of elements in each list of a call.
struct list_sizes {
  list_sizes(const mirror_step& step, const mirror_chunk& chunk) :
      joined(chunk.joined.size()),
      left(chunk.left.size() + chunk.sessions.size()),
      stock(chunk.stock.size()) {
    const auto over = std::ranges::count_if(chunk.sessions, [&](const auto& s) { return is_over(s, step); });
    ended = chunk.ended.size() + static_cast<std::size_t>(over);
    begun = chunk.sessions.size() - static_cast<std::size_t>(over);
  }
  [[nodiscard]] std::size_t words() const { return 2 * joined + left + 4 * begun + ended + 2 * stock; }

  std::size_t joined, left, begun, ended, stock;
};

void add_lists(redis_pipeline& out, const mirror_step& step, const mirror_chunk& chunk) {
  for (const auto number : chunk.joined) {
    out.add(value_of(step.ranks.rank_of(number)));
    out.add(value_of(number));
  }
  for (const auto number : chunk.left) out.add(value_of(number));
  for (const auto& s : chunk.sessions) out.add(value_of(s.number));
  for (const auto& s : chunk.sessions) {
    if (is_over(s, step)) continue;
    out.add(entry_name{step, s});
    out.add(session_value(s));
    out.add(unix_ms(s.expires_at));
    out.add((s.expires_at - step.now).count());
  }
  for (const auto& s : chunk.ended) out.add(entry_name{step, s});
  for (const auto& s : chunk.sessions)
    if (is_over(s, step)) out.add(entry_name{step, s});
  for (const auto& s : chunk.stock) {
    out.add(to_string(s.id));
    out.add(stock_value(s));
  }
}

} // namespace

// -- steps

/// Calls of the apply script in one round trip.
struct redis_cache::window {
  redis_pipeline calls;
  std::vector<std::size_t> steps; ///< step index of each call
};

redis_cache::redis_cache(redis_options options, environment& env, std::string space) :
    connection_(std::move(options), env),
    space_(std::move(space)),
    apply_{apply_source, {}},
    clear_{clear_source, {}},
    vouch_{vouch_source, {}} {}

std::vector<step_outcome> redis_cache::apply(std::span<const mirror_step> steps) {
  if (apply_.sha.empty()) load(apply_);
  std::vector<step_outcome> outcomes(steps.size(), step_outcome::applied);
  window w;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].number == 0) {
      run(w, outcomes);
      clear(steps[i]);
    }
    for (const auto& chunk : chunks_of(steps[i].delta)) {
      append(w, i, steps[i], chunk);
      if (w.calls.size() >= window_calls_max || w.calls.bytes().size() >= window_bytes_max) run(w, outcomes);
    }
  }
  run(w, outcomes);
  return outcomes;
}

void redis_cache::append(window& w, std::size_t index, const mirror_step& step,
                         const mirror_chunk& chunk) const {
  const list_sizes sizes{step, chunk};
  const key_names keys{step.queue, step.generation};
  auto& out = w.calls;
  w.steps.push_back(index);
  out.begin(apply_fixed_words + sizes.words());
  out.add("EVALSHA");
  out.add(apply_.sha);
  out.add(4);
  for (const auto& key : {keys.head(), keys.waiting(), keys.active(), keys.inventory()}) out.add(key);
  out.add(step.generation);
  out.add(step.number);
  out.add(chunk.part);
  out.add(chunk.last ? step.number + 1 : step.number);
  out.add(chunk.last ? 0 : chunk.part + 1);
  out.add(chunk.last && step.ready ? 1 : 0);
  out.add(keys.sessions());
  for (const auto count : {sizes.joined, sizes.left, sizes.begun, sizes.ended, sizes.stock}) out.add(count);
  add_lists(out, step, chunk);
}

/// Sends the calls and empties the window. A server that lost the script refuses a call; the head check then
/// refuses the calls that depend on it. Only these are sent again, in order.
void redis_cache::run(window& w, std::vector<step_outcome>& outcomes) {
  for (int fruitless = 0; w.calls.size() != 0;) {
    const auto sent = std::exchange(w, {});
    const auto replies = connection_.run(sent.calls);
    bool forgotten = false;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      const auto reply = replies.at(i);
      const auto code = reply.error_code();
      forgotten = forgotten || code == "NOSCRIPT";
      const bool refused = code == "NOSCRIPT" || code == foreign_key || reply.integer() == 0;
      if (!refused) continue;
      if (forgotten) {
        w.calls.copy(sent.calls, i);
        w.steps.push_back(sent.steps[i]);
      } else {
        outcomes[sent.steps[i]] = step_outcome::lost;
      }
    }
    if (!forgotten) return;
    fruitless = w.calls.size() < sent.calls.size() ? 0 : fruitless + 1;
    if (fruitless > fruitless_loads_max) throw cache_unavailable(forgetful);
    load(apply_);
  }
}

/// Deletes the keys of an earlier generation; before step 0, which starts the next one.
void redis_cache::clear(const mirror_step& step) {
  const key_names keys{step.queue, 0};
  const std::array<std::string, 4> words{keys.head(), vouched_key(step.aggregate), keys.stem,
                                         std::to_string(mirror_chunk_max)};
  while (call(clear_, std::span{&words, 1}).front() == static_cast<std::int64_t>(mirror_chunk_max)) {}
}

/// Runs a script with two keys once for each list of words, in one round trip; returns the answers. Runs all
/// again if the server had lost the script.
template <std::size_t N>
std::vector<std::int64_t> redis_cache::call(script& s, std::span<const std::array<std::string, N>> calls) {
  for (int fruitless = 0; fruitless <= fruitless_loads_max; ++fruitless) {
    if (s.sha.empty()) load(s);
    redis_pipeline all;
    for (const auto& words : calls) {
      all.begin(3 + N);
      for (const auto word : {std::string_view{"EVALSHA"}, std::string_view{s.sha}, std::string_view{"2"}})
        all.add(word);
      for (const auto& word : words) all.add(word);
    }
    const auto replies = connection_.run(all);
    std::vector<std::int64_t> answers;
    for (std::size_t i = 0; i < replies.size() && replies.at(i).error_code() != "NOSCRIPT"; ++i)
      answers.push_back(replies.at(i).integer());
    if (answers.size() == replies.size()) return answers;
    s.sha.clear();
  }
  throw cache_unavailable(forgetful);
}

void redis_cache::load(script& s) {
  const auto replies = connection_.run({"SCRIPT", "LOAD", s.source});
  s.sha = replies.at(0).text().value_or("");
}

// -- reads

namespace {

bool is_at(const redis_value& head, std::uint64_t generation, std::uint64_t steps_taken) {
  const std::array wanted{std::to_string(generation), std::to_string(steps_taken), std::string{"0"},
                          std::string{"1"}};
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (head.at(i).text() != wanted[i]) return false;
  return true;
}

void ask_head(redis_pipeline& out, const key_names& keys) {
  out.command({"HMGET", keys.head(), "generation", "steps", "part", "ready"});
}

/// All members of a sorted set, in order of score.
std::vector<std::string> members_of(redis_connection& connection, const std::string& key, std::size_t count) {
  std::vector<std::string> members;
  members.reserve(count);
  for (std::size_t from = 0; from < count;) {
    redis_pipeline ranges;
    for (; from < count && ranges.size() < read_window; from += read_chunk)
      ranges.command({"ZRANGE", key, std::to_string(from), std::to_string(from + read_chunk - 1)});
    const auto replies = connection.run(ranges);
    for (std::size_t i = 0; i < replies.size(); ++i)
      for (std::size_t j = 0; j < replies.at(i).size(); ++j)
        members.emplace_back(replies.at(i).at(j).text().value_or(""));
  }
  return members;
}

/// The values of keys, `read_chunk` at a time; empty for a missing key.
std::vector<std::optional<std::string>> values_of(redis_connection& connection, const std::string& prefix,
                                                  std::span<const std::string> names) {
  std::vector<std::optional<std::string>> values;
  values.reserve(names.size());
  while (!names.empty()) {
    const auto some = names.first(std::min(names.size(), read_chunk));
    names = names.subspan(some.size());
    redis_pipeline get;
    get.begin(1 + some.size());
    get.add("MGET");
    for (const auto& name : some) get.add(prefix + name);
    const auto replies = connection.run(get);
    for (std::size_t i = 0; i < replies.at(0).size(); ++i) values.emplace_back(replies.at(0).at(i).text());
  }
  return values;
}

bool read_waiting(redis_connection& connection, const std::string& key, std::size_t count,
                  mirror_image& image) {
  for (const auto& member : members_of(connection, key, count)) {
    const auto number = parse_number(member);
    if (!number) return false;
    image.waiting.push_back(*number);
  }
  return true;
}

/// A session without a key has ended.
bool read_sessions(redis_connection& connection, const key_names& keys, std::size_t count,
                   mirror_image& image) {
  const auto ids = members_of(connection, keys.active(), count);
  const auto values = values_of(connection, keys.sessions(), ids);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!values[i]) continue;
    const auto id = parse_uuid(ids[i]);
    const auto session = id ? parse_session(*id, *values[i]) : std::nullopt;
    if (!session) return false;
    image.sessions.push_back(*session);
  }
  std::ranges::sort(image.sessions, {}, &mirrored_session::number);
  return true;
}

bool read_stock(const redis_value& inventory, mirror_image& image) {
  for (std::size_t i = 0; i + 1 < inventory.size(); i += 2) {
    const auto stock =
      parse_stock(inventory.at(i).text().value_or(""), inventory.at(i + 1).text().value_or(""));
    if (!stock) return false;
    image.stock.push_back(*stock);
  }
  std::ranges::sort(image.stock, {}, &mirrored_stock::id);
  return true;
}

} // namespace

cache::reading redis_cache::read(const uuid& queue, std::uint64_t generation, std::uint64_t steps_taken) {
  const key_names keys{queue, generation};
  redis_pipeline first;
  ask_head(first, keys);
  first.command({"ZCARD", keys.waiting()});
  first.command({"ZCARD", keys.active()});
  first.command({"HGETALL", keys.inventory()});
  const auto replies = connection_.run(first);
  for (std::size_t i = 0; i < replies.size(); ++i)
    if (replies.at(i).error_code() == foreign_key) return {};
  if (!is_at(replies.at(0), generation, steps_taken)) return {};

  reading result{true, {}};
  const auto waiting = static_cast<std::size_t>(replies.at(1).integer());
  const auto active = static_cast<std::size_t>(replies.at(2).integer());
  if (!read_waiting(connection_, keys.waiting(), waiting, result.image)
      || !read_sessions(connection_, keys, active, result.image) || !read_stock(replies.at(3), result.image))
    return {};
  // If it changed during the read, the image is not of one moment.
  redis_pipeline again;
  ask_head(again, keys);
  const auto last = connection_.run(again);
  return is_at(last.at(0), generation, steps_taken) ? std::move(result) : reading{};
}

// -- for other nodes

namespace {

std::optional<vouched_mirror> parse_vouched(aggregate_id aggregate, std::string_view value) {
  vouched_mirror mirror;
  mirror.aggregate = aggregate;
  std::uint32_t tenant = 0;
  if (!take_number(value, mirror.generation) || !take_number(value, mirror.word)
      || !take_number(value, tenant))
    return std::nullopt;
  const auto queue = parse_uuid(value);
  if (!queue) return std::nullopt;
  mirror.queue = *queue;
  mirror.tenant = tenant_id{tenant};
  return mirror;
}

} // namespace

std::string redis_cache::vouched_key(aggregate_id aggregate) const {
  return "fairqueue:" + space_ + ":mirror:" + std::to_string(number_of(aggregate));
}

/// Reads the server's clock first, so that a late script can detect that it is late.
std::vector<step_outcome> redis_cache::vouch(std::span<const vouched_mirror> mirrors) {
  const auto clock = connection_.run({"TIME"});
  std::int64_t now_s = 0, now_us = 0;
  auto s = clock.at(0).at(0).text().value_or(""), us = clock.at(0).at(1).text().value_or("");
  if (!take_number(s, now_s) || !take_number(us, now_us))
    throw cache_unavailable("redis does not tell the time");
  const auto until = std::to_string(now_s * 1'000'000 + now_us + vouch_delay_max.count() * 1'000);
  std::vector<std::array<std::string, 7>> words;
  words.reserve(mirrors.size());
  for (const auto& m : mirrors)
    words.push_back({key_names{m.queue, 0}.head(), vouched_key(m.aggregate), std::to_string(m.generation),
                     std::to_string(m.steps_taken),
                     std::to_string(static_cast<std::uint32_t>(m.tenant)) + ' ' + to_string(m.queue),
                     std::to_string(vouch_life.count()), until});
  std::vector<step_outcome> outcomes;
  for (std::span<const std::array<std::string, 7>> rest{words}; !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), window_calls_max));
    rest = rest.subspan(some.size());
    const auto done = call(vouch_, some);
    std::ranges::transform(done, std::back_inserter(outcomes),
                           [](auto n) { return n == 0 ? step_outcome::lost : step_outcome::applied; });
  }
  return outcomes;
}

std::vector<std::optional<vouched_mirror>> redis_cache::find_mirrors(
  std::span<const aggregate_id> aggregates) {
  std::vector<std::string> names;
  for (const auto aggregate : aggregates) names.push_back(vouched_key(aggregate));
  const auto values = values_of(connection_, "", names);
  std::vector<std::optional<vouched_mirror>> found(aggregates.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (values[i]) found[i] = parse_vouched(aggregates[i], *values[i]);
  return found;
}

/// Reads the vouches last: a server that restarts with an old dump does so before them.
std::vector<session_reading> redis_cache::find_sessions(std::span<const session_question> questions) {
  std::vector<std::string> names;
  for (const auto& q : questions)
    names.push_back(key_names{q.mirror.queue, q.mirror.generation}.sessions() + to_string(q.entry));
  std::map<aggregate_id, std::size_t> vouch_of; // index in names
  for (const auto& q : questions)
    if (vouch_of.try_emplace(q.mirror.aggregate, names.size()).second)
      names.push_back(vouched_key(q.mirror.aggregate));
  const auto values = values_of(connection_, "", names);
  std::vector<session_reading> found(questions.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [mirror, entry] = questions[i];
    if (values[i]) found[i].session = parse_session(entry, *values[i]);
    const auto& vouch = values[vouch_of.at(mirror.aggregate)];
    const auto now = vouch ? parse_vouched(mirror.aggregate, *vouch) : std::nullopt;
    if (now && now->is_same_mirror(mirror)) found[i].word = now->word;
  }
  return found;
}

void redis_cache::ping() { connection_.run({"SET", "fairqueue:ping", "1", "PX", "1000"}); }

} // namespace fq
