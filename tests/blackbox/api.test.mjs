// SPDX-License-Identifier: Apache-2.0
// The API description: clean for two linters, served as written, shown as a page without external files.
// CTest's blackbox_*_prism run other files through Prism, which compares requests and answers with the
// description. This file checks that Prism would report a difference.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { assert, expect_problem, free_port, root, run, server_for } from './lib.mjs';
import { to_json } from '../../web/openapi.mjs';
import { ValidatingProxy } from './validating_proxy.mjs';

const description = path.join(root, 'docs/openapi.yaml');
const here = path.join(root, 'tests/blackbox');
const program = (name) => path.join(here, 'node_modules/.bin', name);

/** A linter's exit code for the description, and for a copy with a mistake. */
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

test('redocly finds no error, and finds a planted one', async () => {
  const env = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const found = await codes_of((file) => run(program('redocly'), ['lint', file], { env }));
  assert.deepEqual([found.good, found.bad], [0, 1], found.text);
});

test('spectral finds no error, and finds a planted one', async () => {
  const rules = path.join(here, 'spectral.yaml');
  const found = await codes_of((file) => run(program('spectral'), ['lint', '--ruleset', rules, file]));
  assert.deepEqual([found.good, found.bad], [0, 1], found.text);
});

test('prism reports an answer that differs from the description', async (t) => {
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

test('/docs: a page with files of this server only, which may be cached', async (t) => {
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
  assert.deepEqual(json, JSON.parse(to_json(fs.readFileSync(description, 'utf8'))));
});

test('the conversion of the description refuses what is no YAML and what is likely a mistake, with the line', () => {
  const is = (yaml, wanted) => assert.deepEqual(JSON.parse(to_json(yaml)), wanted);
  is('a: 1\nb:\n  - x\n  - y: true\n    z: null\n  - [1, \'it\'\'s\', {k: v}]\n# c\nc: "q: \\"#\\""\n', {
    a: 1,
    b: ['x', { y: true, z: null }, [1, "it's", { k: 'v' }]],
    c: 'q: "#"',
  });
  is('t: >-\n  one\n  two: x\nn: -1.5\nv: 3.1.0\n"200": 7\n', {
    t: 'one two: x',
    n: -1.5,
    v: '3.1.0',
    200: 7,
  });
  is('empty: {}\nlist: []\n', { empty: {}, list: [] });
  for (const [yaml, why] of [
    ['a: 1\na: 2\n', /^line 2: .*must be unique/],
    ['a: &x 1\n', /^line 1: an anchor or a tag/],
    ['a: !!str 1\n', /^line 1: an anchor or a tag/],
    ['a: *x\n', /^line 1: an alias/],
    ['a:\n', /^line 1: a value is missing/],
    ['a: [1, 2\n', /^line \d: .*must be sufficiently indented and end with a \]/],
    ['a: {k: 1, k: 2}\n', /^line 1: .*must be unique/],
    ['a: {d: one, two, k: 2}\n', /^line 1: a value is missing/],
    ['a: b: c\n', /^line 1: Nested mappings/],
    ['a: 1 # x\n', /^line 1: a comment after a value/],
    ['a: 1\n   b: 2\n', /^line \d: Nested mappings/],
    ['a: 1\n---\nb: 2\n', /^line 2: .*multiple documents/],
    ['\ta: 1\n', /^line 1: a tab/],
    ['', /^line 1: nothing here/],
  ])
    assert.throws(() => to_json(yaml), { message: why }, yaml);
});

test('the first look: an index for programs, an icon, rules for robots', async (t) => {
  const server = await server_for(t);
  const index = await server.get('/');
  assert.equal(index.status, 200, index.text);
  assert.deepEqual(
    { ...index.json, version: typeof index.json.version },
    {
      name: 'FairQueue',
      version: 'string',
      openapi: '/openapi.json',
      docs: '/docs',
      health: '/readyz',
    },
  );
  assert.equal(index.headers.vary, 'Accept');
  for (const path of [index.json.openapi, index.json.docs, index.json.health])
    assert.equal((await server.get(path)).status, 200, path);
  const icon = await server.get('/favicon.ico');
  assert.equal(icon.status, 200);
  assert.equal(icon.headers['content-type'], 'image/png');
  assert.equal(icon.headers['cache-control'], 'public, max-age=86400');
  const robots = await server.get('/robots.txt');
  assert.equal(robots.headers['content-type'], 'text/plain; charset=utf-8');
  assert.match(robots.text, /^User-agent: \*\nAllow: \/shop\n/);
  for (const path of ['shop/', 'checkout', 'orders', 'console'])
    assert.ok(robots.text.includes(`\nDisallow: /${path}\n`), robots.text);
});

test('the facts of an event: in the API, on pages, in calendars; null clears them', async (t) => {
  const server = await server_for(t);
  const token = await server.organizer();
  const facts = {
    starts_at: '2036-11-27T18:30:00.000Z',
    ends_at: '2036-11-27T22:00:00.000Z',
    doors_at: '2036-11-27T17:30:00.000Z',
    time_zone: 'Africa/Lagos',
    venue: {
      name: 'The Arena & Hall',
      address: 'Main Road 1, Lagos',
      latitude: 6.4461,
      longitude: -3.400001,
    },
    description: '# Tonight\n\n*Two* teams. <script>alert(1)</script> [More](javascript:alert(1))',
    ticket_terms: 'No glass.\nNo dogs.',
  };
  const types = [{ name: 'Seat', price: 5000, total: 5, description: 'With a roof.' }];
  const event = await server.event(token, { ...facts, ticket_types: types });
  const facts_of = (thing) => Object.fromEntries(Object.keys(facts).map((name) => [name, thing[name]]));
  assert.deepEqual(facts_of(event), facts);
  const read = (await server.get(`/events/${event.id}`)).json;
  assert.deepEqual(facts_of(read), facts);
  assert.equal(read.ticket_types[0].description, 'With a roof.');
  const listed = (await server.get('/events')).json.items.find(({ id }) => id === event.id);
  assert.deepEqual([listed.venue, listed.description], [facts.venue, undefined]);
  assert.equal(listed.ticket_terms, undefined);

  const html = { unchecked: true, headers: { Accept: 'text/html' } };
  const page = (await server.get(`/wait/${event.id}`, html)).text;
  for (const part of [
    'Thursday, 27 November 2036 at 19:30 GMT+1',
    'The Arena &amp; Hall',
    '<h3>Tonight</h3>',
    'With a roof.',
    `<meta property="og:url" content="${server.url}/wait/${event.id}">`,
  ])
    assert.ok(page.includes(part), `no ${part} in ${page}`);
  assert.doesNotMatch(page, /<script>|javascript:|noindex/);
  const data = JSON.parse(/<script type="application\/ld\+json">([^<]*)<\/script>/.exec(page)[1]);
  assert.equal(data.startDate, '2036-11-27T19:30:00+01:00');
  assert.equal(data.location.name, facts.venue.name);
  const arabic = (
    await server.get(`/wait/${event.id}`, { ...html, headers: { ...html.headers, 'Accept-Language': 'ar' } })
  ).text;
  assert.match(arabic, /dir="rtl"[^]*27 نوفمبر 2036/);
  const shop = (await server.get('/shop', html)).text;
  assert.match(shop, /19:30 GMT\+1[^]*The Arena &amp; Hall[^]*50\.00 NGN[^]*On sale/);

  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==',
    'base64',
  );
  const send = (body, type) =>
    server.request('PUT', `/events/${event.id}/picture`, { token, body, headers: { 'Content-Type': type } });
  const pictured = await send(pixel, 'image/png');
  assert.equal(pictured.status, 200, pictured.text);
  const { picture } = pictured.json;
  const file = await server.get(`/pictures/${picture}-small`);
  assert.equal(file.headers['content-type'], 'image/jpeg');
  assert.equal(file.headers['cache-control'], 'public, max-age=86400');
  expect_problem(await send(Buffer.from('GIF89a'), 'image/png'), 422, 'picture_unreadable');
  const with_picture = (await server.get(`/wait/${event.id}`, html)).text;
  assert.ok(
    with_picture.includes(`<meta property="og:image" content="${server.url}/pictures/${picture}-large">`),
  );
  assert.match(with_picture, new RegExp(`<img class="picture"[^>]* src="/pictures/${picture}-medium">`));
  assert.ok((await server.get('/shop', html)).text.includes(`/pictures/${picture}-medium`));
  const plain = await server.delete(`/events/${event.id}/picture`, { token });
  assert.equal(plain.json.picture, null);
  assert.ok(!(await server.get(`/wait/${event.id}`, html)).text.includes('og:image'));

  const calendar = await server.get(`/events/${event.id}/calendar.ics`);
  assert.equal(calendar.headers['content-type'], 'text/calendar; charset=utf-8');
  for (const line of ['DTSTART:20361127T183000Z', 'DTEND:20361127T220000Z', 'SUMMARY:Black-box sale'])
    assert.ok(calendar.text.includes(`\r\n${line}\r\n`), calendar.text);

  const change = (body) => server.patch(`/events/${event.id}`, { token, body });
  expect_problem(await change({ time_zone: 'Nowhere/City' }), 400, 'invalid_field');
  expect_problem(await change({ ends_at: facts.doors_at }), 400, 'invalid_field');
  expect_problem(await change({ venue: { latitude: null } }), 400, 'invalid_field');
  expect_problem(await change({ ticket_terms: 'x'.repeat(1001) }), 400, 'invalid_field');
  const nulls = { ...facts_of({}), venue: { name: null, address: null, latitude: null, longitude: null } };
  for (const name of Object.keys(nulls)) nulls[name] ??= null;
  const cleared = await change(nulls);
  assert.equal(cleared.status, 200, cleared.text);
  assert.deepEqual(facts_of(cleared.json), nulls);
  expect_problem(await server.get(`/events/${event.id}/calendar.ics`), 404, 'not_found');
  assert.ok(!(await server.get(`/wait/${event.id}`, html)).text.includes('ld+json'));
  assert.equal((await change({ starts_at: facts.starts_at })).status, 200);
  await server.post(`/events/${event.id}/end`, { token });
  assert.equal((await change({ venue: { name: 'Another hall' } })).status, 200, 'the sale is over');
  expect_problem(await change({ name: 'Another name' }), 409, 'invalid_transition');
});

test('a seat plan is not sent again to a client that has it', async (t) => {
  const server = await server_for(t);
  const organizer = await server.organizer();
  const draft = await server.event(organizer, {}, { activate: false });
  const target = `/events/${draft.id}/seat-plan`;
  const ticket_type = draft.ticket_types[0].name;
  const seats = ['1', '2', '3'].map((seat, i) => ({ seat, x: 100 + 50 * i, y: 100 }));
  const plan = { ticket_types: [ticket_type], sections: [{ rows: [{ row: 'A', ticket_type, seats }] }] };
  const stored = await server.request('PUT', target, { token: organizer, body: plan });
  assert.equal(stored.status, 204, stored.text);
  expect_problem(await server.get(target), 404, 'not_found', 'a draft');
  assert.equal((await server.post(`/events/${draft.id}/activate`, { token: organizer })).status, 200);
  const first = await server.get(target);
  assert.deepEqual(first.json.sections[0].rows[0].seats, seats);
  assert.equal((await server.get(target)).text, first.text);
  const headers = { 'If-None-Match': first.headers.etag };
  for (const form of ['json', 'csv', 'svg']) {
    const same = await server.get(`${target}?form=${form}`, { headers });
    assert.equal(same.status, 304, same.text);
    assert.equal(same.text, '');
    assert.equal(same.headers.etag, first.headers.etag);
  }
});
