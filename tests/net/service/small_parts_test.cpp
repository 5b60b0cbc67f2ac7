// SPDX-License-Identifier: Apache-2.0
// Small parts around the handlers: cursors, queries, CORS, HTML, metrics, the blocking lane.
#define CAF_SUITE routes_small_parts
#include "caf/test/unit_test.hpp"

#include "actors/base/measures.hpp"
#include "net/bridge/context.hpp"
#include "net/http/cors.hpp"
#include "net/http/encoding.hpp"
#include "net/http/query.hpp"
#include "net/pages/plain_page.hpp"
#include "net/service/metrics.hpp"
#include "net/service/offload.hpp"
#include "net/site/routes.hpp"
#include "net/wire/csv.hpp"
#include "net/wire/cursor.hpp"
#include "tests/net/api/requests.hpp"

#include <future>

namespace small_parts_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

secret_key secret(std::uint8_t fill) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(fill);
  return secret_key{std::span<const std::uint8_t, secret_key::size>{bytes}};
}
cursor_codec codec(std::uint8_t fill = 9) { return cursor_codec{secret(fill)}; }

const uuid ada{1, 1}, bob{2, 2};

std::string query_code(std::string target, std::initializer_list<std::string_view> known) {
  const made_request made{method::get, std::move(target)};
  std::optional<response> no;
  (void)query_parameters::read(made.rq, known, no);
  return no ? made::code_of(*no) : "";
}

} // namespace

CAF_TEST(a cursor leads back to its place in its list only) {
  const auto cursors = codec();
  const auto text = cursors.encode(ada, aggregate_id{123456});
  CAF_CHECK(cursors.decode(ada, text) == aggregate_id{123456});
  CAF_CHECK(!cursors.decode(bob, text));
  CAF_CHECK(!cursors.decode(uuid{}, text));
  CAF_CHECK(!codec(8).decode(ada, text));
}

CAF_TEST(cursors of an older key lead back while it is valid) {
  auto cursors = codec(8);
  const auto old = cursors.encode(ada, aggregate_id{7});
  cursors.renew({secret(9), secret(8)});
  CAF_CHECK(cursors.decode(ada, old) == aggregate_id{7});
  CAF_CHECK_EQUAL(cursors.encode(ada, aggregate_id{7}), codec(9).encode(ada, aggregate_id{7}));
  cursors.renew({secret(9)});
  CAF_CHECK(!cursors.decode(ada, old));
}

CAF_TEST(a changed cursor is refused) {
  const auto cursors = codec();
  const auto good = cursors.encode(ada, aggregate_id{20});
  int accepted = 0;
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char c :
         std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ "}) {
      auto changed = good;
      changed[i] = c;
      accepted += changed != good && cursors.decode(ada, changed);
    }
  CAF_CHECK_EQUAL(accepted, 0);
  for (const auto& wrong :
       {std::string{}, good + "A", good.substr(1), std::string(4000, 'A'), std::string{"null"}})
    CAF_CHECK(!cursors.decode(ada, wrong));
}

CAF_TEST(queries take known names once) {
  CAF_CHECK_EQUAL(query_code("/x", {}), "");
  CAF_CHECK_EQUAL(query_code("/x?", {}), "");
  CAF_CHECK_EQUAL(query_code("/x?a=1", {}), "unknown_parameter");
  CAF_CHECK_EQUAL(query_code("/x?a=1&b=2", {"a", "b"}), "");
  CAF_CHECK_EQUAL(query_code("/x?a=1&a=2", {"a"}), "invalid_parameter");
  CAF_CHECK_EQUAL(query_code("/x?%61=1", {"a"}), "unknown_parameter");
  CAF_CHECK_EQUAL(query_code("/x?A=1", {"a"}), "unknown_parameter");
}

CAF_TEST(limits of lists) {
  CAF_CHECK_EQUAL(parse_limit("1").value_or(0), 1u);
  CAF_CHECK_EQUAL(parse_limit("200").value_or(0), 200u);
  CAF_CHECK_EQUAL(parse_limit("201").value_or(0), 200u);
  CAF_CHECK_EQUAL(parse_limit("9999999999999999999").value_or(0), 200u);
  for (const auto* wrong : {"", "0", "-1", "1e9", "+1", " 1", "1.0", "x"}) CAF_CHECK(!parse_limit(wrong));
}

CAF_TEST(origins are matched exactly and null never is) {
  const std::vector<std::string> allowed{"https://shop.example", "http://localhost:3000"};
  CAF_CHECK(origin_allowed(allowed, "https://shop.example"));
  CAF_CHECK(origin_allowed(allowed, "HTTPS://Shop.Example"));
  for (const auto* wrong : {"", "null", "https://shop.example.evil", "https://shop.example:444",
                            "http://shop.example", "https://shop", "http://localhost"})
    CAF_CHECK(!origin_allowed(allowed, wrong));
  CAF_CHECK(!origin_allowed({"null"}, "null"));
}

CAF_TEST(an allowed origin gets the fields and a foreign one does not ) {
  const std::vector<std::string> allowed{"https://shop.example"};
  const auto fields = [&](const char* origin) {
    const made_request made{method::get, "/x", "", {{"Origin", origin}}};
    response answer;
    add_cors(allowed, made.rq, answer);
    return answer;
  };
  CAF_CHECK_EQUAL(field_of(fields("https://shop.example"), "Access-Control-Allow-Origin"),
                  "https://shop.example");
  CAF_CHECK_EQUAL(field_of(fields("https://evil.example"), "Access-Control-Allow-Origin"), "");
  CAF_CHECK_EQUAL(field_of(fields("null"), "Access-Control-Allow-Origin"), "");
  CAF_CHECK_EQUAL(field_of(fields("https://evil.example"), "Vary"), "Origin");
  CAF_CHECK_EQUAL(field_of(fields("https://shop.example"), "Access-Control-Allow-Credentials"), "");
}

CAF_TEST(a preflight is an OPTIONS that asks for a method) {
  const std::vector<std::string> allowed{"https://shop.example"};
  const made_request asks{method::options,
                          "/x",
                          "",
                          {{"Origin", "https://shop.example"}, {"Access-Control-Request-Method", "POST"}}};
  const made_request plain{method::options, "/x", "", {{"Origin", "https://shop.example"}}};
  CAF_CHECK(is_preflight(asks.rq));
  CAF_CHECK(!is_preflight(plain.rq));
  const auto answer = preflight(allowed, asks.rq, "GET, POST");
  CAF_CHECK_EQUAL(answer.status, 204u);
  CAF_CHECK_EQUAL(field_of(answer, "Access-Control-Allow-Methods"), "GET, POST");
  const made_request foreign{
    method::options, "/x", "", {{"Origin", "https://e"}, {"Access-Control-Request-Method", "POST"}}};
  CAF_CHECK_EQUAL(field_of(preflight(allowed, foreign.rq, "GET"), "Access-Control-Allow-Methods"), "");
}

CAF_TEST(text in pages is escaped and nothing may run) {
  CAF_CHECK_EQUAL(escaped("<script>&\"'</script>"), "&lt;script&gt;&amp;&quot;&#39;&lt;/script&gt;");
  page_data data;
  data.set("REFERENCE", "<b>");
  data.set_optional("SHOP", "javascript:alert(1)");
  const auto answer = plain_page("sandbox", std::move(data), page_rights::forms);
  CAF_CHECK(answer.body.find("<code>&lt;b&gt;</code>") != std::string::npos);
  CAF_CHECK(answer.body.find("javascript:") == std::string::npos);
  const auto policy = field_of(answer, "Content-Security-Policy");
  CAF_CHECK(policy.starts_with("default-src 'none'; "));
  CAF_CHECK(policy.find("; style-src 'sha256-") != std::string::npos);
  CAF_CHECK(policy.find("unsafe") == std::string::npos && policy.find("script-src") == std::string::npos);
}

CAF_TEST(a client gets the coding it would rather have and the smallest where it does not mind) {
  constexpr std::array all{coding::brotli, coding::gzip, coding::identity};
  constexpr std::array without_brotli{coding::gzip, coding::identity};
  for (const auto* text :
       {"br", "gzip, deflate, br, zstd", "BR;q=0.5", "*", "gzip;q=0.9, *", "br;q=0.5, gzip;q=0.5"})
    CAF_CHECK_EQUAL(name_of(choose_coding(text, all)), "br");
  for (const auto* text : {"gzip", "GZIP;q=0.2", "br;q=0.8, gzip", "br;q=0, gzip", "*, br;q=0",
                           " br ;q=0.1 ,\tgzip ; q=0.2", "br;q=nonsense, gzip;q=0.1"})
    CAF_CHECK_EQUAL(name_of(choose_coding(text, all)), "gzip");
  for (const auto* text : {"", "identity", "gzip;q=0", "gzip; q=0.000", "*;q=0", "gzip2", ",,;",
                           "identity, gzip;q=0.5", "gzip;q=2"})
    CAF_CHECK_EQUAL(name_of(choose_coding(text, all)), "identity");
  CAF_CHECK_EQUAL(name_of(choose_coding("br, gzip;q=0.1", without_brotli)), "gzip");
  CAF_CHECK_EQUAL(name_of(choose_coding("br", without_brotli)), "identity");
}

CAF_TEST(no cell is a formula wherever a reader splits) {
  const auto row_of = [](std::string_view cell) {
    std::string row;
    append_csv_row(row, {"a", cell});
    return row;
  };
  const std::pair<std::string_view, std::string_view> cells[] = {
    {"=1+1", R"("'=1+1")"},
    {"\t=1", "\"'\t'=1\""},
    {"x;=1+1;y", R"("x;'=1+1;y")"},
    {"x\t@sum", "\"x\t'@sum\""},
    {"x\r\n-1", "\"x\r\n'-1\""},
    {R"(x;"=1)", R"("x;'""=1")"},
    {R"(x;""+1")", R"("x;'""""+1""")"},
    {"a=b; c;d", R"("a=b; c;d")"},
    {";", R"(";")"},
    {"", R"("")"},
    {R"("=1")", R"("""=1""")"},
    {"x,=1", R"("x,=1")"}, // quoted text for parsers that honour quotes
  };
  for (const auto& [cell, written] : cells)
    CAF_CHECK_EQUAL(row_of(cell), "\"a\"," + std::string{written} + "\r\n");
}

CAF_TEST(metrics have help type and a bounded number of series) {
  const auto routes = public_routes(1);
  metrics counts{routes};
  for (int i = 0; i < 100'000; ++i)
    counts.observe(&routes[static_cast<std::size_t>(i) % routes.size()],
                   200 + static_cast<unsigned>(i % 4) * 100, std::chrono::microseconds{i});
  counts.observe(nullptr, 404, std::chrono::seconds{100});
  server_state state;
  const auto text = counts.text(state);
  CAF_CHECK(text.find("fairqueue_http_requests_total{route=\"none\",method=\"any\",status=\"4xx\"} 1\n")
            != std::string::npos);
  CAF_CHECK(text.find("# TYPE fairqueue_http_request_duration_seconds histogram\n") != std::string::npos);
  CAF_CHECK(
    text.find(
      "fairqueue_http_request_duration_seconds_bucket{route=\"/events/{id}\",method=\"GET\",le=\"0.0005\"}")
    != std::string::npos);
  // At most a histogram and a few counters per route, whatever requests arrive.
  CAF_CHECK_LESS(static_cast<std::size_t>(std::count(text.begin(), text.end(), 10)), 22 * routes.size());
  // All shop pages share one series and are counted.
  std::uint64_t shop = 0;
  for (std::size_t i = 0; i < routes.size(); ++i)
    if (routes[i].pattern.starts_with("/shop"))
      shop += 100'000 / routes.size() + (i < 100'000 % routes.size() ? 1 : 0);
  CAF_CHECK(text.find("fairqueue_http_request_duration_seconds_count{route=\"/shop/*\",method=\"any\"} "
                      + std::to_string(shop) + "\n")
            != std::string::npos);
  CAF_CHECK_EQUAL(text.back(), '\n');
}

CAF_TEST(a few events have series of their own and the rest is one) {
  metrics counts{std::span<const route>{}};
  measures numbers;
  server_state state;
  state.numbers = &numbers;
  std::vector<std::shared_ptr<board_seat>> seats;
  const auto tell = [&](std::uint64_t i, std::uint64_t waiting) {
    event_numbers n;
    n.waiting = waiting;
    n.sold = 1;
    n.revenue = 100;
    seats[i]->tell(n);
  };
  const auto lines = [](const std::string& text, const std::string& beginning) {
    std::vector<std::string> found;
    for (std::size_t at = text.find('\n' + beginning); at != std::string::npos;
         at = text.find('\n' + beginning, at + 1))
      found.push_back(text.substr(at + 1, text.find('\n', at + 1) - at - 1));
    return found;
  };
  const auto series = [&] { return std::ranges::count(counts.text(state), '\n'); };
  const auto sum = [&](const std::string& text, const std::string& state_label) {
    double all = 0;
    for (const auto& line : lines(text, "fairqueue_queue_entries{"))
      if (line.find("state=\"" + state_label + '"') != std::string::npos)
        all += std::stod(line.substr(line.rfind(' ')));
    return all;
  };
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    seats.push_back(numbers.sales.enter(uuid{3, i}, i % 2 == 0
                                                      ? "EUR"
                                                      : std::string{"A"} + static_cast<char>('A' + i % 26)
                                                          + static_cast<char>('A' + i / 26 % 26)));
    tell(i, i);
  }
  const auto many = counts.text(state);
  CAF_CHECK_EQUAL(lines(many, "fairqueue_queue_entries{").size(), 3 * (shown_events_max + 1));
  CAF_CHECK_EQUAL(sum(many, "waiting"), 3'000.0 * 2'999 / 2);
  CAF_CHECK(
    many.find("fairqueue_queue_entries{event=\"" + to_string(uuid{3, 2'999}) + "\",state=\"waiting\"} 2999\n")
    != std::string::npos);
  CAF_CHECK(many.find("fairqueue_tickets{event=\"other\",state=\"sold\"} "
                      + std::to_string(3'000 - shown_events_max) + "\n")
            != std::string::npos);
  CAF_CHECK(lines(many, "fairqueue_revenue_minor_units{").size() <= shown_events_max + 20);
  // Small changes keep the event names. The number of series is the same for a hundred events and for
  // thousands.
  const auto before = series();
  for (std::uint64_t i = 0; i < 100; ++i) tell(i, 5'000);
  const auto later = counts.text(state);
  CAF_CHECK(later.find(to_string(uuid{3, 2'999})) != std::string::npos);
  CAF_CHECK_EQUAL(series(), before);
  seats.clear();
  CAF_CHECK_EQUAL(lines(counts.text(state), "fairqueue_queue_entries{").size(), 3u);
}

CAF_TEST(the blocking lane runs jobs in order and brings results to the io thread) {
  boost::asio::io_context io;
  blocking_lane lane;
  std::optional<int> got;
  const auto wait_for_it = [](boost::asio::io_context& ctx, blocking_lane& l,
                              std::optional<int>& out) -> detached {
    auto result = co_await offload(ctx, l, [] { return 41 + 1; });
    out = result;
  };
  wait_for_it(io, lane, got);
  const auto guard = boost::asio::make_work_guard(io);
  while (!got) io.run_one_for(std::chrono::seconds{5});
  CAF_CHECK_EQUAL(*got, 42);
}

CAF_TEST(a lane is full by the cost of its jobs and not by their number) {
  std::promise<void> begun, end;
  blocking_lane lane{1, 10};
  CAF_REQUIRE(lane.run([&] {
    begun.set_value();
    end.get_future().wait();
  }));
  begun.get_future().wait();
  CAF_CHECK(lane.run([] {}, 8));
  CAF_CHECK(!lane.run([] {}, 3));
  CAF_CHECK(lane.run([] {}, 2));
  CAF_CHECK(!lane.run([] {}));
  end.set_value();
}

CAF_TEST(a job that costs more than the bound runs in an empty lane) {
  std::promise<void> ran;
  blocking_lane lane{1, 10};
  CAF_REQUIRE(lane.run([&] { ran.set_value(); }, 50));
  ran.get_future().wait();
}

CAF_TEST(a call that throws is no result) {
  boost::asio::io_context io;
  blocking_lane lane;
  bool done = false, none = false;
  const auto wait_for_it = [](boost::asio::io_context& ctx, blocking_lane& l, bool& ended,
                              bool& empty) -> detached {
    auto result = co_await offload(ctx, l, []() -> int { throw std::runtime_error("as told"); });
    empty = !result;
    ended = true;
  };
  wait_for_it(io, lane, done, none);
  const auto guard = boost::asio::make_work_guard(io);
  while (!done) io.run_one_for(std::chrono::seconds{5});
  CAF_CHECK(none);
}

CAF_TEST(a call for a full lane is no result and never runs) {
  std::promise<void> begun, end;
  boost::asio::io_context io;
  bool done = false, none = false, ran = false;
  {
    blocking_lane lane{1, 1};
    CAF_REQUIRE(lane.run([&] {
      begun.set_value();
      end.get_future().wait();
    }));
    begun.get_future().wait();
    CAF_REQUIRE(lane.run([] {}));
    const auto wait_for_it = [&]() -> detached {
      auto result = co_await offload(io, lane, [&ran] { return ran = true; });
      none = !result;
      done = true;
    };
    wait_for_it();
    const auto guard = boost::asio::make_work_guard(io);
    while (!done) io.run_one_for(std::chrono::seconds{5});
    end.set_value();
  }
  CAF_CHECK(none && !ran);
}

} // namespace small_parts_test
