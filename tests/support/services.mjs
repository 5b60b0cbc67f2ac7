// SPDX-License-Identifier: Apache-2.0
// A private Postgres, Redis and NATS for a test (scripts/services), with SQL through psql and commands
// through redis-cli.
import './ends_at_once.mjs';
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const script = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../scripts/services');
export const postgres_programs = '/usr/lib/postgresql/15/bin';

/** Runs a program to its end: {code, out, err}. */
function run(file, args, { input = '', env = {}, timeout_ms = 60_000 } = {}) {
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...process.env, ...env },
      timeout: timeout_ms,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 30,
    };
    const child = execFile(file, args, options, (error, out, err) => {
      if (error?.code === 'ENOENT')
        return reject(new Error(`no program at ${file}; scripts/setup installs it`));
      resolve({ code: child.exitCode, out, err });
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

async function services(...args) {
  return services_from([], ...args);
}
/** `enter`: a command that runs another one on the host of the services. */
async function services_from(enter, ...args) {
  const [file, ...rest] = [...enter, script, ...args];
  const { code, out, err } = await run(file, rest, { timeout_ms: 240_000 });
  assert.equal(code, 0, `scripts/services ${args.join(' ')}: ${err}`);
  return out;
}

/** The same address with the port of a proxy. */
export function through(url, port) {
  const other = new URL(url);
  other.port = String(port);
  return other.toString();
}

const psql_arguments = (url) => [
  '--no-psqlrc',
  '--quiet',
  '--no-align',
  '--tuples-only',
  '--set=ON_ERROR_STOP=1',
  url,
];

/** The rows of a query, as objects. Throws the message of Postgres. */
export async function sql(url, query) {
  const { code, out, err } = await run(path.join(postgres_programs, 'psql'), psql_arguments(url), {
    input: `SELECT coalesce(json_agg(row), '[]') FROM (${query}) AS row;`,
  });
  if (code !== 0) throw new Error(`${query}\n${err}`);
  return JSON.parse(out);
}

/** Runs one statement without rows. */
export async function execute(url, statement) {
  const { code, err } = await run(path.join(postgres_programs, 'psql'), psql_arguments(url), {
    input: `${statement};`,
  });
  if (code !== 0) throw new Error(`${statement}\n${err}`);
}

/** A session that stays open between its statements, for locks. */
export class SqlSession {
  #output = '';
  #number = 0;

  constructor(url) {
    this.child = spawn(path.join(postgres_programs, 'psql'), psql_arguments(url), { stdio: 'pipe' });
    this.child.stdin.on('error', () => {});
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        this.#output += text;
      });
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  /** Resolves when the statement has been executed. */
  async execute(statement) {
    const mark = `-- done ${++this.#number} --`;
    this.child.stdin.write(`${statement};\n\\echo '${mark}'\n`);
    while (!this.#output.includes(mark)) {
      assert.equal(this.child.exitCode, null, `${statement}\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async close() {
    this.child.stdin.end();
    await this.ended;
  }
}

/** Runs one command; returns the output of redis-cli. Throws on an error. */
export async function redis(url, ...command) {
  const { code, out, err } = await run(
    'redis-cli',
    ['-e', '-u', url, '--no-auth-warning', ...command.map(String)],
    {
      timeout_ms: 10_000,
    },
  );
  if (code !== 0) throw new Error(`${command.join(' ')}: ${out}${err}`);
  return out.trim();
}

const running = new Set();
process.on('exit', () => {
  for (const { folder } of running) spawnSync(script, ['stop', folder]);
});

/** Servers in a scratch folder; they end with this process in any case. */
export class Services {
  /** `wanted`: 'postgres', 'redis', 'nats'. */
  static start(...wanted) {
    return Services.start_on({ enter: [], address: '127.0.0.1' }, ...wanted);
  }
  /** Their data is in `folder`. */
  static start_in(folder, ...wanted) {
    return Services.#start([], ...wanted.map((name) => `--${name}`), '--folder', folder);
  }
  /** `host`: as of Hosts (tests/blackbox/hosts.mjs). */
  static start_on(host, ...wanted) {
    return Services.#start(host.enter, ...wanted.map((name) => `--${name}`), '--address', host.address);
  }
  /** Three Postgres under Patroni, each on a host of its own; their etcd has `address`, on this host. */
  static start_ha(address, hosts) {
    const each = hosts.flatMap((host) => ['--host', `${host.address}@${host.holder.pid}`]);
    return Services.#start([], '--postgres-ha', '--address', address, ...each);
  }
  static async #start(enter, ...options) {
    const it = new Services();
    const addresses = await services_from(enter, 'start', '--parent', String(process.pid), ...options);
    const value = (name) => new RegExp(`^export ${name}=(.*)$`, 'm').exec(addresses)?.[1];
    it.folder = value('FAIRQUEUE_SERVICES');
    it.postgres_url = value('FAIRQUEUE_TEST_POSTGRES');
    it.postgres_ha_url = value('FAIRQUEUE_TEST_POSTGRES_HA');
    it.redis_url = value('FAIRQUEUE_TEST_REDIS');
    it.nats_url = value('FAIRQUEUE_TEST_NATS');
    running.add(it);
    return it;
  }

  down(service) {
    return services('down', service, this.folder);
  }
  kill(service) {
    return services('kill', service, this.folder);
  }
  up(service) {
    return services('up', service, this.folder);
  }
  restart(service) {
    return services('restart', service, this.folder);
  }
  pause(service) {
    return services('pause', service, this.folder);
  }
  resume(service) {
    return services('resume', service, this.folder);
  }

  /** A new, empty database: its address. */
  async database(name) {
    await execute(this.postgres_url, `CREATE DATABASE "${name}"`);
    const url = new URL(this.postgres_url);
    url.pathname = `/${name}`;
    return url.toString();
  }

  async stop() {
    if (running.delete(this)) await services('stop', this.folder);
  }
}
