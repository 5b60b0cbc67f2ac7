// SPDX-License-Identifier: Apache-2.0
// Middleware for Node (Express, Connect, plain http): admits only visitors with a session of your FairQueue
// queue. Node 18 and newer, no dependencies. Caches answers as long as FairQueue allows, at most three
// seconds. Without an answer of FairQueue it refuses.

const session_bytes_max = 200;
const form_bytes_max = 8192;

/**
 * For `return_url` of FairQueue's waiting page, POST /fairqueue/enter: sets the session token of the form as
 * this site's cookie and redirects to `to`. It does not identify the visitor: any form may be posted here.
 * `secure`: false only without https.
 */
export const enter = ({ to = '/', secure = true } = {}) =>
  async function (request, response) {
    let body = '';
    for await (const part of request) {
      body += part;
      if (body.length > form_bytes_max) return request.destroy();
    }
    const token = new URLSearchParams(body).get('session_token') ?? '';
    if (request.method !== 'POST' || token.length > session_bytes_max || !/^[\w.-]+$/.test(token))
      return response.writeHead(400).end();
    const cookie = `fairqueue_session=${token}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    response.writeHead(303, { 'location': to, 'set-cookie': cookie, 'cache-control': 'no-store' }).end();
  };

/** `url`: FairQueue's base URL. `queue_id`: your queue. `server_key`: lifts the limit of a single session. */
export function require_session({
  url,
  queue_id,
  server_key,
  keep_ms = 3000,
  timeout_ms = 2000,
  kept_max = 50_000,
}) {
  const kept = new Map();
  const counts = { granted: 0, refused: 0, unavailable: 0 };

  const keep = (token, answer, ms) => {
    if (kept.size >= kept_max) kept.delete(kept.keys().next().value); // the oldest
    kept.set(token, { ...answer, until: Date.now() + ms });
    return answer;
  };

  async function ask(token) {
    const known = kept.get(token);
    if (known && Date.now() < known.until) return known;
    kept.delete(token);
    const headers = { authorization: `Bearer ${token}`, ...(server_key && { 'x-api-key': server_key }) };
    const reply = await fetch(`${url}/access?queue_id=${queue_id}`, {
      headers,
      signal: AbortSignal.timeout(timeout_ms),
    });
    const body = await reply.json();
    if (reply.status === 200) {
      const allowed = Number(/max-age=(\d+)/.exec(reply.headers.get('cache-control'))?.[1] ?? 0) * 1000;
      return keep(token, { status: 200, session: body }, Math.min(keep_ms, allowed));
    }
    if (reply.status < 500 && reply.status !== 429)
      // 410: the session is over
      return keep(token, { status: reply.status === 410 ? 410 : 401, reason: body.code }, 1000);
    return { status: 503, reason: body.code };
  }

  const token_of = (request) => {
    const token =
      /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ??
      /(?:^|;\s*)fairqueue_session=([^;\s]+)/.exec(request.headers.cookie ?? '')?.[1];
    return token?.length <= session_bytes_max ? token : undefined; // longer ones would fill `kept`
  };

  async function middleware(request, response, next) {
    const token = token_of(request);
    const answer = token
      ? await ask(token).catch(() => ({ status: 503, reason: 'unavailable' })) // fail closed
      : { status: 401, reason: 'no_session' };
    if (answer.status === 200) {
      ++counts.granted;
      request.fairqueue = answer.session; // its session_expires_at is also the cart's
      return next();
    }
    ++counts[answer.status === 503 ? 'unavailable' : 'refused'];
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(answer.status === 503 && { 'retry-after': '5' }),
    });
    response.end(JSON.stringify({ error: answer.reason }));
  }
  middleware.counts = counts;
  return middleware;
}
