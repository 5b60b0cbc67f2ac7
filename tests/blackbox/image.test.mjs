// SPDX-License-Identifier: Apache-2.0
// The Dockerfile, built and run by buildah without an engine. A bare Debian (tests/support/bare_debian)
// replaces debian:12. Compiles the server: only with FAIRQUEUE_LONG=1.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { assert, eventually, root as sources, run, temporary_folder } from './lib.mjs';

const shelf = path.join(process.env.FAIRQUEUE_BUILD ?? path.join(sources, 'build/release'), 'package');
const minutes = 60_000;
const skip = process.env.FAIRQUEUE_LONG !== '1' && 'only with FAIRQUEUE_LONG=1';

/** buildah with a storage of its own. */
function buildah(t) {
  const folder = temporary_folder();
  const storage = [
    '--root',
    path.join(folder, 'images'),
    '--runroot',
    path.join(folder, 'run'),
    '--storage-driver',
    'vfs',
  ];
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return {
    args: (...words) => [...storage, ...words],
    async must(...words) {
      const end = await run('buildah', [...storage, ...words], { timeout_ms: 90 * minutes });
      assert.equal(end.code, 0, `buildah ${words.join(' ')}\n${end.out}${end.err}`.slice(-20_000));
      return end.out.trim();
    },
  };
}

test('the image: at most 150 MB, not root, ready', { skip }, async (t) => {
  const b = buildah(t);
  const base = await b.must('from', 'scratch');
  await b.must('add', base, path.join(shelf, 'debian12.tar'), '/');
  await b.must('run', '--isolation', 'chroot', base, '--', 'sh', '-c', 'rm -rf /var/lib/apt/lists/*');
  for (const name of ['debian:12', 'debian:12-slim'])
    await b.must('commit', base, `docker.io/library/${name}`);
  await b.must('rm', base);

  const jobs = process.env.FAIRQUEUE_IMAGE_JOBS;
  const build = jobs ? ['--build-arg', `JOBS=${jobs}`] : [];
  await b.must(
    'bud',
    '--format',
    'docker',
    '--isolation',
    'chroot',
    '--pull-never',
    ...build,
    '--tag',
    'fairqueue',
    sources,
  );
  const [image] = JSON.parse(await b.must('images', '--json', 'fairqueue'));
  const [, size, unit] = /^([\d.]+) (\w+)$/.exec(image.size);
  t.diagnostic(`image: ${image.size}`);
  assert.ok(unit === 'MB' && Number(size) <= 150, image.size);

  const hard = (await run('sh', ['-c', 'ulimit -H -n'])).out.trim();
  const files = hard === 'unlimited' ? 65_536 : Math.min(Number(hard), 65_536); // buildah's default is 1,024
  const ulimit = ['--ulimit', `nofile=${files}:${files}`];
  const container = await b.must('from', '--pull-never', ...ulimit, 'fairqueue');
  const inside = (...words) => b.must('run', '--isolation', 'chroot', container, '--', ...words);
  assert.equal(await inside('id', '-u'), '10001');
  const {
    OCIv1: { config },
  } = JSON.parse(await b.must('inspect', '--type', 'image', 'fairqueue'));
  assert.ok(config.Env.includes('FAIRQUEUE_ENVIRONMENT=production'));

  const command = ['--env', 'FAIRQUEUE_HTTP_PUBLIC_URL=https://tickets.example', container, '--'];
  const words = b.args('run', '--isolation', 'chroot', ...command, ...config.Entrypoint, ...config.Cmd);
  const script = 'ip link set lo up; exec buildah "$@"';
  const child = spawn('unshare', ['--net', 'sh', '-c', script, 'sh', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += text));
  const end = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  t.after(() => child.kill('SIGKILL'));
  const in_network = (...all) => run('nsenter', [`--net=/proc/${child.pid}/ns/net`, ...all]);
  await eventually(
    '/readyz is 200',
    async () => {
      assert.equal(child.exitCode, null, log);
      return /"ready"/.test((await in_network('curl', '-sf', 'http://127.0.0.1:8080/readyz')).out);
    },
    { timeout_ms: 60_000 },
  );
  const [pid] = (await run('pgrep', ['--uid', '10001', '--exact', 'fairqueue'])).out.trim().split('\n');
  process.kill(Number(pid), 'SIGTERM');
  assert.equal(await end, 0, log);
});
