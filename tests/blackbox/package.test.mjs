// SPDX-License-Identifier: Apache-2.0
// The Debian package: packed by cpack, installed in a bare Debian 12 (tests/support/bare_debian), started,
// upgraded, removed and purged. That root has no systemd: this file starts the service as the unit says.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { assert, eventually, root as sources, run, temporary_folder } from './lib.mjs';

const build = process.env.FAIRQUEUE_BUILD ?? path.join(sources, 'build/release');
const shelf = path.join(build, 'package'); // kept from run to run
const conffile = 'etc/fairqueue/fairqueue.toml';

async function must(name, args, options) {
  const end = await run(name, args, { timeout_ms: 300_000, ...options });
  assert.equal(end.code, 0, `${name} ${args.join(' ')}\n${end.out}${end.err}`);
  return end.out;
}

/** A root folder with a bare Debian. */
class Debian {
  static async unpack(t) {
    const it = new Debian();
    it.folder = path.join(temporary_folder(), 'root');
    fs.mkdirSync(it.folder);
    await must('tar', ['-C', it.folder, '-xf', path.join(shelf, 'debian12.tar')]);
    t.after(() => it.server?.kill('SIGKILL'));
    return it;
  }

  path(...names) {
    return path.join(this.folder, ...names);
  }
  read(name) {
    return fs.readFileSync(this.path(name), 'utf8');
  }

  /** The command line that runs `script` of sh, which may use $root, in namespaces of its own. */
  enter(script, namespaces = ['--mount']) {
    const archives = path.join(shelf, 'archives');
    fs.mkdirSync(path.join(archives, 'partial'), { recursive: true });
    const mounts = `set -e; root='${this.folder}'; mount --bind /dev $root/dev; mount -t proc proc $root/proc
      mount --bind '${archives}' $root/var/cache/apt/archives`;
    return ['unshare', ...namespaces, 'sh', '-c', `${mounts}\n${script}`];
  }
  /** Runs a command in it as root. */
  async run(...words) {
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const [name, ...args] = this.enter(
      `[ -e $root/etc/resolv.conf ] || cp /etc/resolv.conf $root/etc/
       exec chroot $root env -i PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C ${quoted}`,
    );
    return run(name, args, { timeout_ms: 300_000 });
  }
  async must(...words) {
    const end = await this.run(...words);
    assert.equal(end.code, 0, `${words.join(' ')}\n${end.out}${end.err}`);
    return end.out + end.err;
  }
  install(file) {
    fs.copyFileSync(file, this.path('tmp/fairqueue.deb'));
    const kept = [
      '-o',
      'Acquire::Retries=5',
      '-o',
      'APT::Keep-Downloaded-Packages=true',
      '-o',
      'APT::Sandbox::User=root',
    ];
    return this.must('apt-get', ...kept, 'install', '-y', '--no-install-recommends', '/tmp/fairqueue.deb');
  }

  /** The keys of a section of the installed unit; a key may stand there more than once. */
  unit(section) {
    const text = this.read('lib/systemd/system/fairqueue.service')
      .split(`[${section}]\n`)[1]
      .split(/^\[/m)[0];
    const keys = {};
    for (const [, name, value] of text.matchAll(/^(\w+)=(.*)$/gm)) (keys[name] ??= []).push(value);
    return keys;
  }
  /** Starts the ExecStart of the unit with its user, environment, limits and umask, in its own network. */
  start() {
    const { ExecStart, Environment, User, Group, UMask, LimitNOFILE } = this.unit('Service');
    const [name, ...args] = this.enter(
      `ip link set lo up; umask ${UMask}
       ulimit -n ${LimitNOFILE} 2>/dev/null || ulimit -n $(ulimit -H -n)
       exec chroot --userspec=${User}:${Group} $root env -i ${Environment.join(' ')} ${ExecStart}`,
      ['--mount', '--net'],
    );
    const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.server = child;
    child.log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (child.log += text));
    child.end = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
    return child;
  }
  /** The status of a GET to the started server. */
  async status(target) {
    const curl = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', `http://127.0.0.1:8080${target}`];
    return (await run('nsenter', [`--net=/proc/${this.server.pid}/ns/net`, ...curl])).out;
  }
}

async function pack() {
  const folder = temporary_folder();
  await must('cpack', ['--config', path.join(build, 'CPackConfig.cmake'), '-B', folder], { cwd: build });
  const [file, ...more] = fs.readdirSync(folder).filter((name) => name.endsWith('.deb'));
  assert.ok(file && more.length === 0);
  return path.join(folder, file);
}

async function completed(debian, ...words) {
  const script = `source /usr/share/bash-completion/completions/fairqueue
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}
    _fairqueue; echo "\${COMPREPLY[*]}"`;
  return (await debian.must('bash', '-c', script)).trim().split(' ');
}

test('the package: installed, started, upgraded, removed, purged', async (t) => {
  const file = await pack();
  const debian = await Debian.unpack(t);

  await t.test('it installs with what the programs load, and a user without rights', async () => {
    assert.match(await debian.install(file), /set http\.public_url in [^]* systemctl enable --now fairqueue/);
    assert.equal(await debian.must('dpkg', '--audit'), '');
    assert.match(await debian.must('fairqueue', '--version'), /^\d+\.\d+/);
    assert.match(await debian.must('fairqueue-load', '--help'), /--/);
    const [, uid, home, shell] =
      /^fairqueue:x:(\d+):\d+:[^:]*:([^:]*):(.*)$/m.exec(debian.read('etc/passwd')) ?? [];
    assert.ok(Number(uid) >= 100 && Number(uid) < 1000);
    assert.deepEqual([home, shell], ['/var/lib/fairqueue', '/usr/sbin/nologin']);
    const data = fs.statSync(debian.path('var/lib/fairqueue'));
    assert.deepEqual([data.uid, data.mode & 0o777], [Number(uid), 0o700]);
    assert.match(await debian.must('dpkg-query', '-W', '-f', '${Conffiles}', 'fairqueue'), /fairqueue\.toml/);
  });

  await t.test('completion and manual name the commands of the program', async () => {
    const packed = path.join(temporary_folder(), 'packed');
    await must('dpkg-deb', ['--extract', file, packed]);
    const manual = (await must('zcat', [path.join(packed, 'usr/share/man/man1/fairqueue.1.gz')]))
      .replaceAll('\\', '')
      .replace(/ " \[" | \]/g, ' ');
    const commands = await completed(debian, 'fairqueue', '');
    assert.ok(commands.length >= 12, commands.join());
    for (const command of commands) {
      const parts = (await completed(debian, 'fairqueue', command, '')).filter(Boolean);
      for (const words of [[command], ...parts.map((part) => [command, part])]) {
        await debian.must('fairqueue', ...words, '--help');
        for (const word of words) assert.match(manual, new RegExp(`\\b${word}\\b`));
      }
    }
    const program = fs.readFileSync(path.join(sources, 'app/main.cpp'), 'utf8');
    const names = [...program.matchAll(/\badd(?:_family|_subcommand)?\(\s*(?:\w+, )?"([a-z-]+)",/g)];
    assert.ok(names.length >= 25, 'app/main.cpp names its commands like this');
    for (const [, name] of names)
      assert.ok(commands.includes(name) || manual.includes(name), `completion lacks ${name}`);
    assert.deepEqual(await completed(debian, 'fairqueue', 'cluster', 'd'), ['drain']);
    assert.deepEqual(await completed(debian, 'fairqueue', 'serve', '--http.lis'), ['--http.listen']);
  });

  await t.test('the service is for production: it starts with an https address, and answers', async () => {
    const { Environment } = debian.unit('Service');
    assert.ok(Environment.join(' ').split(' ').includes('FAIRQUEUE_ENVIRONMENT=production'));
    assert.match(debian.read(conffile), /^environment = "production"$/m);
    const refused = debian.start();
    assert.equal(await refused.end, 2, refused.log);
    assert.match(refused.log, /http\.public_url .*https/);

    fs.writeFileSync(debian.path(conffile), debian.read(conffile).replace('# public_url', 'public_url'));
    const server = debian.start();
    await eventually(
      '/readyz is 200',
      async () => {
        assert.equal(server.exitCode, null, server.log);
        return (await debian.status('/readyz')) === '200';
      },
      { timeout_ms: 30_000 },
    );
    const ledger = fs.statSync(debian.path('var/lib/fairqueue/ledger.db'));
    assert.equal(ledger.uid, fs.statSync(debian.path('var/lib/fairqueue')).uid);
    assert.equal(ledger.mode & 0o077, 0, 'nobody else reads the ledger');
    assert.equal(fs.statSync(`/proc/${server.pid}`).uid, ledger.uid);
    server.kill('SIGTERM');
    assert.equal(await server.end, 0, server.log);
  });

  await t.test('an upgrade keeps the options, purge keeps only the sales', async () => {
    const before = debian.read(conffile);
    await debian.must('dpkg', '--install', '/tmp/fairqueue.deb');
    assert.equal(debian.read(conffile), before);
    await debian.must('dpkg', '--remove', 'fairqueue');
    assert.equal(debian.read(conffile), before);
    assert.equal(fs.existsSync(debian.path('usr/bin/fairqueue')), false);
    fs.rmSync(debian.path('tmp/fairqueue.deb'));
    assert.match(await debian.must('dpkg', '--purge', 'fairqueue'), /stay in \/var\/lib\/fairqueue/);
    const left = await debian.must('find', '/', '-xdev', '-name', '*fairqueue*');
    assert.deepEqual(left.trim().split('\n'), ['/var/lib/fairqueue']);
    assert.ok(fs.existsSync(debian.path('var/lib/fairqueue/ledger.db')));
  });
});
