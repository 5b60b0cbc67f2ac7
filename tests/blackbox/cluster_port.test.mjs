// SPDX-License-Identifier: Apache-2.0
// The cluster port under attack: by strangers (silent, slow, more than there are descriptors) and by peers
// with certificates (another node's name, a revoked one, frames that CAF would believe). Two nodes with their
// link, which nothing of this may cost.
import { describe, it } from 'node:test';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { execute, sql } from '../support/services.mjs';
import { Cluster, authority, certificate_for, is_connected, revoke } from './cluster.mjs';
import { assert, eventually, fairqueue, patience, run, sleep, temporary_folder } from './lib.mjs';

const deadline_ms = 5000; // arrival_timeout

const port_of = (node) => Number(node.settings['cluster.listen'].split(':')[1]);
const resident_mb = (node) =>
  Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${node.pid}/status`, 'utf8'))[1]) / 1024;
const descriptors = (node) => fs.readdirSync(`/proc/${node.pid}/fd`).length;
const lines = (node, text) => node.log.split('\n').filter((line) => line.includes(text));

/** The pipe of the log is read later than the socket that the line is about. */
async function logged(node, text, times = 1) {
  await eventually(`in the log: ${text}`, () => lines(node, text).length >= times);
  assert.equal(lines(node, text).length, times);
}

/** A connection, with the time it took to end in `ended`. */
function opened(socket) {
  const began = Date.now();
  socket.on('error', () => {});
  socket.ended = new Promise((resolve) => {
    socket.on('close', () => resolve(Date.now() - began));
  });
  socket.resume();
  return socket;
}
const stranger = (node) => opened(net.connect(port_of(node), '127.0.0.1'));

// -- a peer with a certificate --------------------------------------------------------------------------

const heartbeat = 6;
const direct_message = 2;
const routed_message = 3;
const monitor_message = 4;
const down_message = 5;
const client_handshake = 1;

/** A frame of CAF's protocol. `size`: announced, whatever the payload is. */
function frame(
  kind,
  payload = Buffer.alloc(0),
  { size = payload.length, request = 0, from = 0, to = 0 } = {},
) {
  const header = Buffer.alloc(32);
  header[0] = kind;
  header.writeUInt32BE(size, 4);
  header.writeBigUInt64BE(BigInt(request), 8);
  header.writeBigUInt64BE(BigInt(from), 16);
  header.writeBigUInt64BE(BigInt(to), 24);
  return Buffer.concat([header, payload]);
}

const message = (names, values = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.from([0, 0, 0, names.length]), Buffer.from(names), values]);

let processes = 0;

class Peer {
  /** Connects with the node's certificate of the folder. Rejects if the port refuses it. */
  static async connect(node, folder, name) {
    const read = (ending) => fs.readFileSync(`${folder}/${name}.${ending}`);
    const peer = new Peer();
    peer.socket = opened(
      tls.connect({
        host: '127.0.0.1',
        port: port_of(node),
        cert: read('pem'),
        key: read('key'),
        rejectUnauthorized: false,
      }),
    );
    const handshake = new Promise((resolve) => peer.socket.once('data', resolve));
    const answer = await Promise.race([handshake, peer.socket.ended]);
    if (!Buffer.isBuffer(answer)) throw new Error(`refused after ${answer} ms`);
    peer.serial = peer.socket.getPeerCertificate().serialNumber;
    peer.there = Buffer.from(answer.subarray(32, 32 + 32)); // the node's process; ours have other numbers
    peer.process = Buffer.from(peer.there);
    peer.process.writeUInt32BE(peer.process.readUInt32BE(8) ^ (0x55000000 + ++processes), 8);
    return peer;
  }
  greet() {
    this.socket.write(frame(client_handshake, this.process));
    const beat = setInterval(() => this.socket.write(frame(heartbeat)), 250);
    this.socket.ended.then(() => clearInterval(beat));
    return this;
  }
  get ended() {
    return this.socket.ended;
  }
}

async function link_is_whole(cluster) {
  for (const [i, node] of cluster.nodes.entries()) {
    await node.must_live();
    const { text } = await node.get('/metrics', { admin: true });
    const other = cluster.nodes[1 - i].name;
    assert.match(text, new RegExp(`^fairqueue_cluster_link_up\\{peer="${other}"\\} 1$`, 'm'));
    assert.match(text, new RegExp(`^fairqueue_cluster_link_lost_total\\{peer="${other}"\\} 0$`, 'm'));
  }
}

async function closed_by(node) {
  const { text } = await node.get('/metrics', { admin: true });
  return Number(/^fairqueue_cluster_closed_total (\d+)$/m.exec(text)[1]);
}

async function reload(node, answer) {
  const before = lines(node, answer).length;
  process.kill(node.pid, 'SIGHUP');
  await eventually('the reload', () => lines(node, answer).length > before);
}
const is_reloaded = 'cluster certificate read anew';

async function ends_within(peer, ms) {
  const end = await Promise.race([peer.ended, sleep(ms, 'late', { ref: false })]);
  assert.notEqual(end, 'late', `a connection is open after ${ms} ms`);
}

// -- the attacks ----------------------------------------------------------------------------------------

/** 600 silent connections: most are closed at once, the rest late, and a peer gets in meanwhile. */
async function silent_peers(t, node, folder) {
  const before = descriptors(node);
  const silent = Array.from({ length: 600 }, () => stranger(node));
  await eventually('most are closed', async () => descriptors(node) <= before + 40);
  const began = Date.now();
  (await Peer.connect(node, folder, 'node-y')).socket.destroy();
  t.diagnostic(
    `a peer is in after ${Date.now() - began} ms beside ${descriptors(node) - before} silent ones`,
  );
  await Promise.all(silent.map((each) => each.ended));
}

/** Otherwise, at 200 ms a byte, it would last for 50 s. */
function closed_at_deadline(took) {
  assert.ok(took >= deadline_ms - 500 && took < (deadline_ms + 15_000) * patience, `closed after ${took} ms`);
}

/** One byte of a TLS handshake each 200 ms. */
async function slow_handshake(t, node) {
  const slow = stranger(node);
  const hello = Buffer.concat([Buffer.from([0x16, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3]), Buffer.alloc(245)]);
  let at = 0;
  const timer = setInterval(() => slow.write(hello.subarray(at, ++at)), 200);
  const took = await slow.ended;
  clearInterval(timer);
  closed_at_deadline(took);
}

/** A certificate alone keeps no connection open. */
async function silent_after_tls(t, node, folder) {
  closed_at_deadline(await (await Peer.connect(node, folder, 'node-x')).ended);
}

/** Lengths that CAF would allocate, in a frame's header and within a message. */
async function huge_lengths(t, node, folder) {
  const before = resident_mb(node);
  const four_gib = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]);
  const attacks = [
    frame(direct_message, Buffer.alloc(0), { size: 0xffffffff, to: 1 }),
    frame(direct_message, message('@<>+@charbuf', four_gib), { to: 1 }),
    frame(direct_message, message('@<>+std::vector<fq::list_nodes>', four_gib), { to: 1 }),
    frame(direct_message, message('@<>+@exit'), { to: 1 }),
  ];
  for (const attack of attacks) {
    const peer = (await Peer.connect(node, folder, 'node-z')).greet();
    peer.socket.write(attack);
    await ends_within(peer, 20_000 * patience);
  }
  // Each was closed for what it sent, not for its silence.
  const closed = () => lines(node, 'closed a connection between nodes').filter((l) => l.includes('node-z'));
  await eventually('each is in the log', () => closed().length === attacks.length);
  const grown = resident_mb(node) - before;
  t.diagnostic(`resident memory grew by ${grown.toFixed(1)} MB`);
  assert.ok(grown < 64, `${grown} MB`);
}

/** Frames in the name of another process, which no node has or which is the attacked one. */
async function foreign_names(t, cluster, folder) {
  const node = cluster.nodes[1];
  const before = await closed_by(node);
  const third = (peer) => {
    const process = Buffer.from(peer.process);
    process.writeUInt32BE(process.readUInt32BE(8) ^ 0x2a000000, 8);
    return process;
  };
  const end = Buffer.from('01000000000000faf6000003403c3e', 'hex');
  const handle = (process) => Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 7]), process]);
  const greet = (process) =>
    message(
      '@<>+fq::greet',
      Buffer.concat([
        Buffer.from('\x06node-v'),
        ...Array.from({ length: 3 }, () => handle(process)),
        Buffer.from('000000000000000900000005', 'hex'),
      ]),
    );
  const attacks = [
    (p) =>
      frame(routed_message, Buffer.concat([third(p), p.there, message('@<>+fq::list_nodes')]), { to: 1 }),
    (p) =>
      frame(routed_message, Buffer.concat([p.process, third(p), message('@<>+fq::list_nodes')]), { to: 1 }),
    (p) => frame(down_message, Buffer.concat([third(p), p.there, end]), { from: 1 }),
    (p) => frame(down_message, Buffer.concat([p.process, third(p), end]), { from: 1 }),
    (p) => frame(monitor_message, Buffer.concat([third(p), p.there]), { to: 1 }),
    (p) => frame(direct_message, greet(third(p)), { from: 1, to: 1 }),
    (p) => frame(direct_message, greet(p.there), { from: 1, to: 1 }),
  ];
  for (const attack of attacks) {
    const peer = (await Peer.connect(node, folder, 'node-u')).greet();
    peer.socket.write(attack(peer));
    await peer.ended;
  }
  await logged(node, 'it speaks for another process', 5);
  assert.ok((await closed_by(node)) - before >= attacks.length);
}

/** Each message comes from another actor: CAF would keep a handle of each. */
async function many_actors(t, node, folder) {
  const peer = (await Peer.connect(node, folder, 'node-t')).greet();
  const began = Date.now();
  let ended = false;
  peer.ended.then(() => (ended = true));
  const question = message('@<>+fq::list_nodes');
  let sent = 0;
  while (!ended && sent < 200_000) {
    const frames = Array.from({ length: 1000 }, () =>
      frame(direct_message, question, { request: 1, from: 1_000_000 + ++sent, to: 999_999_999 }),
    );
    await new Promise((resolve) => peer.socket.write(Buffer.concat(frames), resolve));
  }
  await peer.ended;
  t.diagnostic(
    `closed after ${sent} actors and ${Date.now() - began} ms at ${resident_mb(node).toFixed(0)} MB`,
  );
  await logged(node, 'shows more actors than a node has');
}

/** The ledger says that a node is at an address where another node's certificate is shown. */
async function wrong_name(t, cluster, folder) {
  const [node] = cluster.nodes;
  const impostor = tls.createServer(
    {
      cert: fs.readFileSync(`${folder}/node-w.pem`),
      key: fs.readFileSync(`${folder}/node-w.key`),
      ca: fs.readFileSync(`${folder}/ca.pem`),
      requestCert: true,
    },
    opened,
  );
  await new Promise((resolve) => impostor.listen(0, '127.0.0.1', resolve));
  t.after(() => impostor.close());
  const address = `127.0.0.1:${impostor.address().port}`;
  const columns = (
    await sql(
      cluster.ledger_url,
      "SELECT column_name AS c FROM information_schema.columns WHERE table_name = 'node'",
    )
  ).map(({ c }) => c);
  const values = columns.map((c) => ({ id: "'node-v'", address: `'${address}'` })[c] ?? c);
  await execute(
    cluster.ledger_url,
    `INSERT INTO node (${columns}) SELECT ${values} FROM node WHERE id = '${node.name}'`,
  );
  await logged(node, 'no connection to node-v: its certificate is that of node-w');
}

/** A node whose certificate names another one does not start. */
async function own_name(t, cluster) {
  const [a, b] = cluster.nodes;
  const { code, err } = await run(fairqueue, [
    'serve',
    ...Object.entries({
      ...a.settings,
      'cluster.certificate': b.settings['cluster.certificate'],
      'cluster.key': b.settings['cluster.key'],
      'data_dir': temporary_folder(),
      'http.listen': '127.0.0.1:0',
      'http.admin_listen': '127.0.0.1:0',
    }).flatMap(([name, value]) => [`--${name}`, String(value)]),
  ]);
  assert.notEqual(code, 0);
  assert.match(err, /cluster\.certificate .*names the node node-b, but this node is node-a/);
}

// Side by side, because they mostly wait.
describe('the cluster port', { concurrency: true }, () => {
  it('strangers and hostile peers cost neither the node nor its link', async (t) => {
    const folder = await authority();
    for (const name of 'tuwxyz') await certificate_for(folder, `node-${name}`);
    const cluster = await Cluster.start(t, { nodes: 2, certificates: folder });
    const [a] = cluster.nodes;
    await Promise.all([
      silent_peers(t, a, folder),
      slow_handshake(t, cluster.nodes[1]),
      silent_after_tls(t, cluster.nodes[1], folder),
      huge_lengths(t, cluster.nodes[1], folder),
      foreign_names(t, cluster, folder),
      wrong_name(t, cluster, folder),
      own_name(t, cluster),
    ]);
    await many_actors(t, a, folder);
    await link_is_whole(cluster);
  });

  it('a node without a free descriptor goes on, and takes peers again when it has one', async (t) => {
    const folder = await authority();
    await certificate_for(folder, 'node-z');
    const cluster = await Cluster.start(t, { nodes: 2, certificates: folder });
    const [a] = cluster.nodes;
    const limit = (n) => execFileSync('prlimit', ['--pid', String(a.pid), `--nofile=${n}:`]);
    const [, most] = /Max open files\s+\d+\s+(\d+)/.exec(fs.readFileSync(`/proc/${a.pid}/limits`, 'utf8'));
    limit(descriptors(a) + 5);
    const strangers = Array.from({ length: 50 }, () => stranger(a));
    await eventually('it says so', () => lines(a, 'cannot accept connections').length > 0);
    await sleep(500); // five more attempts
    await logged(a, 'cannot accept connections');
    limit(most);
    (await Peer.connect(a, folder, 'node-z')).socket.destroy();
    strangers.forEach((each) => each.destroy());
    await link_is_whole(cluster);
  });

  it('SIGHUP: a new certificate, a bad one, and a revoked one, whose connection ends', async (t) => {
    const folder = await authority();
    for (const name of ['old', 'node-z']) await certificate_for(folder, name);
    await revoke(folder, ['--node', 'old']);
    const cluster = await Cluster.start(t, { nodes: 2, certificates: folder });
    const [a] = cluster.nodes;
    await assert.rejects(Peer.connect(a, folder, 'old'), /refused/);
    await logged(a, 'certificate revoked');

    const first = await Peer.connect(a, folder, 'node-z');
    await certificate_for(folder, 'node-a', ['--replace', '--days', '7']);
    await reload(a, is_reloaded);
    const peer = await Peer.connect(a, folder, 'node-z');
    assert.notEqual(peer.serial, first.serial);
    const { text } = await a.get('/metrics', { admin: true });
    const [, end] = /^fairqueue_cluster_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text);
    assert.ok(Math.abs(Number(end) - Date.now() / 1000 - 7 * 86_400) < 3600, end);

    const certificate = fs.readFileSync(`${folder}/node-a.pem`);
    fs.writeFileSync(`${folder}/node-a.pem`, 'nonsense');
    await reload(a, "the cluster's new certificates are refused");
    assert.equal((await Peer.connect(a, folder, 'node-z')).serial, peer.serial);
    assert.match(
      (await a.get('/metrics', { admin: true })).text,
      /^fairqueue_cluster_last_reload_refused 1$/m,
    );
    fs.writeFileSync(`${folder}/node-a.pem`, certificate);

    // A certificate is revoked after it was replaced; the new one stays.
    const kept = peer.greet();
    const stolen = new X509Certificate(fs.readFileSync(`${folder}/node-z.pem`)).serialNumber;
    fs.cpSync(`${folder}/node-z.pem`, `${folder}/stolen.pem`);
    fs.cpSync(`${folder}/node-z.key`, `${folder}/stolen.key`);
    await certificate_for(folder, 'node-z', ['--replace']);
    await revoke(folder, ['--serial', stolen]);
    await reload(a, is_reloaded);
    assert.match(lines(a, is_reloaded).at(-1), /"revoked":"2"/);
    await ends_within(kept, 10_000 * patience);
    await assert.rejects(Peer.connect(a, folder, 'stolen'), /refused/);
    const renewed = (await Peer.connect(a, folder, 'node-z')).greet();

    // A list that is cut off changes nothing.
    const list = fs.readFileSync(`${folder}/revoked.pem`, 'utf8');
    fs.writeFileSync(`${folder}/revoked.pem`, list + list.slice(0, 200));
    await reload(a, 'it is cut off');
    await assert.rejects(Peer.connect(a, folder, 'stolen'), /refused/);
    fs.writeFileSync(`${folder}/revoked.pem`, list);

    // An authority joins the bundle and leaves it again.
    const bundle = fs.readFileSync(`${folder}/ca.pem`, 'utf8');
    const other = await authority();
    await certificate_for(other, 'node-y');
    fs.writeFileSync(`${folder}/ca.pem`, bundle + fs.readFileSync(`${other}/ca.pem`, 'utf8'));
    await reload(a, is_reloaded);
    const of_other = (await Peer.connect(a, other, 'node-y')).greet();
    fs.writeFileSync(`${folder}/ca.pem`, bundle);
    await reload(a, is_reloaded);
    await ends_within(of_other, 10_000 * patience);
    await assert.rejects(Peer.connect(a, other, 'node-y'), /refused/);
    assert.ok(!renewed.socket.destroyed);
    renewed.socket.destroy();
    await link_is_whole(cluster);
    assert.ok(await is_connected(a, 1));
  });
});
