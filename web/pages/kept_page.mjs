// SPDX-License-Identifier: Apache-2.0
// What service workers show of a page that they keep.

/**
 * The network's `answer`, a promise, so that a new version of the server is seen; `copy` if a proxy answers
 * with an error, or nothing comes in time. Without a copy: what the network says.
 */
export function newest(answer, copy, patience_ms = 4_000) {
  if (!copy) return answer;
  const slow = new Promise((resolve) => {
    setTimeout(() => resolve(copy), patience_ms);
  });
  const good = answer.then(
    (a) => (a.status >= 500 || a.status === 429 ? copy : a),
    () => copy,
  );
  return Promise.race([good, slow]);
}
