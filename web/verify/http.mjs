// SPDX-License-Identifier: Apache-2.0
// Reads a log below an address, in browsers and Node. A server that hangs, sends without end, breaks off or
// is busy for a moment does not end the check.
import { concat } from './bytes.mjs';

const timeout_ms = 30_000;
const tries = 4;
const longest_pause_s = 30;
/** A bundle of 256 entries of 65,535 bytes, each after its length. */
const bytes_max = 256 * 65_537;

const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

async function body_of(answer) {
  const parts = [];
  let size = 0;
  for (const reader = answer.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return parts.length === 1 ? parts[0] : concat(...parts);
    size += value.length;
    if (size > bytes_max) {
      await reader.cancel();
      throw Object.assign(new Error(`${answer.url} is too large`), { is_final: true });
    }
    parts.push(value);
  }
}

/** Without bytes: ask again after `wait` seconds. */
async function try_once(url, cache) {
  let answer;
  try {
    answer = await fetch(url, { cache, signal: AbortSignal.timeout(timeout_ms) });
    if (answer.ok) return { bytes: await body_of(answer), date: date_of(answer.headers) };
  } catch (error) {
    if (error.is_final) throw error;
    return { why: `${url} does not answer: ${error.cause?.message ?? error.message}`, wait: 1 };
  }
  const why = `${url} answered ${answer.status}`;
  if (answer.status !== 429 && answer.status < 500)
    throw Object.assign(new Error(why), { status: answer.status });
  return { why, wait: Math.min(Number(answer.headers.get('Retry-After')) || 1, longest_pause_s) };
}

/** What the server's clock says, in ms; undefined if it does not say. A cache adds how old its answer is. */
function date_of(headers) {
  const at = Date.parse(headers.get('Date')) + 1000 * (Number(headers.get('Age')) || 0);
  return Number.isFinite(at) ? at : undefined;
}

/**
 * `base`: the log's address with a slash at its end. Returns what verify() reads with; its `date` is the
 * server's time of the last answer. `cache`: as that of fetch().
 */
export function http_reader(base) {
  const read = async (name, cache = 'no-cache') => {
    const url = new URL(name, base);
    for (let left = tries; ;) {
      const { bytes, date, why, wait } = await try_once(url, cache);
      read.date = date;
      if (bytes) return bytes;
      if (--left === 0) throw new Error(why);
      await pause(wait);
    }
  };
  return read;
}
