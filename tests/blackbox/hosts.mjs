// SPDX-License-Identifier: Apache-2.0
// Several hosts on one machine: network namespaces joined by a bridge, and the cuts between them. The test
// itself runs in its own namespace (`unshare --net` in CMakeLists.txt), which contains the bridge. The
// machine's network stays untouched; all namespaces end with their processes.
import fs from 'node:fs';
import { execFileSync, spawn } from 'node:child_process';
import { assert, eventually } from './lib.mjs';

const network = '10.77';
/** Address of the test's host. */
export const switch_address = `${network}.0.1`;

function command(file, ...args) {
  return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Whether there is only a loopback: a new namespace, not the machine's network. */
function must_be_alone() {
  assert.equal(process.getuid(), 0, 'network namespaces need root');
  const links = JSON.parse(command('ip', '-json', 'link', 'show')).map((link) => link.ifname);
  const others = links.filter(
    (name) =>
      name !== 'lo' &&
      name !== 'switch' &&
      !/^(host\d+|tunl0|sit0|ip6tnl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6gre0)$/.test(name),
  );
  assert.deepEqual(others, [], 'run this as `unshare --net -- node --test <file>`');
}

/** `enter`: a command that runs another command on this host. */
export class Host {
  static async start(number) {
    const host = new Host();
    host.name = `host${number}`;
    host.address = `${network}.${1 + Math.floor(number / 250)}.${1 + (number % 250)}`;
    const holder = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', '--', 'unshare', '--net', '--', 'sleep', 'infinity'],
      { stdio: 'ignore' },
    );
    host.holder = holder;
    const ours = fs.readlinkSync('/proc/self/ns/net');
    await eventually('its namespace', () => fs.readlinkSync(`/proc/${holder.pid}/ns/net`) !== ours, {
      every_ms: 5,
    });
    host.enter = ['nsenter', `--net=/proc/${holder.pid}/ns/net`, '--'];
    command(
      'ip',
      'link',
      'add',
      host.name,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      String(holder.pid),
    );
    command('ip', 'link', 'set', host.name, 'master', 'switch', 'up');
    host.run('ip', 'address', 'add', `${host.address}/16`, 'dev', 'eth0');
    for (const link of ['lo', 'eth0']) host.run('ip', 'link', 'set', link, 'up');
    host.run('nft', 'add table inet cut');
    host.run('nft', 'add chain inet cut in { type filter hook input priority 0; }');
    host.run('nft', 'add chain inet cut out { type filter hook output priority 0; }');
    return host;
  }

  run(...args) {
    return command(...this.enter, ...args);
  }

  /** Blocks traffic from `other`: dropped, or reset. `port`: only from and to that port of the other. */
  refuse(other, { how = 'drop', port } = {}) {
    const verdict = how === 'drop' ? ['drop'] : ['meta l4proto tcp', 'reject with tcp reset'];
    const only = port === undefined ? [''] : [`tcp sport ${port}`, `tcp dport ${port}`];
    for (const each of only)
      this.run('nft', `add rule inet cut in ip saddr ${other.address} ${each} ${verdict.join(' ')}`);
  }
  /** Blocks all traffic to and from `addresses`. */
  cut_off(addresses) {
    for (const address of addresses) {
      this.run('nft', `add rule inet cut in ip saddr ${address} drop`);
      this.run('nft', `add rule inet cut out ip daddr ${address} drop`);
    }
  }
  heal() {
    for (const chain of ['in', 'out']) this.run('nft', `flush chain inet cut ${chain}`);
  }

  stop() {
    this.holder.kill('SIGKILL');
  }
}

/** `count` hosts, numbered from 11; they end with the test. */
export async function hosts_for(t, count) {
  must_be_alone();
  command('ip', 'link', 'set', 'lo', 'up');
  const has_switch = JSON.parse(command('ip', '-json', 'link', 'show')).some(
    (link) => link.ifname === 'switch',
  );
  if (!has_switch) {
    command('ip', 'link', 'add', 'switch', 'type', 'bridge');
    command('ip', 'address', 'add', `${switch_address}/16`, 'dev', 'switch');
    command('ip', 'link', 'set', 'switch', 'up');
  }
  const hosts = [];
  for (let i = 0; i < count; ++i) {
    const host = await Host.start(next_number++);
    t.after(() => host.stop());
    hosts.push(host);
  }
  return hosts;
}
let next_number = 11;

/** In both directions. */
export function cut(one, other, options) {
  one.refuse(other, options);
  other.refuse(one, options);
}
