// SPDX-License-Identifier: Apache-2.0
// Tries the server with schemathesis, as each identity. By hand, because it needs PyPI:
//   node tests/schemathesis/run.mjs [identity...] [-- arguments of `schemathesis run`]
// build/schemathesis gets schemathesis, and a folder with the report of each identity.
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync, spawn } from 'node:child_process';

const here = import.meta.dirname;
const build = path.join(here, '../../build');
process.env.FAIRQUEUE_BIN ??= path.join(build, 'release/app/fairqueue');
const { Server } = await import('../blackbox/lib.mjs');
const { cli } = await import('../blackbox/tenant.mjs');
const { populate, settings } = await import('../blackbox/world.mjs');

const place = path.join(build, 'schemathesis');
const program = path.join(place, 'venv/bin/schemathesis');
/** What ends the token, and so comes last. */
const farewell = { customer: 'eraseCustomer', organizer: 'endSignIn' };
const limits =
  'anonymous_requests_per_ip customer_requests joins_per_customer joins_per_ip access_per_session';
for (const name of `${limits} access_per_key access_failures_per_ip`.split(' '))
  settings[`rate_limits.${name}_per_minute`] = 0;
for (const name of ['rate_limits.login_failures_per_ip_per_minute', 'otp.requests_per_ip_per_minute'])
  settings[name] = 1000000;
settings['http.allowed_origins'] = 'https://shop.example.org';
settings['log.level'] = 'warn';

async function world_of(identity) {
  const server = await Server.start({ settings });
  const { ids, tokens } = await populate(
    server,
    (await server.sign_in_by_mail('fan@example.com')).json.token,
  );
  // Of the organizer's tenant, so that it sees the events.
  const key = await cli(server, 'apikey', 'issue', '--scope', 'operator');
  tokens.operator = (await server.post('/sessions', { token: key })).json.token;
  const token = tokens[{ customer: 'fan', organizer: 'org', key: 'server1' }[identity] ?? identity];
  const own = async (path, body) => (await server.post(path, { token, body })).json.id;
  if (['organizer', 'operator'].includes(identity)) {
    ids.queue = await own('/queues', { name: 'Match', concurrency: 1 });
    ids.endpoint = await own('/webhook-endpoints', { url: 'http://127.0.0.1:9/own' });
  }
  return { server, ids, token };
}

function schemathesis({ server, ids, token }, folder, more) {
  const args = ['--config-file', path.join(here, 'schemathesis.toml'), 'run', `${server.url}/openapi.json`];
  args.push('--url', server.url, '--report', 'ndjson', '--report-dir', folder, '--no-color', ...more);
  if (token) args.push('-H', `Authorization: Bearer ${token}`, '-H', `Cookie: fairqueue_customer=${token}`);
  const out = fs.openSync(path.join(folder, 'out.txt'), 'a');
  const env = { ...process.env, PYTHONPATH: here, FAIRQUEUE_IDS: JSON.stringify(ids) };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', out, 'inherit'] });
  return new Promise((ended) => child.on('close', ended));
}

async function is_well_as(identity, more) {
  const folder = path.join(place, identity);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const world = await world_of(identity);
  const last = (verb) => (farewell[identity] ? [`--${verb}-operation-id`, farewell[identity]] : []);
  let code = await schemathesis(world, folder, [...last('exclude'), ...more]);
  if (farewell[identity]) code = (await schemathesis(world, folder, [...last('include'), ...more])) || code;
  fs.writeFileSync(path.join(folder, 'server.log'), world.server.log);
  const lines = fs
    .readFileSync(path.join(folder, 'out.txt'), 'utf8')
    .match(/Tested: .*|\d+ generated.*|in [\d.]+s(?= =)/g);
  console.log(identity, world.server.is_running ? lines : 'the server died');
  const { is_running } = world.server;
  await world.server.kill();
  return is_running && code === 0;
}

if (!fs.existsSync(program)) {
  execFileSync('python3', ['-m', 'venv', path.join(place, 'venv')], { stdio: 'inherit' });
  execFileSync(path.join(place, 'venv/bin/pip'), ['install', '--quiet', 'schemathesis==4.32.5'], {
    stdio: 'inherit',
  });
}
const args = process.argv.slice(2);
const end = args.includes('--') ? args.indexOf('--') : args.length;
const names = ['none', 'customer', 'organizer', 'key', 'operator'];
const identities = end ? args.slice(0, end) : names;
const unknown = identities.find((name) => !names.includes(name));
if (unknown) throw new Error(`no identity ${unknown}: ${names}`);
let all_well = true;
for (const identity of identities) all_well = (await is_well_as(identity, args.slice(end + 1))) && all_well;
process.exit(all_well ? 0 : 1);
