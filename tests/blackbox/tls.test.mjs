// SPDX-License-Identifier: Apache-2.0
// The TLS listener from the view of browsers and operators: REST and WebSocket, reload of certificates under
// load, broken and slow clients. tls_scan.test.mjs runs testssl.sh.
import test from 'node:test';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { Authority, install } from '../support/certificates.mjs';
import { WebSocket, assert, eventually, patience, run, server_for, sleep, temporary_folder } from './lib.mjs';
import { tls_server } from './tls.mjs';

/** One request over TLS: {status, headers, text, json}. */
function ask(site, method, target, { token, body, headers: more, agent = site.agent, secureContext } = {}) {
  const headers = {
    ...more,
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(body && { 'Content-Type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = https.request(
      {
        host: '127.0.0.1',
        port: site.port,
        ca: site.ca,
        secureContext,
        method,
        path: target,
        headers,
        agent,
        timeout: 15_000 * patience,
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode,
            headers: incoming.headers,
            text,
            json: text.startsWith('{') ? JSON.parse(text) : undefined,
          }),
        );
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${target}: no answer`)));
    outgoing.on('error', reject);
    outgoing.end(body && JSON.stringify(body));
  });
}

/** One handshake: {name, protocol, alpn, resumed, session, socket}. */
function shake_hands(site, options = {}) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect(
      {
        host: '127.0.0.1',
        port: site.port,
        ca: site.ca,
        servername: 'localhost',
        ALPNProtocols: ['http/1.1'],
        ...options,
      },
      () =>
        resolve({
          name: socket.getPeerCertificate().subject?.CN,
          protocol: socket.getProtocol(),
          alpn: socket.alpnProtocol,
          resumed: socket.isSessionReused(),
          socket,
        }),
    );
    socket.on('error', reject);
  });
}

async function certificate_of(site) {
  const { name, socket } = await shake_hands(site);
  socket.destroy();
  return name;
}

/** A place followed over wss: its frames and its end. */
async function follow(site, event, token) {
  const socket = new WebSocket(`wss://127.0.0.1:${site.port}/ws/queue/${event}`, ['fairqueue.v1', token], {
    ca: site.ca,
  });
  const followed = { socket, frames: [], closed: undefined };
  socket.on('message', (text) => followed.frames.push(JSON.parse(text)));
  socket.on('close', (code) => {
    followed.closed = code;
  });
  socket.on('error', (error) => {
    followed.closed = String(error);
  });
  await eventually('the state of the place', () => followed.closed || followed.frames.length > 0);
  assert.equal(followed.closed, undefined);
  return followed;
}

async function metrics(server) {
  const { text } = await server.get('/metrics', { admin: true });
  return (name) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    );
}

const lines = (server, message) =>
  server.log
    .split('\n')
    .filter((line) => line.includes(message))
    .map((line) => JSON.parse(line));

async function reload(site, message) {
  const before = lines(site.server, message).length;
  process.kill(site.server.pid, 'SIGHUP');
  return eventually(`the log says "${message}"`, () => lines(site.server, message)[before]);
}

test('a fan buys over TLS: REST, WebSocket, cookies, strict transport security', async (t) => {
  const site = await tls_server(t);
  const organizer = await site.server.organizer();
  const { id: event } = await site.server.event(organizer, { total: 5 });
  const fan = await site.server.customer();
  const joined = await ask(site, 'POST', `/events/${event}/queue`, { token: fan });
  assert.equal(joined.status, 201, joined.text);
  assert.equal(joined.headers['strict-transport-security'], 'max-age=31536000');
  const place = await follow(site, event, fan);
  const admitted = await eventually('admitted', () =>
    place.frames.find((frame) => frame.admission_token ?? frame.entry?.admission_token),
  );
  const claim = await ask(site, 'POST', `/events/${event}/claims`, {
    token: fan,
    body: { admission_token: admitted.admission_token ?? admitted.entry.admission_token },
  });
  assert.equal(claim.status, 201, claim.text);
  place.socket.close(1000);
  await eventually('closed in order', () => place.closed === 1000);
  // The plain listener works beside it and does not mention TLS.
  const plain = await site.server.get(`/events/${event}`, { token: fan });
  assert.equal(plain.status, 200);
  assert.equal(plain.headers['strict-transport-security'], undefined);
  const page = await ask(site, 'GET', '/shop?lang=fr');
  assert.equal(page.status, 303, page.text);
  assert.match(
    String(page.headers['set-cookie']),
    /^__Host-fairqueue_language=fr; Path=\/; .*; Secure$/,
    'its cookies go over TLS only',
  );
  const opened = (Cookie) =>
    ask(site, 'GET', `/shop/events/${event}`, { headers: { Cookie, Accept: 'text/html' } });
  assert.equal((await opened(`__Host-fairqueue_customer=${fan}`)).status, 200);
  // Another host of the domain can plant a cookie of the bare name, and so another person's sign-in.
  assert.equal((await opened(`fairqueue_customer=${fan}`)).status, 303);
});

test('returning clients resume; HTTP/1.1 only, TLS 1.2 or newer', async (t) => {
  const site = await tls_server(t);
  for (const version of ['TLSv1.2', 'TLSv1.3']) {
    const first = await shake_hands(site, { minVersion: version, maxVersion: version });
    assert.deepEqual([first.protocol, first.alpn, first.resumed], [version, 'http/1.1', false]);
    let session = version === 'TLSv1.2' ? first.socket.getSession() : undefined;
    first.socket.on('session', (given) => {
      session = given;
    });
    first.socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually('a ticket', () => session);
    first.socket.destroy();
    const second = await shake_hands(site, { minVersion: version, maxVersion: version, session });
    assert.equal(second.resumed, true, version);
    const answered = new Promise((resolve) => {
      second.socket.once('data', resolve);
    });
    second.socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.match(String(await answered), /^HTTP\/1\.1 200/);
    second.socket.destroy();
  }
  await assert.rejects(
    shake_hands(site, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  );
  await assert.rejects(shake_hands(site, { ALPNProtocols: ['h2'] }), /no application protocol/i);
  const counted = async () => {
    const value = await metrics(site.server);
    return ['full', 'resumed', 'failed']
      .map((result) => value(`fairqueue_tls_handshakes_total{result="${result}"}`))
      .join();
  };
  await eventually('two of each', async () => (await counted()) === '2,2,2').catch(async () =>
    assert.equal(await counted(), '2,2,2'),
  );
});

test('certificates are reloaded under load: open connections stay, new ones get the new certificate', async (t) => {
  const site = await tls_server(t, { settings: { 'io.threads': 2 } });
  const organizer = await site.server.organizer();
  const { id: event } = await site.server.event(organizer, { total: 1, queue: { batch_size: 1 } });
  const fans = await site.server.customers(60);
  for (const fan of fans.slice(0, 20))
    assert.equal((await ask(site, 'POST', `/events/${event}/queue`, { token: fan })).status, 201);
  const sockets = await Promise.all(fans.slice(0, 20).map((fan) => follow(site, event, fan)));
  const kept = await shake_hands(site);

  // A crowd on kept connections, and another with a new connection for each request.
  let asked = 0;
  let over = false;
  const failures = [];
  const keep_asking = async (options) => {
    while (!over) {
      const answer = await ask(site, 'GET', `/events/${event}/queue/position`, options).catch((error) => ({
        status: error.message,
      }));
      if (answer.status !== 200) failures.push(answer.status);
      asked += 1;
    }
  };
  const crowd = fans.slice(0, 16).map((token, i) => keep_asking(i % 2 ? { token } : { token, agent: false }));
  for (let round = 1; round <= 5; ++round) {
    install(site.authority.issue(`round-${round}`), site.files);
    const line = await reload(site, 'certificate read anew');
    assert.equal(line.certificate, `CN=round-${round}`);
    assert.equal(await certificate_of(site), `round-${round}`);
    await sleep(200);
  }
  over = true;
  await Promise.all(crowd);
  assert.deepEqual(failures, []);
  assert.ok(asked > 100, `${asked} requests`);
  assert.deepEqual(
    sockets.filter(({ closed }) => closed !== undefined),
    [],
    'every WebSocket is open',
  );
  kept.socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(
    String(
      await new Promise((resolve) => {
        kept.socket.once('data', resolve);
      }),
    ),
    /^HTTP\/1.1 200/,
  );
  // They still work: the organizer's message reaches each.
  const said = await site.server.patch(`/events/${event}`, {
    token: organizer,
    body: { message: 'nearly there' },
  });
  assert.equal(said.status, 200, said.text);
  for (const place of sockets)
    await eventually('the message', () =>
      place.frames.some((frame) => JSON.stringify(frame).includes('nearly there')),
    );
  assert.equal((await metrics(site.server))('fairqueue_tls_reloads_total{result="done"}'), 5);
  // At the end they get the reconnect notice, with TLS as without.
  site.server.signal('SIGTERM');
  for (const place of sockets) await eventually('told to come back', () => place.closed === 1012);
  assert.deepEqual(await site.server.ended, { code: 0, signal: null });
});

test('a broken certificate is refused with the reason, the one in use stays', async (t) => {
  const site = await tls_server(t);
  const refused = async (change, why) => {
    change();
    assert.match((await reload(site, 'the new certificate is refused')).why, why);
    assert.equal(await certificate_of(site), 'first');
  };
  const other = site.authority.issue('other');
  await refused(() => fs.copyFileSync(other.key, site.files.key), /tls\.key .*key values mismatch/);
  const rsa = site.authority.issue('rsa', { algorithm: 'rsa' });
  await refused(
    () => install({ certificate: other.certificate, key: rsa.key }, site.files),
    /tls\.key .*of another algorithm/,
  );
  await refused(
    () => install({ certificate: rsa.certificate, key: other.key }, site.files),
    /tls\.key .*of another algorithm/,
  );
  await refused(
    () => fs.writeFileSync(site.files.certificate, fs.readFileSync(other.certificate).subarray(0, 300)),
    /tls\.certificate .*chain\.pem: /,
  );
  await refused(() => fs.writeFileSync(site.files.certificate, ''), /tls\.certificate .*no start line/i);
  await refused(
    () => fs.rmSync(site.files.certificate),
    /tls\.certificate .*chain\.pem: No such file or directory/,
  );
  await refused(
    () => install(site.authority.issue('expired', { days: 10, shifted: '-20 days' }), site.files),
    /it has expired/,
  );
  assert.equal((await metrics(site.server))('fairqueue_tls_reloads_total{result="refused"}'), 7);
  assert.equal((await metrics(site.server))('fairqueue_tls_last_reload_refused'), 1);
  install(other, site.files);
  await reload(site, 'certificate read anew');
  assert.equal(await certificate_of(site), 'other');
  assert.equal((await metrics(site.server))('fairqueue_tls_last_reload_refused'), 0);
  assert.ok(!site.server.log.includes('BEGIN'), 'no key in the log');
});

test('a certificate near its end appears in log and metric', async (t) => {
  const site = await tls_server(t);
  const days = async () =>
    ((await metrics(site.server))('fairqueue_tls_certificate_expiry_timestamp_seconds') - Date.now() / 1000) /
    86_400;
  // The authority's own certificate, which is in the chain, ends after 30 days.
  assert.ok(Math.abs((await days()) - 30) < 0.1, `${await days()}`);
  assert.deepEqual(lines(site.server, 'expires soon'), []);
  install(site.authority.issue('soon', { days: 90, shifted: '-85 days' }), site.files);
  await reload(site, 'certificate read anew');
  assert.equal((await eventually('a warning', () => lines(site.server, 'expires soon')[0])).level, 'warning');
  assert.ok(Math.abs((await days()) - 5) < 0.1, `${await days()}`);
});

test('SIGHUP without TLS reads the keys anew; a server with a broken certificate does not start', async (t) => {
  const server = await server_for(t);
  process.kill(server.pid, 'SIGHUP');
  await eventually('a line in the log', () => server.log.includes('keys read anew'));
  assert.equal((await server.get('/livez')).status, 200);
  const folder = temporary_folder();
  const { code, out, err } = await run(server.program, [
    'serve',
    '--data_dir',
    path.join(folder, 'data'),
    '--http.listen',
    '127.0.0.1:0',
    '--http.admin_listen',
    '127.0.0.1:0',
    '--tls.listen',
    '127.0.0.1:0',
    '--tls.certificate',
    path.join(folder, 'none.pem'),
    '--tls.key',
    path.join(folder, 'none.key'),
  ]);
  assert.equal(code, 1);
  assert.match(out + err, /tls\.certificate .*none\.pem: /);

  const authority = new Authority(folder);
  const mixed = {
    certificate: authority.issue('rsa', { algorithm: 'rsa' }).certificate,
    key: authority.issue('ec').key,
  };
  const end = await run(server.program, [
    'serve',
    '--data_dir',
    path.join(folder, 'data'),
    '--http.listen',
    '127.0.0.1:0',
    '--http.admin_listen',
    '127.0.0.1:0',
    '--tls.listen',
    '127.0.0.1:0',
    '--tls.certificate',
    mixed.certificate,
    '--tls.key',
    mixed.key,
  ]);
  assert.equal(end.code, 1, 'it says so, and does not crash');
  assert.match(end.out + end.err, /tls\.key .*ec\.key: .*of another algorithm/);
});

test('slow, silent and plain clients: each gets its answer, and others do not wait', async (t) => {
  const site = await tls_server(t, { settings: { 'tls.handshake_timeout': '5s', 'tls.handshakes_max': 50 } });
  const raw = () =>
    new Promise((resolve) => {
      const socket = net.connect(site.port, '127.0.0.1', () => resolve(socket));
      socket.on('error', () => {});
      socket.closed_at = new Promise((ended) => socket.on('close', () => ended(Date.now())));
      socket.text = '';
      socket.on('data', (part) => {
        socket.text += part;
      });
    });
  const plain = await raw();
  plain.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await plain.closed_at;
  assert.match(plain.text, /^HTTP\/1\.1 400 [^]*\r\n\r\nThis port speaks TLS only\.\n$/);

  const begun = Date.now();
  const dribbling = await raw();
  const hello = Buffer.from('16030102000100', 'hex');
  let sent = 0;
  const drip = setInterval(() => dribbling.write(Buffer.from([hello[sent++] ?? 0])), 100);
  t.after(() => clearInterval(drip));
  const silent = await Promise.all(Array.from({ length: 49 }, raw));
  // The limit is reached: a fan still succeeds when one of them has been silent for a second.
  const waited = Date.now();
  const fan = await shake_hands(site);
  assert.ok(Date.now() - waited < 4000 * patience, `${Date.now() - waited} ms`);
  fan.socket.destroy();
  for (const socket of [dribbling, ...silent])
    assert.ok((await socket.closed_at) - begun < 15_000 * patience);
  const value = await metrics(site.server);
  assert.equal(value('fairqueue_tls_handshakes_total{result="late"}'), 50);
  assert.equal(value('fairqueue_tls_handshakes_pending'), 0);
});

test('half a thousand fans at once', async (t) => {
  const site = await tls_server(t, { settings: { 'tls.handshakes_max': 32 } });
  const fan = await site.server.customer();
  // One for all: to make 500 would hold up their handshakes.
  const secureContext = tls.createSecureContext({ ca: site.ca });
  const answers = await Promise.all(
    Array.from({ length: 500 }, () =>
      ask(site, 'GET', '/events', { token: fan, agent: false, secureContext }).then(
        ({ status }) => status,
        String,
      ),
    ),
  );
  assert.deepEqual([...new Set(answers)], [200]);
});
