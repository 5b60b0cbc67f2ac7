// SPDX-License-Identifier: Apache-2.0
// Build step: openapi_tool <openapi.yaml> <out.cpp> writes the source file that embeds the API description
// as JSON.
#include "net/tool/yaml_subset.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t literal_size = 96; ///< characters per line of the generated file

void write_literal(std::ofstream& out, std::string_view part) {
  out << "\n  \"";
  for (const char c : part) {
    if (c == '"' || c == '\\') out << '\\';
    out << c;
  }
  out << '"';
}

void write_source(std::ofstream& out, std::string_view json) {
  out << "// Generated from docs/openapi.yaml by net/tool/openapi_tool.cpp. Do not edit.\n"
         "#include \"net/pages/openapi.hpp\"\n\n"
         "namespace fq::net {\n\nstd::string_view openapi_json() {\n  static constexpr char text[] =";
  for (; !json.empty(); json.remove_prefix(std::min(literal_size, json.size())))
    write_literal(out, json.substr(0, literal_size));
  out << ";\n  return {text, sizeof text - 1};\n}\n\n} // namespace fq::net\n";
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: openapi_tool <openapi.yaml> <out.cpp>\n");
    return 2;
  }
  try {
    std::ifstream in{argv[1], std::ios::binary};
    const std::string yaml{std::istreambuf_iterator<char>{in}, {}};
    std::ofstream out{argv[2], std::ios::binary};
    write_source(out, fq::net::yaml_to_json(yaml));
    out.flush();
    if (!in || !out) throw std::runtime_error("cannot read or write");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
    return 1;
  }
}
