// SPDX-License-Identifier: Apache-2.0
// Checkpoints as signed notes, cosignatures of witnesses, and receipts (c2sp.org/signed-note,
// tlog-checkpoint, tlog-cosignature, tlog-witness, tlog-proof). Ed25519 only.
#pragma once
#include "crypto/ed25519.hpp"
#include "domain/base/time.hpp"
#include "domain/model/log_rows.hpp"
#include "fair/merkle.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// The byte in a key's id that says what the key signs.
enum class note_key_kind : std::uint8_t { log = 1, witness = 4 };

/// What verifies a log's or a witness's signatures.
struct note_verifier {
  std::string name; ///< of a log: its origin. Without blanks and '+'
  note_key_kind kind = note_key_kind::log;
  ed25519_public_key key{};
  [[nodiscard]] std::array<std::uint8_t, 4> id() const;
  /// A verifier key: "<name>+<id>+<base64 of kind and key>".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const note_verifier&, const note_verifier&) = default;
};
[[nodiscard]] std::optional<note_verifier> parse_note_verifier(std::string_view text);

/// The seed of all logs of an installation. `stored`: key_store::stored.
[[nodiscard]] secret_key log_seed_of(const secret_key& stored);
/// The seed of the installation as a witness: another key, because its cosignatures do not name the witness.
[[nodiscard]] secret_key witness_seed_of(const secret_key& stored);

struct checkpoint {
  std::string origin;
  std::uint64_t size = 0;
  tree_hash root{};
  friend bool operator==(const checkpoint&, const checkpoint&) = default;
};

/// The signed text: three lines.
[[nodiscard]] std::string text_of(const checkpoint& c);
/// Of a whole note: text, empty line, signatures. Empty for extension lines or anything that is not
/// canonical.
struct checkpoint_note {
  checkpoint content;
  std::string text; ///< what is signed
  std::string signatures; ///< lines
};
[[nodiscard]] std::optional<checkpoint_note> parse_checkpoint(std::string_view note);

/// The whole note with the log's signature.
[[nodiscard]] std::string sign_checkpoint(const checkpoint& c, const secret_key& seed);
/// The same of a stored log, under its seed: always the same bytes, so that a checkpoint need not be stored.
[[nodiscard]] std::string sign_log(const log_state_row& log, const secret_key& stored);
/// A witness's signature line over a checkpoint's text, which says when it has seen the log.
[[nodiscard]] std::string cosign(std::string_view checkpoint_text, std::string_view name,
                                 const secret_key& seed, timestamp now);

/// Whether the note's first signature of this key is valid. Further ones are ignored, as c2sp.org/signed-note
/// has it: they would cost work and room.
[[nodiscard]] bool is_signed_by(const checkpoint_note& note, const note_verifier& verifier);
/// The line of that signature; empty if it is not valid, or there is none.
[[nodiscard]] std::string signature_of(const checkpoint_note& note, const note_verifier& verifier);

/// The body of a request to a witness. Precondition: the proof has at most 63 hashes.
[[nodiscard]] std::string add_checkpoint_body(std::uint64_t old_size, std::span<const tree_hash> proof,
                                              std::string_view note);
struct add_checkpoint_request {
  std::uint64_t old_size = 0;
  tree_proof proof;
  checkpoint_note note;
};
[[nodiscard]] std::optional<add_checkpoint_request> parse_add_checkpoint(std::string_view body);

/// A tlog-proof of the entry at `index`.
[[nodiscard]] std::string proof_text(std::string_view extra, std::uint64_t index,
                                     std::span<const tree_hash> proof, std::string_view note);

} // namespace fq
