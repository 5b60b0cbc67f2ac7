// SPDX-License-Identifier: Apache-2.0
// Runs scripts/services and reads its output lines `export NAME=value`.
#include "tests/store/postgres/postgres_server.hpp"

#include "store/postgres/postgres_migrations.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>

#include <unistd.h>

namespace fq::test {
namespace {

const std::string script = SERVICES_SCRIPT;

/// The output of a command. Throws if it fails; its error messages go to stderr.
std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error{"cannot run " + command};
  std::string text;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe)) text += part.data();
  if (::pclose(pipe) != 0)
    throw std::runtime_error{"tests of the Postgres ledger need a server, and this failed: " + command};
  return text;
}

std::string exported(const std::string& text, const std::string& name) {
  const auto key = "export " + name + "=";
  const auto begin = text.find(key);
  if (begin == std::string::npos) throw std::runtime_error{script + " does not tell " + name};
  const auto value = begin + key.size();
  return text.substr(value, text.find('\n', value) - value);
}

std::string fresh_name() {
  static int count = 0;
  return "fq_test_" + std::to_string(::getpid()) + "_" + std::to_string(++count);
}

/// Runs `statement` for each table of the current schema. In it %1$I is the table, %2$I the schema.
std::string for_each_table(const std::string& statement) {
  return "DO $do$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = "
         "current_schema() LOOP EXECUTE format('"
         + statement + "', t, current_schema()); END LOOP; END $do$";
}

/// A schema with a new ledger. Temporary tables of the same names keep the rows of the migrations.
struct migrated_schema : postgres_schema {
  migrated_schema() {
    migrate_up_of_url(url());
    execute(for_each_table("CREATE TEMP TABLE %1$I AS TABLE %2$I.%1$I"));
    execute("SET synchronous_commit = off; SET session_replication_role = replica"); // no trigger runs
  }
};

} // namespace

private_postgres::private_postgres() {
  const auto text = output_of(script + " start --postgres --parent " + std::to_string(::getpid()));
  folder_ = exported(text, "FAIRQUEUE_SERVICES");
  url_ = exported(text, "FAIRQUEUE_TEST_POSTGRES");
}

private_postgres::~private_postgres() {
  try {
    output_of(script + " stop " + folder_);
  } catch (const std::runtime_error&) {
    // The script has printed the reason. The server ends with this process at the latest.
  }
}

void private_postgres::tell(const std::string& verb) {
  output_of(script + " " + verb + " postgres " + folder_);
}

const std::string& shared_postgres_url() {
  static std::optional<private_postgres> own;
  static const std::string url = [] {
    const char* given = std::getenv("FAIRQUEUE_TEST_POSTGRES");
    return given ? std::string{given} : own.emplace().url();
  }();
  return url;
}

std::string with_parameter(const std::string& url, const std::string& name, const std::string& value) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + name + "=" + value;
}

postgres_schema::postgres_schema(const std::string& server) :
    name_(fresh_name()),
    url_(with_parameter(server, "options", "-csearch_path%3D" + name_)),
    hand_(postgres_url{url_}, {}) {
  execute("CREATE SCHEMA " + name_);
}

postgres_schema::~postgres_schema() {
  try {
    hand_.abandon();
    execute("SET lock_timeout = 0; SET synchronous_commit = off; DROP SCHEMA " + name_ + " CASCADE");
  } catch (const postgres_error&) {
    // The test has stopped the server.
  }
}

const std::string& empty_ledger_url() {
  static migrated_schema schema;
  schema.execute(for_each_table("DELETE FROM %2$I.%1$I; INSERT INTO %2$I.%1$I "
                                "OVERRIDING SYSTEM VALUE TABLE pg_temp.%1$I"));
  schema.execute("ALTER SEQUENCE task_id_seq RESTART");
  return schema.url();
}

std::int64_t postgres_schema::integer(const std::string& sql) {
  postgres_pipeline pipeline(hand_);
  pipeline.send(sql);
  pipeline.flush();
  return pipeline.receive()[0].integer(0);
}

} // namespace fq::test
