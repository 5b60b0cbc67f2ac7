// SPDX-License-Identifier: Apache-2.0
// The API description: clean for two linters, served as it is written, shown as a page without anything from elsewhere. CTest's
// blackbox_*_prism run other files through Prism, which compares requests and answers with it; that Prism would see a difference is
// seen here.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { assert, free_port, root, run, server_for } from './lib.mjs';
import { ValidatingProxy } from './validating_proxy.mjs';

const description = path.join(root, 'docs/openapi.yaml');
const here = path.join(root, 'tests/blackbox');
const program = (name) => path.join(here, 'node_modules/.bin', name);

/** A linter's exit code for the description as it is, and for one with a mistake in it. */
async function codes_of(lint) {
  const text = fs.readFileSync(description, 'utf8');
  const broken = path.join(here, `broken-${process.pid}.yaml`);
  fs.writeFileSync(broken, text.replace('operationId: getDescription', 'operationId: getDocs'));
  try {
    const [good, bad] = [await lint(description), await lint(broken)];
    return { good: good.code, bad: bad.code, text: good.out + good.err };
  } finally {
    fs.rmSync(broken);
  }
}

test('redocly finds no error, and would', async () => {
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const found = await codes_of((file) => run(program('redocly'), ['lint', file], { env }));
  assert.deepEqual([found.good, found.bad], [0, 1], found.text);
});

test('spectral finds no error, and would', async () => {
  const rules = path.join(here, 'spectral.yaml');
  const found = await codes_of((file) => run(program('spectral'), ['lint', '--ruleset', rules, file]));
  assert.deepEqual([found.good, found.bad], [0, 1], found.text);
});

test('prism sees an answer that is not as described', async (t) => {
  const liar = http.createServer((_, answer) => {
    answer.writeHead(200, { 'Content-Type': 'application/json' });
    answer.end('{"status":7}');
  });
  const port = await free_port();
  await new Promise((done) => liar.listen(port, '127.0.0.1', done));
  t.after(() => liar.close());
  const proxy = await ValidatingProxy.start(description, `http://127.0.0.1:${port}`, await free_port());
  t.after(() => proxy.close());
  const got = await fetch(`http://127.0.0.1:${proxy.port}/livez`, { headers: { connection: 'close' } });
  assert.throws(
    () => proxy.check('GET /livez', { status: got.status, headers: Object.fromEntries(got.headers) }),
    /not as docs\/openapi.yaml says/,
  );
});

test('/docs: a page of this server alone, and its files may be kept', async (t) => {
  const server = await server_for(t);
  const page = await server.get('/docs');
  assert.equal(page.status, 200);
  assert.match(page.headers['content-security-policy'], /default-src 'none'.*script-src 'self'/);
  assert.ok(!/(src|href)="(https?:)?\/\//.test(page.text), 'nothing from elsewhere');
  const files = [...page.text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, file]) => `/${file}`);
  assert.equal(files.length, 3, page.text.slice(0, 2000));
  for (const file of files) {
    const plain = await server.get(file);
    assert.equal(plain.status, 200);
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(plain.headers.vary, 'Accept-Encoding');
    const packed = await fetch(`${server.url}${file}`, {
      headers: { 'accept-encoding': 'gzip', 'connection': 'close' },
    });
    assert.equal(packed.headers.get('content-encoding'), 'gzip');
    assert.equal(await packed.text(), plain.text);
  }
  const json = (await server.get('/openapi.json')).json;
  assert.equal(json.openapi, '3.1.0');
});
