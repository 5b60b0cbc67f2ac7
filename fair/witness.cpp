// SPDX-License-Identifier: Apache-2.0
#include "fair/witness.hpp"

namespace fq {

witness_verdict judge(const add_checkpoint_request& request, const note_verifier* log,
                      const witnessed& latest) {
  const auto& seen = request.note.content;
  if (log == nullptr || log->name != seen.origin) return witness_verdict::unknown_log;
  if (!is_signed_by(request.note, *log)) return witness_verdict::not_signed;
  if (request.old_size > seen.size) return witness_verdict::shrinks;
  if (request.old_size != latest.size) return witness_verdict::other_size;
  const bool empty_is_empty = seen.size > 0 || seen.root == sha256("");
  if (!empty_is_empty || !is_consistent(latest.size, latest.root, seen.size, seen.root, request.proof))
    return witness_verdict::inconsistent;
  return witness_verdict::cosign;
}

} // namespace fq
