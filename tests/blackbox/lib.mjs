// SPDX-License-Identifier: Apache-2.0
// Shared by all black-box tests: the real server as a child process with its own ports and data folder, and
// its clients: HTTP (node:http), raw TCP, WebSocket (ws), the sandbox's payment page. Tests use only what a
// client can know.
import '../support/ends_at_once.mjs';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as prism from './validating_proxy.mjs';

export { assert, sleep };

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, '../..');

/** The built programs: named by CTest, or the release build of this tree. */
/** The release after this one (next/release.cpp). */
export const fairqueue_next =
  process.env.FAIRQUEUE_NEXT_BIN ?? path.join(root, 'build/release/tests/blackbox/fairqueue_next');
export const fairqueue = process.env.FAIRQUEUE_BIN ?? path.join(root, 'build/release/app/fairqueue');
export const fairqueue_load =
  process.env.FAIRQUEUE_LOAD_BIN ?? path.join(root, 'build/release/load/fairqueue-load');
if (!fs.existsSync(fairqueue)) {
  console.error(`black-box tests: no program at ${fairqueue}; build it, or set FAIRQUEUE_BIN`);
  process.exit(1);
}

let ws_module;
try {
  ws_module = await import('ws');
} catch {
  console.error(
    'black-box tests: the package "ws" is missing; run scripts/setup, or `npm ci` in tests/blackbox',
  );
  process.exit(1);
}
export const WebSocket = ws_module.WebSocket;

/** Sanitizer builds are several times slower: every wait is multiplied by this. */
export const patience = Number(process.env.FAIRQUEUE_TEST_PATIENCE ?? 1);

/** FAIRQUEUE_TEST_SEED repeats the moments of an earlier run. */
export const seed = Number(process.env.FAIRQUEUE_TEST_SEED ?? crypto.randomInt(2 ** 31));

/** For the campaign's table (tests/campaign): the longest time in which a client was not served. */
export const report_outage = (t, ms) => t.diagnostic(`outage_ms=${Math.round(ms)}`);

/** mulberry32: small and seeded, sufficient for random moments. */
export function random_of(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

// -- children -------------------------------------------------------------------------------------------

const children = new Set();
const folders = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** A prefix that ends the server with the test, even if the test is killed with SIGKILL. */
const die_with_parent = fs.existsSync('/usr/bin/setpriv')
  ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--']
  : [];

/** The environment of a child, without our FAIRQUEUE_* variables, which the server would read as options. */
export function clean_environment(extra = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('FAIRQUEUE_') && name !== 'NODE_OPTIONS',
  );
  return { ...Object.fromEntries(kept), ...extra };
}

export function temporary_folder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fq-blackbox-'));
  folders.add(folder);
  return folder;
}

/** Runs a program to its end: {code, signal, out, err}. */
export function run(file, args, { input, env, cwd, timeout_ms = 60_000 * patience } = {}) {
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { env: clean_environment(env), cwd, timeout: timeout_ms, killSignal: 'SIGKILL', maxBuffer: 64 << 20 },
      (error, out, err) => {
        children.delete(child);
        if (error && error.code === 'ENOENT') return reject(new Error(`no program at ${file}`));
        resolve({ code: child.exitCode, signal: child.signalCode, out, err });
      },
    );
    children.add(child);
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

/** Ports of running tests: of each a file with the process id of its owner. */
const ports_folder = path.join(os.tmpdir(), `fairqueue-test-ports-${process.getuid()}`);
const given_ports = new Set();
process.on('exit', () => {
  for (const port of given_ports) fs.rmSync(path.join(ports_folder, String(port)), { force: true });
});

const is_alive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** False if this or another test has the port. A port stays reserved while its server restarts. */
function reserve(port) {
  const file = path.join(ports_folder, String(port));
  fs.mkdirSync(ports_folder, { recursive: true });
  try {
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    const owner = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
    if (owner === 0 || is_alive(owner)) return false; // 0: another test writes or removes it just now
    fs.writeFileSync(file, String(process.pid));
  }
  given_ports.add(port);
  return true;
}

/** A new free port, of the range that neither scripts/services nor the kernel takes ports from. */
export async function free_port() {
  for (let attempt = 0; attempt < 200; ++attempt) {
    const port = 10_100 + crypto.randomInt(14_900); // browsers refuse 10080
    if (!reserve(port)) continue;
    const free = await new Promise((resolve) => {
      const probe = net.createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
  throw new Error('no free port');
}

/** Waits until `look` returns a true value; else fails with `what`. */
export async function eventually(what, look, { timeout_ms = 10_000, every_ms = 50 } = {}) {
  const end = Date.now() + timeout_ms * patience;
  let last;
  for (;;) {
    last = await look();
    if (last) return last;
    if (Date.now() >= end) assert.fail(`never seen in ${timeout_ms} ms: ${what}`);
    await sleep(every_ms);
  }
}

// -- the server -----------------------------------------------------------------------------------------

const this_machine = { address: '127.0.0.1', enter: [] };

/** Short intervals for tests; high limits unless a test needs them. */
const quick_settings = {
  'workers.expiry_interval': '200ms',
  'workers.reconciliation_interval': '500ms',
  'payments.verdict_grace': '1s',
  'payments.stale_after': '10s',
  'gateway.sandbox': true,
};

export class Server {
  /**
   * `settings`: options by name. `demo`: with a demo sale. `host`: host to run on (hosts.mjs). `before`: a
   * command prefix. `is_plain`: without the options of tests. `program`: of another build.
   */
  static async start({
    settings = {},
    is_plain = false,
    program = fairqueue,
    host = this_machine,
    before = [],
    demo = false,
    data_dir = temporary_folder(),
    env = {},
    wait = true,
  } = {}) {
    const server = new Server();
    server.data_dir = data_dir;
    server.host = host;
    server.before = before;
    server.port = await free_port();
    server.admin_port = await free_port();
    if (prism.is_on)
      server.proxy = await prism.ValidatingProxy.start(
        path.join(root, 'docs/openapi.yaml'),
        server.url,
        await free_port(),
      );
    server.settings = { ...(is_plain ? {} : quick_settings), ...settings };
    server.program = program;
    server.demo = demo;
    server.env = env;
    await server.launch(wait);
    return server;
  }

  get url() {
    return `http://${this.host.address}:${this.port}`;
  }
  get pid() {
    return this.child?.pid;
  }
  get is_running() {
    return this.child !== undefined;
  }

  arguments() {
    const options = Object.entries({
      'http.listen': `${this.host.address}:${this.port}`,
      'http.admin_listen': `${this.host.address}:${this.admin_port}`,
      'data_dir': this.data_dir,
      ...this.settings,
    });
    return [
      'serve',
      ...(this.demo ? ['--demo'] : []),
      ...options.flatMap(([name, value]) => [`--${name}`, String(value)]),
    ];
  }

  async launch(wait = true) {
    const [file, ...args] = [
      ...die_with_parent,
      ...this.host.enter,
      ...this.before,
      this.program,
      ...this.arguments(),
    ];
    this.log = '';
    this.agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
    const child = spawn(file, args, { env: clean_environment(this.env), stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.told_to_end = false;
    children.add(child);
    const note = (text) => {
      if (this.log.length < 8 << 20) this.log += text;
    };
    child.stdout.setEncoding('utf8').on('data', note);
    child.stderr.setEncoding('utf8').on('data', note);
    this.ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        children.delete(child);
        if (this.child === child) this.child = undefined;
        resolve({ code, signal });
      });
    });
    if (wait) await this.ready();
  }

  async ready() {
    const end = Date.now() + 20_000 * patience;
    while (this.is_running && Date.now() < end) {
      const answer = await this.get('/readyz', { unchecked: true }).catch(() => undefined);
      if (answer?.status === 200) return;
      await sleep(20);
    }
    assert.fail(
      `the server ${this.is_running ? 'did not get ready' : 'ended at its start'}:\n${this.log.slice(-4000)}`,
    );
  }

  signal(name) {
    this.told_to_end = true;
    this.child?.kill(name);
  }

  /** Waits for a line: the pipe of the log is read later than a socket or a file that the line is about. */
  async logged(pattern) {
    await eventually(`in the log: ${pattern}`, () => pattern.test(this.log));
  }

  /** Fails if the server has ended unexpectedly. */
  async must_live() {
    if (this.is_running || this.told_to_end) return;
    assert.fail(`the server died: ${JSON.stringify(await this.ended)}\n${this.log.slice(-4000)}`);
  }

  /** kill -9, and waits for the end. */
  async kill() {
    this.signal('SIGKILL');
    this.agent.destroy();
    return this.ended;
  }

  /** SIGTERM; waits for the end and fails if it is not orderly. */
  async stop() {
    if (!this.is_running) return;
    this.signal('SIGTERM');
    const overdue = sleep(30_000 * patience, 'overdue', { ref: false });
    const end = await Promise.race([this.ended, overdue]);
    this.agent.destroy();
    if (end === 'overdue') {
      await this.kill();
      assert.fail(`the server did not end after SIGTERM:\n${this.log.slice(-4000)}`);
    }
    assert.deepEqual(end, { code: 0, signal: null }, `end after SIGTERM; log:\n${this.log.slice(-4000)}`);
  }

  async restart() {
    await this.kill();
    await this.launch();
  }

  // -- HTTP --

  /**
   * One request. `body`: an object becomes JSON, text and bytes are sent unchanged. Checks the common form of
   * answers.
   */
  request(
    method,
    target,
    { token, body, headers = {}, admin = false, unchecked = false, timeout_ms = 15_000, agent } = {},
  ) {
    const sent = { ...headers };
    if (token) sent.Authorization = `Bearer ${token}`;
    let bytes = body;
    if (body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body))
      bytes = JSON.stringify(body);
    if (bytes !== undefined) {
      if (!Object.keys(sent).some((name) => name.toLowerCase() === 'content-type'))
        sent['Content-Type'] = 'application/json';
      sent['Content-Length'] = Buffer.byteLength(bytes);
    }
    const proxy = prism.can_carry({ method, target, bytes, admin, agent }) ? this.proxy : undefined;
    return new Promise((resolve, reject) => {
      const outgoing = http.request(
        {
          host: proxy ? '127.0.0.1' : this.host.address,
          port: admin ? this.admin_port : proxy ? proxy.port : this.port,
          method,
          path: target,
          headers: sent,
          agent: agent ?? this.agent,
          timeout: timeout_ms * patience,
        },
        (incoming) => {
          const parts = [];
          incoming.on('data', (part) => parts.push(part));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(parts).toString();
            const answer = { status: incoming.statusCode, headers: incoming.headers, text };
            if (/\bjson\b/.test(incoming.headers['content-type'] ?? '')) {
              try {
                answer.json = JSON.parse(text);
              } catch {
                return reject(new Error(`${method} ${target}: not JSON: ${text}`));
              }
            }
            try {
              if (!unchecked && !admin) check_answer(method, target, answer);
              proxy?.check(`${method} ${target}`, answer);
              resolve(answer);
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      outgoing.on('timeout', () =>
        outgoing.destroy(
          new Error(`${method} ${target}: no answer in ${timeout_ms} ms, body ${String(bytes).slice(0, 80)}`),
        ),
      );
      outgoing.on('error', reject);
      outgoing.end(bytes);
    });
  }

  get(target, options) {
    return this.request('GET', target, options);
  }
  post(target, options) {
    return this.request('POST', target, options);
  }
  patch(target, options) {
    return this.request('PATCH', target, options);
  }
  delete(target, options) {
    return this.request('DELETE', target, options);
  }

  /** Like request, but across restarts: retries until an answer is neither 503 nor 429. */
  async insist(method, target, options = {}) {
    const end = Date.now() + 60_000 * patience;
    for (;;) {
      const answer = await this.request(method, target, { ...options, timeout_ms: 8000 }).catch((error) => {
        if (error.code === 'ERR_ASSERTION') throw error;
        return undefined;
      });
      if (answer && answer.status !== 503 && answer.status !== 429) return answer;
      await this.must_live();
      if (Date.now() > end)
        assert.fail(`${method} ${target}: no answer for a minute; the last was ${answer?.text}`);
      await sleep(50 + crypto.randomInt(100));
    }
  }

  // -- people --

  /** `count` tokens of new customers. `options`: of `fairqueue token`. */
  async customers(count, ...options) {
    const { code, out, err } = await run(fairqueue, [
      'token',
      '--kind',
      'customer',
      '--count',
      String(count),
      '--data_dir',
      this.data_dir,
      ...options,
    ]);
    assert.equal(code, 0, `fairqueue token: ${err}`);
    const tokens = out.trim().split('\n');
    assert.equal(tokens.length, count);
    return tokens;
  }

  async customer() {
    return (await this.customers(1))[0];
  }

  /** A new organizer, added by the command line: {email, password}. */
  async new_organizer() {
    const email = `organizer-${crypto.randomUUID()}@example.com`;
    const password = `correct horse ${crypto.randomUUID()}`;
    const added = await run(
      fairqueue,
      ['organizer', 'add', '--email', email, '--password-stdin', '--data_dir', this.data_dir],
      { input: `${password}\n` },
    );
    assert.equal(added.code, 0, `fairqueue organizer add: ${added.out}${added.err}`);
    return { email, password };
  }

  /** Signs a new organizer in; returns the token. */
  async organizer() {
    const { email, password } = await this.new_organizer();
    const login = await this.post('/auth/organizer/login', { body: { email, password } });
    assert.equal(login.status, 200, login.text);
    return login.json.token;
  }

  /** A new, active event. */
  async event(organizer, changes = {}, { activate = true } = {}) {
    const created = await this.post('/events', { token: organizer, body: sale(changes) });
    assert.equal(created.status, 201, created.text);
    if (activate) {
      const active = await this.post(`/events/${created.json.id}/activate`, { token: organizer });
      assert.equal(active.status, 200, active.text);
      assert.equal(active.json.status, 'ACTIVE');
      return active.json;
    }
    return created.json;
  }

  /** The same with the seats of a hall. */
  async seated_event(organizer, changes, hall) {
    const { id } = await this.event(organizer, changes, { activate: false });
    const target = `/events/${id}/seat-plan/hall?singles=when_needed`;
    const put = await this.request('PUT', target, { token: organizer, body: hall });
    assert.equal(put.status, 204, put.text);
    const active = await this.post(`/events/${id}/activate`, { token: organizer });
    assert.equal(active.status, 200, active.text);
    return active.json;
  }

  async stats(organizer, event) {
    const answer = await this.insist('GET', `/events/${event}/stats`, { token: organizer });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  /** `fairqueue admin verify` finds no difference. */
  async verified() {
    const { code, out, err } = await run(fairqueue, ['admin', 'verify', '--data_dir', this.data_dir]);
    assert.equal(code, 0, `admin verify: ${out}${err}`);
  }

  // -- steps of a fan; each must succeed --

  async join(token, event) {
    const answer = await this.insist('POST', `/events/${event}/queue`, { token });
    assert.ok(answer.status === 201 || answer.status === 200, answer.text);
    return answer.json;
  }

  async position(token, event) {
    const answer = await this.insist('GET', `/events/${event}/queue/position`, { token });
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  admitted(token, event, options) {
    return eventually(
      'ADMITTED',
      async () => {
        const entry = await this.position(token, event);
        return entry.status === 'ADMITTED' && entry;
      },
      options,
    );
  }

  /** A new customer in line: the token. */
  async joined_customer(event) {
    const token = await this.customer();
    await this.join(token, event);
    return token;
  }

  async join_and_be_admitted(token, event) {
    await this.join(token, event);
    return this.admitted(token, event);
  }

  async claim(token, event, admission_token, items) {
    const answer = await this.insist('POST', `/events/${event}/claims`, {
      token,
      body: { admission_token, items },
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.json;
  }

  async open_payment(token, claim) {
    const answer = await this.insist('POST', `/claims/${claim}/payments`, { token });
    assert.ok(answer.status === 201 || answer.status === 200, answer.text);
    if (answer.json.authorization_url) return answer.json;
    return eventually('the payment page', async () => {
      const { json } = await this.insist('GET', `/payments/${answer.json.payment_id}`, { token });
      return json.authorization_url && json;
    });
  }

  /** Pays or declines at the sandbox. */
  settle(reference, action, options = {}) {
    return this.insist('POST', `/sandbox/pay/${reference}`, {
      body: { action },
      headers: { Accept: 'application/json' },
      ...options,
    });
  }

  async payment_reaches(token, payment, status, options) {
    return eventually(
      `payment ${status}`,
      async () => {
        const { json } = await this.insist('GET', `/payments/${payment}`, { token });
        return json.status === status && json;
      },
      options,
    );
  }

  async claim_reaches(token, claim, status, options) {
    return eventually(
      `claim ${status}`,
      async () => {
        const { json } = await this.insist('GET', `/claims/${claim}`, { token });
        return json.status === status && json;
      },
      options,
    );
  }

  /** From an admission to a confirmed ticket. */
  async buy(token, event, admission_token, items) {
    const claim = await this.claim(token, event, admission_token, items);
    const payment = await this.open_payment(token, claim.claim_id);
    const settled = await this.settle(payment.reference, 'pay');
    assert.equal(settled.status, 200, settled.text);
    await this.payment_reaches(token, payment.payment_id, 'CONFIRMED');
    return { claim: await this.claim_reaches(token, claim.claim_id, 'CONFIRMED'), payment };
  }

  /** The mails to that address, oldest first. */
  mails_to(email) {
    const folder = path.join(this.data_dir, 'mail');
    if (!fs.existsSync(folder)) return [];
    return fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))
      .filter((text) => text.includes(`\r\nTo: ${email}\r\n`));
  }

  /** The newest mailed one-time code for that address, once there are more than `known` mails to it. */
  async mailed_code(email, known = 0) {
    return eventually(`a mail to ${email}`, () => {
      const codes = this.mails_to(email)
        .slice(known)
        .map((mail) => /\b(\d{6})\b/.exec(text_of_mail(mail))?.[1]);
      return codes.filter(Boolean).at(-1); // another mail may come after it
    });
  }

  /** Signs a customer in by a mailed code; returns the answer. */
  async sign_in_by_mail(email, headers = {}) {
    const address = email.toLowerCase();
    const known = this.mails_to(address).length;
    const asked = await this.post('/auth/customer/otp/request', { body: { email }, headers });
    assert.equal(asked.status, 202, asked.text);
    return this.post('/auth/customer/otp/verify', {
      body: { email, otp: await this.mailed_code(address, known), handle: asked.json.handle },
      headers,
    });
  }

  /** The sandbox's signature of a webhook. */
  webhook(event, id = `evt_${crypto.randomBytes(8).toString('hex')}`) {
    const body = JSON.stringify({ id, ...event });
    const key = Buffer.from(
      fs.readFileSync(path.join(this.data_dir, 'keys/sandbox.key'), 'utf8').trim(),
      'hex',
    );
    const signature = crypto.createHmac('sha256', key).update(body).digest('hex');
    return { body, headers: { 'x-fairqueue-sandbox-signature': signature } };
  }

  // -- raw --

  connect(options) {
    return RawConnection.open(this.port, options);
  }

  /** Opens a WebSocket; resolves to a Socket, or fails with `status` set. */
  socket(event, token, options) {
    return this.socket_at(`/ws/queue/${event}`, token, options);
  }

  socket_at(target, token, options) {
    return Socket.open(this, target, token, options);
  }
}

/** Starts a server for one test; it ends with the test. */
export async function server_for(t, options) {
  const server = await Server.start(options);
  t.after(async () => {
    const died = !server.is_running && !server.told_to_end;
    await server.kill();
    await server.proxy?.close();
    if (died)
      assert.fail(
        `the server died by itself: ${JSON.stringify(await server.ended)}\n${server.log.slice(-4000)}`,
      );
  });
  return server;
}

/** A mail's first part: text in a Latin script stands there as it is. */
export function text_of_mail(mail) {
  const [body] = mail.slice(mail.indexOf('\r\n\r\n')).split('Content-Type: text/html'); // colours are no codes
  const coded = /\r\nContent-Transfer-Encoding: base64\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail)?.[1];
  return coded ? Buffer.from(coded, 'base64').toString() : body;
}

/** Asserts the common form of answers. */
function check_answer(method, target, answer) {
  const about = `${method} ${target} -> ${answer.status} ${answer.text.slice(0, 400)}`;
  assert.ok(answer.headers['x-request-id'], `no X-Request-Id: ${about}`);
  assert.equal(answer.headers['x-content-type-options'], 'nosniff', about);
  const may_be_kept =
    (answer.status === 200 && /^\/(access|\.well-known)/.test(target)) ||
    ([200, 304].includes(answer.status) && /\/seat-plan(\?|$)/.test(target)) ||
    (answer.status === 200 && /^\/(events|queues)\/[^/]+\/log\//.test(target));
  if (!may_be_kept && !/^\/(docs|openapi\.json|assets|favicon\.ico|robots\.txt|pictures)/.test(target))
    assert.match(answer.headers['cache-control'] ?? '', /no-store/, about);
  check_browser_fields(answer, about);
  const is_health = /^\/(livez|readyz|health)/.test(target);
  if (answer.status >= 400 && method !== 'HEAD' && !is_health) check_problem(answer, about);
}

/** What Mozilla's HTTP Observatory looks for, except HSTS, which tls.test.mjs has. */
export function check_browser_fields({ headers }, about) {
  assert.equal(headers['access-control-allow-credentials'], undefined, about);
  assert.notEqual(headers['access-control-allow-origin'], '*', about);
  for (const cookie of headers['set-cookie'] ?? [])
    assert.match(cookie, /; HttpOnly; SameSite=Lax(; Secure)?$/, about);
  if (!/^text\/html/.test(headers['content-type'])) return;
  const policy = headers['content-security-policy'] ?? '';
  for (const part of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", 'form-action '])
    assert.ok(policy.includes(part), `no ${part} in "${policy}": ${about}`);
  assert.doesNotMatch(policy, /unsafe-|\*/, about);
  assert.match(headers['referrer-policy'] ?? '', /^(no-referrer|same-origin)$/, about);
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin', about);
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin', about);
}

/** RFC 9457, with our members. */
export function check_problem(answer, about = answer.text) {
  assert.match(answer.headers['content-type'] ?? '', /^application\/problem\+json/, about);
  const problem = answer.json;
  assert.equal(problem.status, answer.status, about);
  assert.match(problem.code, /^[a-z][a-z0-9_]*$/, about);
  assert.equal(typeof problem.title, 'string', about);
  assert.equal(problem.type, 'about:blank', about);
  assert.equal(problem.request_id, answer.headers['x-request-id'], about);
  if (answer.status === 401) assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/, about);
  if (answer.status === 405) assert.ok(answer.headers.allow !== undefined, `no Allow: ${about}`);
  if (answer.status === 429 || answer.status === 503)
    assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/, about);
}

/** Fails unless the answer is this problem. */
export function expect_problem(answer, status, code, about = '') {
  assert.equal(answer.status, status, `${about} ${answer.text}`);
  if (code) assert.equal(answer.json?.code, code, `${about} ${answer.text}`);
}

// -- settings of a sale ---------------------------------------------------------------------------------

export const after = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();

/** A sale whose whole life takes seconds. */
export function sale({ total = 5, price = 5000, max_per_order = 4, queue = {}, ...changes } = {}) {
  return {
    name: 'Black-box sale',
    currency: 'NGN',
    sale_start: after(-60),
    sale_end: after(3600),
    ticket_types: [{ name: 'Standard', price, total, max_per_order }],
    queue: {
      policy: 'batch',
      batch_size: 50,
      admission_interval_ms: 100,
      session_ttl_seconds: 120,
      claim_window_seconds: 30,
      ...queue,
    },
    claim_ttl_seconds: 60,
    ...changes,
  };
}

// -- tokens ---------------------------------------------------------------------------------------------

const base64url = (value) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** A token in the server's form, with the given differences. */
export function forge(server, kind, { header = {}, claims = {}, key, signature } = {}) {
  const jwk = JSON.parse(fs.readFileSync(path.join(server.data_dir, `keys/${kind}.jwk`), 'utf8'));
  const now = Math.floor(Date.now() / 1000);
  const typ = `fq-${kind}`;
  const full_header = { alg: 'HS256', typ, kid: jwk.kid, ...header };
  const full_claims = {
    iss: 'fairqueue',
    aud: typ,
    sub: crypto.randomUUID(),
    iat: now,
    exp: now + 3600,
    ...claims,
  };
  const text = `${base64url(full_header)}.${base64url(full_claims)}`;
  const secret = key ?? Buffer.from(jwk.k, 'base64url');
  return `${text}.${signature ?? crypto.createHmac('sha256', secret).update(text).digest('base64url')}`;
}

// -- raw TCP --------------------------------------------------------------------------------------------

/** A raw connection with a minimal parser of HTTP/1.1 answers. */
export class RawConnection {
  static open(port, { address = '127.0.0.1', allow_half_open = false } = {}) {
    return new Promise((resolve, reject) => {
      const connection = new RawConnection();
      const socket = net.connect({ port, host: address, allowHalfOpen: allow_half_open });
      connection.socket = socket;
      connection.received = Buffer.alloc(0);
      connection.is_closed = false;
      connection.closed = new Promise((done) =>
        socket.once('close', () => {
          connection.is_closed = true;
          done();
        }),
      );
      connection.ended = new Promise((done) => {
        socket.once('end', done);
        socket.once('close', done);
      });
      socket.on('data', (data) => {
        connection.received = Buffer.concat([connection.received, data]);
      });
      socket.setNoDelay(true);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        socket.on('error', () => {});
        resolve(connection);
      });
      socket.once('error', reject);
    });
  }

  send(bytes) {
    if (!this.is_closed && this.socket.writable)
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /** The next answer: {status, headers, body}; null if the connection ends before. */
  async answer({ timeout_ms = 10_000, without_body = false } = {}) {
    const end = Date.now() + timeout_ms * patience;
    for (;;) {
      const parsed = this.take_answer(without_body);
      if (parsed) return parsed;
      if (this.is_closed || this.socket.readableEnded) return this.take_answer(without_body) ?? null;
      if (Date.now() > end)
        assert.fail(
          `no answer in ${timeout_ms} ms; received: ${JSON.stringify(this.received.toString('latin1'))}`,
        );
      await sleep(5);
    }
  }

  take_answer(without_body) {
    const text = this.received.toString('latin1');
    const head_end = text.indexOf('\r\n\r\n');
    if (head_end < 0) return undefined;
    const [status_line, ...lines] = text.slice(0, head_end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(status_line)?.[1]);
    const headers = {};
    for (const line of lines)
      headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim();
    const length =
      without_body || status < 200 || status === 204 ? 0 : Number(headers['content-length'] ?? 0);
    if (text.length < head_end + 4 + length) return undefined;
    const body = text.slice(head_end + 4, head_end + 4 + length);
    this.received = this.received.subarray(head_end + 4 + length);
    return { status, headers, body };
  }

  /** True if the server closes within the time. */
  async closes({ timeout_ms = 5000 } = {}) {
    const late = sleep(timeout_ms * patience, 'late', { ref: false });
    return (await Promise.race([this.ended, late])) !== 'late';
  }

  destroy() {
    this.socket.destroy();
  }
}

/** A place's WebSocket as a raw connection, after its handshake. */
export async function raw_socket(server, event, token, extra = '') {
  const connection = await server.connect();
  connection.send(
    `GET /ws/queue/${event} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${crypto.randomBytes(16).toString('base64')}\r\n` +
      `Sec-WebSocket-Protocol: fairqueue.v1, ${token}\r\n${extra}\r\n`,
  );
  const answer = await connection.answer();
  assert.equal(answer.status, 101, answer.body);
  assert.equal(answer.headers['sec-websocket-extensions'], undefined, 'no compression');
  return connection;
}

// -- WebSocket ------------------------------------------------------------------------------------------

/** A fan's socket that keeps all received frames. */
export class Socket {
  static open(server, where, token, { in_query = false, protocols, origin, headers = {} } = {}) {
    const target = `${server.url.replace(/^http/, 'ws')}${where}${in_query ? `?token=${token}` : ''}`;
    const offered = protocols ?? (in_query || token === undefined ? [] : ['fairqueue.v1', token]);
    return new Promise((resolve, reject) => {
      const socket = new Socket();
      const ws = new WebSocket(target, offered, {
        origin,
        headers,
        perMessageDeflate: false,
        handshakeTimeout: 10_000 * patience,
      });
      socket.ws = ws;
      socket.frames = [];
      socket.closed = new Promise((done) =>
        ws.once('close', (code, reason) => {
          socket.is_closed = true;
          done({ code, reason: reason.toString() });
        }),
      );
      ws.on('message', (data, is_binary) => {
        const frame = is_binary ? { type: 'binary' } : JSON.parse(data.toString());
        socket.frames.push({ ...frame, received_at: Date.now() });
      });
      ws.on('error', reject);
      ws.once('unexpected-response', (_, incoming) => {
        let text = '';
        incoming.on('data', (part) => {
          text += part;
        });
        incoming.on('end', () => {
          ws.terminate();
          const json = /json/.test(incoming.headers['content-type'] ?? '') ? JSON.parse(text) : undefined;
          reject(
            Object.assign(new Error(`no WebSocket: ${incoming.statusCode} ${text}`), {
              status: incoming.statusCode,
              headers: incoming.headers,
              text,
              json,
            }),
          );
        });
      });
      ws.once('open', () => resolve(socket));
    });
  }

  /** Waits for the first frame of that type, past or future. */
  frame(type, { from = 0, timeout_ms = 10_000, every_ms = 10, where = () => true } = {}) {
    return eventually(
      `a frame "${type}" (there were: ${this.frames.map((f) => f.type)})`,
      () => this.frames.slice(from).find((f) => f.type === type && where(f)),
      { timeout_ms, every_ms },
    );
  }

  async close_code({ timeout_ms = 10_000 } = {}) {
    const late = sleep(timeout_ms * patience, undefined, { ref: false });
    const end = await Promise.race([this.closed, late]);
    assert.ok(end, `the socket was not closed in ${timeout_ms} ms; frames: ${JSON.stringify(this.frames)}`);
    return end.code;
  }

  close() {
    this.ws.terminate();
  }
}

/** The refusal of a handshake; fails when it succeeds. */
export async function refused_socket(server, event, token, options) {
  let socket;
  try {
    socket = await server.socket(event, token, options);
  } catch (error) {
    if (error.status === undefined) throw error;
    return error;
  }
  socket.close();
  return assert.fail('the handshake was accepted');
}
