// SPDX-License-Identifier: Apache-2.0
// What a measure asks: a server of some build, or a yardstick (nginx, a bare Beast server). A side is
// {name, url, cpu(), end()}; cpu() is the CPU in seconds of all its processes.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import {
  clean_environment,
  eventually,
  free_port,
  root,
  run,
  Server,
  temporary_folder,
} from '../tests/blackbox/lib.mjs';
import { cpu_seconds } from './parts.mjs';

const limits_off = Object.fromEntries(
  ['customer_requests', 'joins_per_customer', 'access_per_session'].map((name) => [
    `rate_limits.${name}_per_minute`,
    0,
  ]),
);
/** The server has one core, the load the other. */
const on_first_core = ['taskset', '-c', '0'];

/** A server of the build in `folder` with the demo sale, on a new data folder. `own`: its certificate;
 * `before`: what runs it. */
export async function server_of(build, { is_pinned = false, before, settings = {}, own } = {}) {
  const listen = own && `127.0.0.1:${await free_port()}`;
  const tls = own ? { 'tls.listen': listen, 'tls.certificate': own.certificate, 'tls.key': own.key } : {};
  const server = await Server.start({
    program: path.join(build.folder, 'app/fairqueue'),
    settings: { ...limits_off, ...tls, ...settings },
    is_plain: true,
    before: before ?? (is_pinned ? on_first_core : []),
    demo: true,
  });
  const file = path.join(server.data_dir, 'demo.json');
  await eventually('the demo sale', () => fs.existsSync(file));
  const demo = JSON.parse(fs.readFileSync(file, 'utf8'));
  return {
    name: build.name,
    url: own ? `https://${listen}` : server.url,
    server,
    demo,
    data_dir: server.data_dir,
    cpu: () => cpu_seconds(server.pid),
    /** Runs a command of the build on the server's data folder; returns its output. */
    async command(...args) {
      const { code, out, err } = await run(server.program, [...args, '--data_dir', server.data_dir]);
      if (code !== 0) throw new Error(`fairqueue ${args.join(' ')}: ${err}`);
      return out.trim();
    },
    async organizer() {
      const body = { email: demo.organizer_email, password: demo.organizer_password };
      return (await server.post('/auth/organizer/login', { body })).json.token;
    },
    end: () => server.stop(),
  };
}

const can_connect = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Programs that serve no purpose but to be compared with. */
async function yardstick(name, command, args, port, own) {
  const [file, ...rest] = [...on_first_core, command, ...args];
  const child = spawn(file, rest, { stdio: 'ignore', env: clean_environment() });
  process.on('exit', () => child.kill('SIGKILL'));
  await eventually(`${name} serves`, () => can_connect(port));
  const url = `${own ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { name, url, cpu: () => cpu_seconds(child.pid), end: () => child.kill('SIGKILL') };
}

/** A body of `length` bytes with the given fields. */
export async function bare_beast(length, fields = []) {
  const port = await free_port();
  const file = path.join(root, 'build/release/bench/bare_beast');
  return yardstick('bare Beast', file, [String(port), String(length), ...fields], port);
}

/** `own`: its certificate; null: plain HTTP. */
export async function nginx(length, own) {
  const port = await free_port();
  const folder = temporary_folder();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const tls = own ? `ssl_certificate ${own.certificate}; ssl_certificate_key ${own.key};` : '';
  const text = `${process.getuid() === 0 ? 'user root;' : ''} daemon off; master_process off;
worker_processes 1; pid ${folder}/pid; error_log stderr crit; events {}
http { access_log off; keepalive_requests 1000000000; ${temporary.join(' ')}
  server { listen 127.0.0.1:${port}${own ? ' ssl' : ''}; ${tls}
    location / { default_type application/json; return 200 '${'x'.repeat(length)}'; } } }`;
  fs.writeFileSync(path.join(folder, 'nginx.conf'), text);
  return yardstick('nginx', 'nginx', ['-p', folder, '-c', path.join(folder, 'nginx.conf')], port, own);
}
