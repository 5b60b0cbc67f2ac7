// SPDX-License-Identifier: Apache-2.0
// The public API for the console: the organizer's token (kept only in this page's memory), requests with a
// deadline, and problems in plain words. Knows no view.

const request_timeout_ms = 20_000;
/** Maximum of setTimeout: 2^31 - 1 ms. */
const timer_max_ms = 2 ** 31 - 1;

/** Base address of the API: beside this page, under any path of the server. */
const api_root = new URL('.', location.href.split('#')[0]);
const url_of = (path) => new URL(path.replace(/^\//, ''), api_root);

// -- problems -------------------------------------------------------------------------------------------

const sentences = {
  network: 'The server could not be reached. Please check the connection.',
  timeout: 'The server did not answer in time.',
  unauthenticated: 'Your sign-in has ended. Please sign in again.',
  forbidden: 'Your account may not do this.',
  not_found: 'There is nothing here, or it is not yours.',
  invalid_field: 'Some of your input is not valid.',
  nothing_to_refund: 'There is nothing left to refund on this order.',
  refund_open: 'A refund of this order is in progress. Please wait until it is done.',
  wrong_mode: 'Admission by hand needs the policy “operator”. Change the policy first.',
  no_gateway: 'This server has no payment gateway, so it sells free tickets only.',
  idempotency_in_progress: 'The first of these requests is still in progress.',
  internal_error: 'Something went wrong on the server.',
};

/** Replaces names of fields by words: "must be after sale_start". */
const plain = (text) => text.replace(/\b[a-z]+(_[a-z]+)+\b/g, (name) => name.replaceAll('_', ' '));

function sentence_of(body) {
  if (body.code === 'invalid_transition' && body.current_status)
    return `That is not possible while this is ${body.current_status.toLowerCase().replaceAll('_', ' ')}.`;
  if (body.code === 'total_below_committed')
    return `The new total is below the taken tickets: ${body.held} held and ${body.sold} sold.`;
  if (body.code === 'external_id_taken') return 'Another queue has this external id.';
  return sentences[body.code] ?? body.title ?? 'The server refused this.';
}

/** A refusal by the API, or no answer. `message` is for people. */
export class Problem extends Error {
  constructor(status, body, { retry_after = 0, is_change = false } = {}) {
    const seconds = retry_after > 1 ? ` Try again in ${retry_after} seconds.` : ' Try again in a moment.';
    const unsure =
      is_change && (status === 0 || status >= 500)
        ? ' It may have been done or not: look before you do it again.'
        : '';
    super(sentence_of(body) + (status === 429 || status === 503 ? seconds : '') + unsure);
    this.status = status;
    this.code = body.code;
    const is_said = body.detail === body.current_status || (body.code === 'invalid_field' && body.errors);
    this.detail = is_said ? '' : (body.detail ?? '');
    this.request_id = body.request_id ?? '';
    this.retry_after_ms = retry_after * 1000;
    /** By the path of the field in the request: "ticket_types[0].price". */
    this.fields = new Map((body.errors ?? []).map((error) => [error.field, plain(error.detail)]));
  }
}

// -- session --------------------------------------------------------------------------------------------

let session = null; // {token, email, organizer_id, expires_at}
let ending;
const listeners = new Set();

export const current_session = () => session;
/**
 * Calls `listener(session, left)` at each sign-in, sign-out (`left`) or expiry. Returns a function that
 * unsubscribes.
 */
export function on_session(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set_session(next, left = false) {
  clearTimeout(ending);
  session = next;
  if (next) {
    const left = Date.parse(next.expires_at) - Date.now();
    ending = setTimeout(() => set_session(null), Math.min(Math.max(left, 0), timer_max_ms));
  }
  listeners.forEach((listener) => listener(next, left));
}

export async function sign_in(email, password) {
  const answer = await request('POST', '/auth/organizer/login', {
    body: { email, password },
    anonymous: true,
  });
  set_session({
    token: answer.token,
    email,
    organizer_id: answer.organizer_id,
    expires_at: answer.expires_at,
  });
}

/** The sign-in's id in a token of ours. */
const session_id_of = (token) =>
  JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).sid;

/** Forgets the token, and ends the sign-in if the server can be reached. */
export function sign_out() {
  const token = session?.token;
  set_session(null, true);
  if (token)
    fetch(url_of(`/auth/organizer/sessions/${session_id_of(token)}`), {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${token}` },
      credentials: 'omit',
      keepalive: true,
    }).catch(() => {});
}

// -- requests -------------------------------------------------------------------------------------------

async function problem_of(answer, is_change) {
  const body = await answer.json().catch(() => ({}));
  const retry_after = Number(answer.headers.get('Retry-After')) || 0;
  return new Problem(
    answer.status,
    { code: `http_${answer.status}`, title: `The server answered ${answer.status}.`, ...body },
    { retry_after, is_change },
  );
}

/** `body`: JSON, or a Blob that is sent as it is. */
async function send(method, path, { body, key, anonymous, signal, timeout_ms = request_timeout_ms }) {
  if (!anonymous && !session) throw new Problem(401, { code: 'unauthenticated' });
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort('timeout'), timeout_ms);
  signal?.addEventListener('abort', () => deadline.abort('left'), { once: true });
  const headers = {};
  const is_file = body instanceof Blob;
  if (body !== undefined) headers['Content-Type'] = is_file ? body.type : 'application/json';
  if (key) headers['Idempotency-Key'] = key;
  const token = anonymous ? undefined : session?.token;
  if (token) headers.Authorization = `Bearer ${token}`;
  const is_change = method !== 'GET' && !anonymous;
  try {
    const answer = await fetch(url_of(path), {
      method,
      headers,
      body: body === undefined || is_file ? body : JSON.stringify(body),
      signal: deadline.signal,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
    });
    if (answer.ok) return { answer, done: () => clearTimeout(timer) };
    if (answer.status === 401 && token && token === session?.token) set_session(null);
    throw await problem_of(answer, is_change);
  } catch (error) {
    clearTimeout(timer);
    if (error instanceof Problem) throw error;
    if (signal?.aborted) throw error;
    throw new Problem(0, { code: deadline.signal.aborted ? 'timeout' : 'network' }, { is_change });
  }
}

/**
 * Returns the JSON of the answer. `key`: idempotency key of a request that must not happen twice. Throws a
 * Problem, or the abort reason of `signal`.
 */
export async function request(method, path, options = {}) {
  const { answer, done } = await send(method, path, options);
  try {
    return answer.status === 204 ? null : await answer.json();
  } catch {
    if (options.signal?.aborted) throw new DOMException('left', 'AbortError');
    throw new Problem(0, { code: 'network' }, { is_change: method !== 'GET' });
  } finally {
    done();
  }
}

export const get = (path, options) => request('GET', path, options);
export const post = (path, body, options) => request('POST', path, { body, ...options });
export const put = (path, body, options) => request('PUT', path, { body, ...options });
export const patch = (path, body, options) => request('PATCH', path, { body, ...options });
export const del = (path, body, options) => request('DELETE', path, { body, ...options });

/** The bytes of a public file; no sign-in is sent. */
export async function get_bytes(path, { signal } = {}) {
  const { answer, done } = await send('GET', path, { anonymous: true, signal });
  try {
    return new Uint8Array(await answer.arrayBuffer());
  } catch {
    if (signal?.aborted) throw new DOMException('left', 'AbortError');
    throw new Problem(0, { code: 'network' });
  } finally {
    done();
  }
}

/** Address of a public page or file. */
export const public_url = (path) => url_of(path).href;
/** Address of a picture of an event. */
export const picture_url = (picture, size) => public_url(`/pictures/${picture}-${size}`);

/**
 * The fields of `now` that differ from `before` (none given: all), in the form of the API. `forms`: those
 * that they are in. The same text is another time in another zone.
 */
export function changed_part(fields, before, now, forms = []) {
  return Object.assign(
    {},
    ...Object.keys(fields).map((name) => {
      const part = fields[name](now, forms[1]);
      const is_same = before && JSON.stringify(fields[name](before, forms[0])) === JSON.stringify(part);
      return is_same ? {} : part;
    }),
  );
}

/** A new Idempotency-Key. */
export const new_key = () => crypto.randomUUID();

export const is_abort = (error) => error?.name === 'AbortError' || error === 'left';

/** Saves the answer of a GET as a file of that name. `progress` gets the bytes so far. */
export async function download(path, name, progress) {
  const { answer, done } = await send('GET', path, { timeout_ms: 15 * 60_000 });
  const parts = [];
  let bytes = 0;
  try {
    for (const reader = answer.body.getReader(); ;) {
      const part = await reader.read();
      if (part.done) break;
      parts.push(part.value);
      progress((bytes += part.value.length));
    }
  } catch {
    throw new Problem(0, { code: 'network', title: 'The download was interrupted.' });
  } finally {
    done();
  }
  const link = document.createElement('a');
  const type = answer.headers.get('Content-Type') ?? '';
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
