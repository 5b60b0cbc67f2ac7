// SPDX-License-Identifier: Apache-2.0
// FCM with Google's token endpoint, and APNs with its sandbox, each on a port of loopback, over HTTP/2 and
// TLS with the given certificate. The host name selects the service. npm's `jose` verifies the keys: Google's
// assertion (RS256) and Apple's provider token (ES256). A device gets its scripted answer, by default
// success.
//
// Prints {"ports": {host: port}, "control": port} and ends with its standard input. Control port (plain HTTP,
// JSON):
//
//   POST /script  {device: {status, headers, body, action, times, held, host, elsewhere, once_per_token}}
//     The answer to later requests for the device; the device "oauth" is the token endpoint.
//     action: 'reset' (RST_STREAM), 'refuse' (REFUSED_STREAM), 'goaway' (GOAWAY, the stream is not served),
//       'cut' (the connection), 'hang'
//     times: number of requests, then success          host: only at this host
//     held: the answer waits for the first script after the request
//     elsewhere: at other hosts, {status, headers, body, action}
//     once_per_token: only for the first request with an authorization
//   POST /weather {share_429, share_503, retry_after: {share, seconds}, says_length}
//     Random answers of FCM for devices without a script; some have a Retry-After.
//     says_length: answers have a Content-Length. libcurl 7.88 resets every stream whose answer has none;
//       nghttp2 ends the connection after 1,000 resets and 33 a second.
//     From then on requests are counted, not recorded.
//   GET /tally    {early, answers: {topic: {status: number}}, taken: {device: {notice: number}},
//                 tried: {topic: {device: {times, last_at}}}, wrong}
//     FCM's answers, accepted notices and requests (last_at: Unix time in ms); early: requests before the
//     Retry-After of their notice was over.
//   GET /state    {sessions, exchanges, wrong: [text],
//                 requests: [{host, path, device, session, version, headers, body, claims}]}
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageOfBlackbox } from './gateway_double.mjs';
import { commandLine } from './standin_process.mjs';

const { importSPKI, jwtVerify } = packageOfBlackbox('jose');
const args = commandLine([
  'certificate',
  'key',
  'google-key',
  'google-kid',
  'google-email',
  'google-project',
  'apple-key',
  'apple-kid',
  'apple-team',
  'apple-topic',
  'version',
]);
const read = (file) => fs.readFileSync(file, 'utf8');
const googleKey = await importSPKI(read(args['google-key']), 'RS256');
const appleKey = await importSPKI(read(args['apple-key']), 'ES256');
const tokenUri = 'https://oauth2.googleapis.com/token';
const appleHosts = ['api.push.apple.com', 'api.sandbox.push.apple.com'];
const payloadBytesMax = 4096;

const scripts = new Map();
let scriptings = 0;
const state = { sessions: 0, exchanges: 0, requests: [], wrong: [] };
const accessTokens = new Set();
let weather; // random answers; undefined: success
const tally = { early: 0, answers: {}, taken: {}, tried: {} };
const notBefore = new Map(); // of notices with a Retry-After

const json = (status, body, headers = {}) => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
  body: JSON.stringify(body),
});

/** The device's scripted answer; undefined: success. */
function scripted(device, host, authorization) {
  const script = scripts.get(device);
  if (!script || script.times === 0) return undefined;
  if (script.host && script.host !== host)
    return script.elsewhere && { headers: {}, body: '', ...script.elsewhere };
  if (script.once_per_token) {
    script.token ??= authorization;
    if (script.token !== authorization) return undefined;
  }
  if (script.times) script.times -= 1;
  return {
    status: script.status,
    headers: script.headers ?? {},
    body: script.body ?? '',
    action: script.action,
    held: script.held,
  };
}

/** A random refusal that does not concern the device; undefined: none. */
function byWeather() {
  const luck = Math.random();
  const kind = luck < weather.share_429 ? 429 : luck < weather.share_429 + weather.share_503 ? 503 : 0;
  if (kind === 0) return undefined;
  const headers =
    Math.random() < weather.retry_after.share ? { 'retry-after': String(weather.retry_after.seconds) } : {};
  const [status, errorCode] =
    kind === 429 ? ['RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED'] : ['UNAVAILABLE', 'UNAVAILABLE'];
  const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }];
  return json(kind, { error: { code: kind, message: 'Not now.', status, details } }, headers);
}

function counted(message, answer) {
  const {
    token,
    data: { topic, notice_id },
  } = message;
  const key = `${token} ${notice_id}`;
  const answers = (tally.answers[topic] ??= {});
  answers[answer.status] = (answers[answer.status] ?? 0) + 1;
  const tried = (tally.tried[topic] ??= {});
  tried[token] = { times: (tried[token]?.times ?? 0) + 1, last_at: Date.now() };
  if ((notBefore.get(key) ?? 0) > Date.now()) ++tally.early;
  const wait = Number(answer.headers['retry-after'] ?? 0);
  if (wait > 0) notBefore.set(key, Date.now() + wait * 1000);
  if (answer.status === 200) {
    const taken = (tally.taken[token] ??= {});
    taken[notice_id] = (taken[notice_id] ?? 0) + 1;
  }
  return answer;
}

// -- Google -------------------------------------------------------------------------------------------------

async function exchange(request) {
  const form = new URLSearchParams(request.body);
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return json(400, { error: 'unsupported_grant_type' });
  try {
    // The test has another clock and checks the time itself.
    const claimed = JSON.parse(Buffer.from(form.get('assertion').split('.')[1], 'base64url'));
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion'), googleKey, {
      algorithms: ['RS256'],
      audience: tokenUri,
      issuer: args['google-email'],
      currentDate: new Date(claimed.iat * 1000),
      requiredClaims: ['iat', 'exp'],
      maxTokenAge: '1h',
    });
    if (protectedHeader.kid !== args['google-kid'] || protectedHeader.typ !== 'JWT')
      throw new Error('kid or typ');
    if (payload.exp - payload.iat > 3600) throw new Error('it lasts longer than an hour');
    if (payload.scope !== 'https://www.googleapis.com/auth/firebase.messaging') throw new Error('scope');
    request.claims = payload;
  } catch (error) {
    state.wrong.push(`assertion: ${error.message}`);
    return json(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
  }
  const special = scripted('oauth', 'oauth2.googleapis.com', undefined);
  if (special) return special;
  state.exchanges += 1;
  const token = `ya29.${state.exchanges}.${'x'.repeat(200)}`;
  accessTokens.add(`Bearer ${token}`);
  return json(200, { access_token: token, expires_in: 3599, token_type: 'Bearer' });
}

function sendByGoogle(request) {
  const { authorization } = request.headers;
  const unauthenticated = {
    error: {
      code: 401,
      message: 'Request had invalid authentication credentials.',
      status: 'UNAUTHENTICATED',
    },
  };
  if (!accessTokens.has(authorization)) return json(401, unauthenticated);
  if (request.path !== `/v1/projects/${args['google-project']}/messages:send`)
    return json(404, { error: { code: 404, status: 'NOT_FOUND' } });
  const { message } = JSON.parse(request.body);
  request.device = message.token;
  const reserved = Object.keys(message.data).filter(
    (key) => ['from', 'message_type'].includes(key) || key.startsWith('google') || key.startsWith('gcm'),
  );
  if (reserved.length > 0) state.wrong.push(`reserved data: ${reserved}`);
  if (Object.values(message.data).some((value) => typeof value !== 'string'))
    state.wrong.push('data that is no text');
  if (!/^\d+s$/.test(message.android.ttl)) state.wrong.push(`ttl ${message.android.ttl}`);
  const special = scripted(message.token, request.host, authorization) ?? (weather && byWeather());
  return counted(
    message,
    special || json(200, { name: `projects/${args['google-project']}/messages/${crypto.randomUUID()}` }),
  );
}

// -- Apple --------------------------------------------------------------------------------------------------

async function sendByApple(request) {
  const { headers } = request;
  request.device = decodeURIComponent(request.path.replace('/3/device/', ''));
  const token = /^bearer (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (!token) return json(403, { reason: 'MissingProviderToken' });
  try {
    const { payload, protectedHeader } = await jwtVerify(token, appleKey, {
      algorithms: ['ES256'],
      issuer: args['apple-team'],
      requiredClaims: ['iat'],
      currentDate: new Date(8.64e15),
    });
    if (protectedHeader.kid !== args['apple-kid']) throw new Error('kid');
    request.claims = payload;
  } catch (error) {
    state.wrong.push(`provider token: ${error.message}`);
    return json(403, { reason: 'InvalidProviderToken' });
  }
  if (headers['apns-topic'] !== args['apple-topic'])
    return json(400, { reason: headers['apns-topic'] ? 'TopicDisallowed' : 'MissingTopic' });
  if (!['alert', 'background'].includes(headers['apns-push-type']))
    return json(400, { reason: 'InvalidPushType' });
  if (!['10', '5'].includes(headers['apns-priority'])) return json(400, { reason: 'BadPriority' });
  if (!/^\d+$/.test(headers['apns-expiration'])) return json(400, { reason: 'BadExpirationDate' });
  if (Buffer.byteLength(headers['apns-collapse-id']) > 64) return json(400, { reason: 'BadCollapseId' });
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(headers['apns-id']))
    return json(400, { reason: 'BadMessageId' });
  if (Buffer.byteLength(request.body) > payloadBytesMax) return json(413, { reason: 'PayloadTooLarge' });
  if (!JSON.parse(request.body).aps) return json(400, { reason: 'PayloadEmpty' });
  return (
    scripted(request.device, request.host, headers.authorization) ?? {
      status: 200,
      headers: { 'apns-id': headers['apns-id'] },
      body: '',
    }
  );
}

// -- the wire -----------------------------------------------------------------------------------------------

async function answer(request) {
  if (!weather) state.requests.push(request);
  if (request.method !== 'POST') return { status: 405, headers: {}, body: '' };
  if (request.host === 'oauth2.googleapis.com' && request.path === '/token') return exchange(request);
  if (request.host === 'fcm.googleapis.com') return sendByGoogle(request);
  if (appleHosts.includes(request.host)) return sendByApple(request);
  state.wrong.push(`nobody is ${request.host}${request.path}`);
  return { status: 404, headers: {}, body: '' };
}

const { NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;
const numbers = new WeakMap(); // of sessions, from 1
const sockets = new Map(); // of connections, by the peer's port, because a session hides its socket

function act(stream, what) {
  const { session } = stream;
  if (what.action === 'hang') return;
  if (what.action === 'reset') return stream.close(NGHTTP2_INTERNAL_ERROR);
  if (what.action === 'refuse') return stream.close(NGHTTP2_REFUSED_STREAM);
  if (what.action === 'goaway') return session.goaway(NGHTTP2_NO_ERROR, stream.id - 2); // this stream is not served; impossible for a session's first stream
  if (what.action === 'cut') return sockets.get(session.socket.remotePort).destroy();
  const length = weather?.says_length ? { 'content-length': Buffer.byteLength(what.body) } : {};
  stream.respond({ ':status': what.status, ...what.headers, ...length });
  stream.end(what.body);
}

function serveStream(stream, headers) {
  const parts = [];
  stream.on('error', () => {}); // reset streams
  stream.on('data', (part) => parts.push(part));
  stream.on('end', async () => {
    const request = {
      host: headers[':authority'],
      path: headers[':path'],
      method: headers[':method'],
      session: numbers.get(stream.session),
      version: '2',
      headers: Object.fromEntries(Object.entries(headers)),
      body: Buffer.concat(parts).toString(),
    };
    const before = scriptings;
    const what = await answer(request);
    while (what.held && scriptings === before) await sleep(5);
    if (!stream.destroyed) act(stream, what);
  });
}

const tls = { cert: read(args.certificate), key: read(args.key) };

function makeServer() {
  if (args.version === '1.1')
    return https.createServer({ ...tls, ALPNProtocols: ['http/1.1'] }, (rq, rs) => {
      state.requests.push({ host: rq.headers.host, path: rq.url, version: '1.1' });
      rq.resume().on('end', () => rs.writeHead(200).end());
    });
  return http2
    .createSecureServer(tls)
    .on('stream', serveStream)
    .on('session', (session) => {
      state.sessions += 1;
      numbers.set(session, state.sessions);
      session.on('error', () => {});
    });
}

function listen() {
  const server = makeServer()
    .on('tlsClientError', () => {})
    .on('connection', (socket) => {
      const { remotePort } = socket;
      sockets.set(remotePort, socket);
      socket.on('close', () => sockets.delete(remotePort)).on('error', () => {});
    });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
}

const control = http.createServer((rq, rs) => {
  const parts = [];
  rq.on('data', (part) => parts.push(part)).on('end', () => {
    if (rq.url === '/script') {
      for (const [device, script] of Object.entries(JSON.parse(Buffer.concat(parts))))
        scripts.set(device, script);
      scriptings += 1;
    }
    if (rq.url === '/weather')
      weather = {
        share_429: 0,
        share_503: 0,
        retry_after: { share: 0 },
        ...JSON.parse(Buffer.concat(parts)),
      };
    const asked = { '/state': state, '/tally': { ...tally, wrong: state.wrong } };
    rs.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(asked[rq.url] ?? {}));
  });
});

const ports = {};
for (const host of ['fcm.googleapis.com', 'oauth2.googleapis.com', ...appleHosts])
  ports[host] = await listen();
control.listen(0, '127.0.0.1', () =>
  fs.writeSync(1, `${JSON.stringify({ ports, control: control.address().port })}\n`),
);
process.stdin.resume().on('end', () => process.exit(0));
