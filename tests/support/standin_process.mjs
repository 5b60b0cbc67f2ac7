// SPDX-License-Identifier: Apache-2.0
// A gateway stand-in as its own process, for tests that kill it or must not share its event loop. Outside:
// start, control, kill, restart. Inside: command line and end.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';

const start_timeout_ms = 10_000;

/** POST /_control/<name> at `url`; returns its result. Throws a refusal of the stand-in. */
export function control(url, name, argument = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/_control/${name}`, { method: 'POST', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('error', reject).on('end', () => {
        const { result, error } = JSON.parse(text);
        if (response.statusCode === 200) resolve(result);
        else reject(new Error(`${name}: ${error}`));
      });
    });
    request.on('error', reject).end(JSON.stringify(argument));
  });
}

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class StandinProcess {
  /**
   * `name`: 'stripe' or 'paystack'; `args`: of its command line, by name: {ledger, 'webhook-url', secret,
   * ...}.
   */
  static async start(name, args = {}) {
    const it = new StandinProcess();
    Object.assign(it, { name, args });
    await it.#start();
    return it;
  }

  async #start() {
    const program = fileURLToPath(new URL(`${this.name}_standin.mjs`, import.meta.url));
    const args = Object.entries(this.args).flatMap(([key, value]) => [`--${key}`, String(value)]);
    this.child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(this.child);
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
    this.ended.then(() => running.delete(this.child));
    const lines = readline.createInterface({ input: this.child.stdout });
    const late = setTimeout(() => this.child.kill('SIGKILL'), start_timeout_ms);
    const first = await Promise.race([new Promise((resolve) => lines.once('line', resolve)), this.ended]);
    clearTimeout(late);
    if (typeof first !== 'string') throw new Error(`the ${this.name} stand-in did not start`);
    this.url = JSON.parse(first).url;
    this.port = Number(new URL(this.url).port);
  }

  control(name, argument) {
    return control(this.url, name, argument);
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Starts it again on the same port. */
  async restart() {
    await this.kill();
    this.args = { ...this.args, port: this.port };
    await this.#start();
  }

  async stop() {
    this.child.kill('SIGTERM');
    await this.ended;
  }
}

// -- inside -------------------------------------------------------------------------------------------------

/** `--name value` pairs as an object; names that are not in `known` end the program. */
export function commandLine(known, argv = process.argv.slice(2)) {
  const given = {};
  for (let i = 0; i < argv.length; i += 2) {
    const name = argv[i].replace(/^--/, '');
    if (!known.includes(name) || argv[i + 1] === undefined) {
      console.error(`usage: [--${known.join(' <value>] [--')} <value>]`);
      process.exit(2);
    }
    given[name] = argv[i + 1];
  }
  return given;
}

/** The program: prints its address as one JSON line; ends with SIGTERM or with its parent process. */
export async function runAsCommand(start) {
  const parent = process.ppid;
  const double = await start();
  setInterval(() => {
    if (process.ppid !== parent) process.exit(0);
  }, 200).unref();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(signal, () => double.close().then(() => process.exit(0)));
  const { name, url } = double;
  fs.writeSync(1, `${JSON.stringify({ name, url, control: `${url}/_control`, pid: process.pid })}\n`);
}
