// SPDX-License-Identifier: Apache-2.0
// Message framing over raw sockets (request smuggling, ASVS V4.2.1): every row of the table of requests that
// Beast would accept. A refused request gets one answer and a closed connection; later requests in the same
// bytes get none.
import test from 'node:test';
import { assert, patience, Server, sleep } from './lib.mjs';

const server = await Server.start(); // for the whole file; the last test stops it

const smuggled = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: smuggled\r\n\r\n';

/** Sends `bytes`, and returns every answer until the connection closes. */
async function answers_to(bytes, { timeout_ms = 4000 } = {}) {
  const connection = await server.connect();
  connection.send(bytes);
  const answers = [];
  const end = Date.now() + timeout_ms * patience;
  while (Date.now() < end && answers.length < 10) {
    const left = Math.max(50, end - Date.now());
    const answer = await Promise.race([
      connection.answer({ timeout_ms: left * 2 }),
      sleep(left, 'late', { ref: false }),
    ]);
    if (answer === 'late' || answer === null) break;
    answers.push(answer);
  }
  const is_closed = await connection.closes({ timeout_ms: 1500 });
  connection.destroy();
  return { answers, is_closed };
}

/** Asserts one refusal, a close, and no answer to the smuggled request. */
async function must_refuse(bytes, statuses) {
  const { answers, is_closed } = await answers_to(bytes);
  const seen = answers.map((a) => a.status);
  assert.equal(answers.length, 1, `answers ${seen}`);
  assert.ok(statuses.includes(seen[0]), `answered ${seen[0]}, not ${statuses}`);
  assert.notEqual(answers[0].headers['x-request-id'], 'smuggled');
  assert.ok(is_closed, 'the connection stays open');
  if (answers[0].body) assert.equal(JSON.parse(answers[0].body).status, seen[0]);
}

const post = (fields, body = '') =>
  `POST /auth/customer/otp/verify HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;
const chunked = '5\r\nhello\r\n0\r\n\r\n';

const refused = [
  [
    'Content-Length and Transfer-Encoding',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `${chunked}${smuggled}`),
    [400],
  ],
  [
    'Transfer-Encoding and Content-Length',
    post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `${chunked}${smuggled}`),
    [400],
  ],
  [
    'TE: gzip, then Content-Length',
    post('Transfer-Encoding: gzip\r\nContent-Length: 5\r\n', `hello${smuggled}`),
    [400, 501],
  ],
  [
    'Content-Length, then TE: gzip',
    post('Content-Length: 5\r\nTransfer-Encoding: gzip\r\n', `hello${smuggled}`),
    [400, 501],
  ],
  ['TE: xchunked', post('Transfer-Encoding: xchunked\r\n', `${chunked}${smuggled}`), [400, 501]],
  [
    'TE: chunked, identity',
    post('Transfer-Encoding: chunked, identity\r\n', `${chunked}${smuggled}`),
    [400, 501],
  ],
  [
    'TE: chunked, chunked',
    post('Transfer-Encoding: chunked, chunked\r\n', `${chunked}${smuggled}`),
    [400, 501],
  ],
  ['TE: gzip, chunked', post('Transfer-Encoding: gzip, chunked\r\n', `${chunked}${smuggled}`), [400, 501]],
  [
    'TE twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', `${chunked}${smuggled}`),
    [400, 501],
  ],
  ['TE empty', post('Transfer-Encoding: \r\n', smuggled), [400, 501]],
  [
    'TE with a control character',
    post('Transfer-Encoding: \x0bchunked\r\n', `${chunked}${smuggled}`),
    [400, 501],
  ],
  [
    'HTTP/1.0 and chunked',
    `POST /events HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}${smuggled}`,
    [400],
  ],
  [
    'two different Content-Lengths',
    post('Content-Length: 5\r\nContent-Length: 6\r\n', `hello!${smuggled}`),
    [400],
  ],
  [
    'two equal Content-Lengths',
    post('Content-Length: 5\r\nContent-Length: 5\r\n', `hello${smuggled}`),
    [400],
  ],
  ['Content-Length: 5, 5', post('Content-Length: 5, 5\r\n', `hello${smuggled}`), [400]],
  ['Content-Length: +5', post('Content-Length: +5\r\n', `hello${smuggled}`), [400]],
  ['Content-Length: -5', post('Content-Length: -5\r\n', `hello${smuggled}`), [400]],
  ['Content-Length: 0x5', post('Content-Length: 0x5\r\n', `hello${smuggled}`), [400]],
  ['Content-Length: 5 5', post('Content-Length: 5 5\r\n', `hello${smuggled}`), [400]],
  [
    'Content-Length overflows',
    post('Content-Length: 18446744073709551621\r\n', `hello${smuggled}`),
    [400, 413],
  ],
  ['Content-Length of ten exabytes', post('Content-Length: 9999999999999999999\r\n', 'hello'), [400, 413]],
  ['Content-Length empty', post('Content-Length: \r\n', smuggled), [400]],
  ['no Host', `GET /livez HTTP/1.1\r\n\r\n${smuggled}`, [400]],
  ['two Hosts', `GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${smuggled}`, [400]],
  ['two equal Hosts', `GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['Host with a path', `GET /livez HTTP/1.1\r\nHost: x/y\r\n\r\n${smuggled}`, [400]],
  ['Host with user info', `GET /livez HTTP/1.1\r\nHost: me@x\r\n\r\n${smuggled}`, [400]],
  ['a space before the colon', `GET /livez HTTP/1.1\r\nHost : x\r\n\r\n${smuggled}`, [400]],
  ['a NUL in a field', `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n${smuggled}`, [400]],
  ['a NUL in the target', `GET /li\0vez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['bare line feeds', `GET /livez HTTP/1.1\nHost: x\n\n${smuggled}`, [400, 505]],
  ['one bare line feed', `GET /livez HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n${smuggled}`, [400]],
  [
    'a bare carriage return in a field',
    `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n${smuggled}`,
    [400],
  ],
  ['a field without a colon', `GET /livez HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n${smuggled}`, [400]],
  ['a field without a name', `GET /livez HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n${smuggled}`, [400]],
  ['a folded line', `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n${smuggled}`, [400]],
  [
    'chunk size overflows',
    post('Transfer-Encoding: chunked\r\n', `10000000000000005\r\nhello\r\n0\r\n\r\n${smuggled}`),
    [400, 413],
  ],
  [
    'chunk size is no number',
    post('Transfer-Encoding: chunked\r\n', `xyz\r\nhello\r\n0\r\n\r\n${smuggled}`),
    [400],
  ],
  [
    'chunk size is negative',
    post('Transfer-Encoding: chunked\r\n', `-5\r\nhello\r\n0\r\n\r\n${smuggled}`),
    [400],
  ],
  [
    'chunk without its end',
    post('Transfer-Encoding: chunked\r\n', `5\r\nhelloXX0\r\n\r\n${smuggled}`),
    [400],
  ],
  [
    'chunk extension without end',
    post('Transfer-Encoding: chunked\r\n', `5;${'a'.repeat(8000)}\r\nhello\r\n0\r\n\r\n${smuggled}`),
    [400, 413],
  ],
  ['HTTP/1.2', `GET /livez HTTP/1.2\r\nHost: x\r\n\r\n${smuggled}`, [400, 505]],
  ['HTTP/2.0 in one line', `GET /livez HTTP/2.0\r\nHost: x\r\n\r\n${smuggled}`, [400, 505]],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400, 405, 505]],
  ['no version', `GET /livez\r\n\r\n${smuggled}`, [400, 505]],
  ['two spaces in the request line', `GET  /livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['a tab in the request line', `GET\t/livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['a target without a slash', `GET livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['a fragment in the target', `GET /livez#a HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  [
    'an absolute target of another host',
    `GET http://evil.example/livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`,
    [400],
  ],
  ['an absolute target of another scheme', `GET ftp://x/livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400]],
  ['CONNECT', `CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n${smuggled}`, [400, 405]],
  ['TRACE', `TRACE /livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [405]],
  ['a lower-case method', `get /livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400, 405]],
  ['an unknown method', `BREW /livez HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`, [400, 405, 501]],
  ['Expect: something', post('Expect: 200-maybe\r\nContent-Length: 2\r\n', `{}${smuggled}`), [400, 417]],
  [
    'two Authorizations',
    `GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n${smuggled}`,
    [400],
  ],
  [
    'two Content-Types',
    post(
      'Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n',
      `{}${smuggled}`,
    ),
    [400],
  ],
  [
    'TLS',
    Buffer.from('16030100a5010000a10303', 'hex').toString('latin1') + 'a'.repeat(200) + '\r\n\r\n',
    [400],
  ],
  ['garbage', `${'\xff\xfe\x00\x01'.repeat(20)}\r\n\r\n`, [400]],
];

for (const [name, bytes, statuses] of refused) test(`refused: ${name}`, () => must_refuse(bytes, statuses));

test('refused: a header over the limit', async () => {
  const big = `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n${smuggled}`;
  await must_refuse(big, [400, 431]);
  const many = `GET /livez HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(1200)}\r\n${smuggled}`;
  await must_refuse(many, [400, 431]);
  const target = `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`;
  await must_refuse(target, [400, 414, 431]);
});

test('refused: a body over the limit, by length before a byte of it is read, chunked at the limit', async () => {
  await must_refuse(post('Content-Type: application/json\r\nContent-Length: 16385\r\n'), [413]);
  const chunk = `1000\r\n${'a'.repeat(4096)}\r\n`;
  await must_refuse(
    post(
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n',
      `${chunk.repeat(5)}0\r\n\r\n${smuggled}`,
    ),
    [413],
  );
});

test('accepted: plain legal requests', async () => {
  const plain = await answers_to('GET /livez HTTP/1.1\r\nhost: x\r\nConnection: close\r\n\r\n');
  assert.deepEqual(
    plain.answers.map((a) => a.status),
    [200],
  );
  assert.ok(plain.is_closed);
  const old = await answers_to('GET /livez HTTP/1.0\r\n\r\n');
  assert.deepEqual(
    old.answers.map((a) => a.status),
    [200],
    'HTTP/1.0 needs no Host',
  );
  assert.ok(old.is_closed, 'and closes');
  const absolute = await answers_to('GET http://x/livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.ok([200, 400].includes(absolute.answers[0].status), 'absolute form of our own host may be taken');
  const in_chunks = await answers_to(
    post(
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n',
      '1;a=b\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: y\r\n\r\n',
    ),
  );
  assert.deepEqual(
    in_chunks.answers.map((a) => a.status),
    [400],
    'read as JSON, and found wanting',
  );
  assert.equal(JSON.parse(in_chunks.answers[0].body).code, 'invalid_field');
  const no_body = await answers_to(
    `GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${smuggled
      .replace('smuggled', 'second')
      .replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}`,
  );
  assert.deepEqual(
    no_body.answers.map((a) => a.status),
    [200, 200],
  );
  assert.equal(no_body.answers[1].headers['x-request-id'], 'second');
});

test('a header cut at every byte, with a pause', async () => {
  const bytes = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Some: thing\r\n\r\n';
  await Promise.all(
    Array.from({ length: bytes.length - 1 }, async (_, i) => {
      const connection = await server.connect();
      connection.send(bytes.slice(0, i + 1));
      await sleep(40);
      connection.send(bytes.slice(i + 1));
      const answer = await connection.answer();
      assert.equal(answer.status, 200, `cut after ${JSON.stringify(bytes.slice(0, i + 1))}: ${answer.body}`);
      connection.destroy();
    }),
  );
});

test('headers of every length up to the limit', async () => {
  const connection = await server.connect();
  for (let size = 1; size < 7900; size += 1 + (Math.abs(size - 4060) < 60 ? 0 : 37)) {
    connection.send(`GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(size)}\r\n\r\n`);
    assert.equal((await connection.answer()).status, 200, `a field of ${size} bytes`);
  }
  connection.destroy();
});

test('a request that arrives byte by byte', async () => {
  const body = '{"email":"a@b","otp":"000","handle":"h"}';
  for (const framing of [
    `Content-Length: ${body.length}\r\n\r\n${body}`,
    `Transfer-Encoding: chunked\r\n\r\n${[...body].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`,
  ]) {
    const connection = await server.connect();
    for (const byte of `POST /auth/customer/otp/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${framing}`) {
      connection.send(byte);
      await sleep(1);
    }
    const answer = await connection.answer();
    assert.equal(answer.status, 401, answer.body);
    assert.equal(JSON.parse(answer.body).code, 'invalid_otp');
    connection.destroy();
  }
});

test('Expect: 100-continue', async () => {
  const connection = await server.connect();
  connection.send(post('Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n'));
  assert.equal((await connection.answer()).status, 100);
  connection.send('{}');
  assert.equal((await connection.answer()).status, 400);
  connection.destroy();
  await must_refuse(
    post('Content-Type: application/json\r\nContent-Length: 99999\r\nExpect: 100-continue\r\n'),
    [413, 417],
  );
});

test('HEAD has no body, and the connection stays open', async () => {
  const connection = await server.connect();
  connection.send('HEAD /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  const head = await connection.answer({ without_body: true });
  assert.ok([200, 405].includes(head.status), String(head.status));
  connection.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.equal((await connection.answer()).status, 200);
  connection.destroy();
});

test('the server is healthy afterwards', async () => {
  assert.equal((await server.get('/readyz')).status, 200);
  await server.stop();
  assert.ok(!/Sanitizer|terminate called/.test(server.log), server.log.slice(-2000));
});
