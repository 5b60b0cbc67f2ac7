// SPDX-License-Identifier: Apache-2.0
// The name that a node makes for itself and keeps.
#define CAF_SUITE config_node_id
#include "caf/test/unit_test.hpp"

#include "config/load.hpp"
#include "config/node_id.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

using namespace fq::config;

namespace {

struct fixture {
  std::filesystem::path folder;

  fixture() {
    std::string name = (std::filesystem::temp_directory_path() / "fairqueue-config-XXXXXX").string();
    CAF_REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~fixture() { std::filesystem::remove_all(folder); }

  std::string write(const char* name, const std::string& text) const {
    const auto file = (folder / name).string();
    std::ofstream{file} << text;
    return file;
  }
};

bool fails_to_name_itself(const options& o) {
  try {
    return node_id(o, "node-1").empty();
  } catch (const std::runtime_error& e) { return std::string{e.what()}.find("node-id") != std::string::npos; }
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(node_id_tests, fixture)

CAF_TEST(a node keeps the name it made for itself) {
  auto o = default_options();
  o.data_dir = folder;
  CAF_CHECK_EQUAL(node_id(o, "node-1"), "node-1");
  CAF_CHECK_EQUAL(node_id(o, "node-2"), "node-1");
  CAF_CHECK_EQUAL(std::distance(std::filesystem::directory_iterator{folder}, {}),
                  1); // no draft is left behind
  std::filesystem::remove(folder / "node-id");
  CAF_CHECK_EQUAL(node_id(o, "node-3"), "node-3");
  o.node.id = "fq-1";
  CAF_CHECK_EQUAL(node_id(o, "node-4"), "fq-1");
}

CAF_TEST(a spoilt node name is reported and not replaced) {
  auto o = default_options();
  o.data_dir = folder;
  for (const auto* text : {"", "Not A Name\n"}) {
    write("node-id", text);
    CAF_CHECK(fails_to_name_itself(o));
  }
  std::filesystem::remove(folder / "node-id");
  o.data_dir = folder / "absent";
  CAF_CHECK(fails_to_name_itself(o));
}

CAF_TEST_FIXTURE_SCOPE_END()
