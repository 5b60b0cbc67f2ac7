// SPDX-License-Identifier: Apache-2.0
// Limits of JSON input and of log pages.
#pragma once
#include <cstddef>
#include <cstdint>

namespace fq::net {

/// Allowed numbers, or sizes in bytes.
struct range {
  std::int64_t low;
  std::int64_t high;
};

/// Levels of a body: the API uses 4.
inline constexpr std::size_t json_depth_max = 16;
/// Errors reported, so that a hostile body cannot cause a long answer.
inline constexpr std::size_t json_errors_max = 20;
/// Members of an object: the settings of an event are the most, and each route knows its names.
inline constexpr std::size_t json_members_max = 50;
/// Elements of an array, bytes of a name and of a text: far more than any route takes, to stop a hostile body
/// while it is read.
inline constexpr std::size_t json_elements_max = 10'000, json_name_max = 200, json_text_max = 16 * 1024;
/// Objects, arrays and fractions of a body together: an order of 50 items with seats and 100 answers has 204.
inline constexpr std::size_t json_costly_values_max = 210;
/// Bytes of an order, as JSON or as a form: 100 answers of 500 bytes, of which each may take three characters
/// (\u00e9, %C3%A9), and 16 KB for the rest.
inline constexpr std::size_t order_body_max = 176 * 1024;

/// Bytes of a cell and cells of a line of CSV: more than any file that is read here has.
inline constexpr std::size_t csv_cell_max = 1'000, csv_cells_max = 50;
/// Bytes of a seat plan from a file: 50,000 seats have 2 to 4 MB.
inline constexpr std::size_t plan_bytes_max = 16 * 1024 * 1024;

/// Bytes of a list after which its page ends, however many rows were asked for. A row may have 20 KB.
inline constexpr std::size_t page_bytes_max = 128 * 1024;

/// Minor units; sums of 1,000,000 such prices fit into 64 bits.
inline constexpr range money_range{0, 1'000'000'000'000};
/// RFC 5321: bytes of an address.
inline constexpr range email_size{3, 254};

/// Rows of a log that one request reads. State and channel have no index, which would slow every delivery; a
/// month may have a million rows. On SQLite, the thread that commits sales also reads these rows. A row has
/// less than 2 KB, so a request reads at most 2 MB in about 10 ms.
inline constexpr std::size_t rows_looked_at_max = 1'000;
/// Rows per piece, about 1 ms; sales are committed between two pieces.
inline constexpr std::size_t rows_per_look = 100;

/// Bytes of a solved challenge: ours have about 400.
inline constexpr std::size_t challenge_bytes_max = 1'000;
inline constexpr range challenge_size{1, 1'000};

/// Ids of an event's questions, which it numbers.
inline constexpr range question_id_range{1, 1'000'000};
inline constexpr range attendee_range{1, 5'000}; ///< as many as an order may have tickets

} // namespace fq::net
