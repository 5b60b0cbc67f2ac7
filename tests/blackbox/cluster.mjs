// SPDX-License-Identifier: Apache-2.0
// Several nodes on one Postgres, connected by mutual TLS: on this machine, or each on its own host
// (hosts.mjs).
import fs from 'node:fs';
import path from 'node:path';
import { Services, sql } from '../support/services.mjs';
import { assert, eventually, fairqueue, free_port, run, server_for, temporary_folder } from './lib.mjs';

/** The cluster's authority, in its own folder. */
export async function authority() {
  const folder = temporary_folder();
  assert.equal((await run(fairqueue, ['cluster', 'init-ca', '--folder', folder])).code, 0);
  return folder;
}

/** The node's certificate as options; with the list of revoked ones, if the folder has one. */
export async function certificate_for(folder, node, more = []) {
  const done = await run(fairqueue, ['cluster', 'issue-cert', '--folder', folder, '--node', node, ...more]);
  assert.equal(done.code, 0, done.err);
  const revoked = `${folder}/revoked.pem`;
  return {
    'cluster.certificate': `${folder}/${node}.pem`,
    'cluster.key': `${folder}/${node}.key`,
    'cluster.ca': `${folder}/ca.pem`,
    ...(fs.existsSync(revoked) && { 'cluster.revoked': revoked }),
  };
}

/** Adds certificates to the folder's list of revoked ones. `which`: as `['--node', NODE]`. */
export async function revoke(folder, which) {
  const done = await run(fairqueue, ['cluster', 'revoke-cert', '--folder', folder, ...which]);
  assert.equal(done.code, 0, done.err);
}

const status_of = (server) => run(fairqueue, ['cluster', 'status', '--data_dir', server.data_dir]);

export const is_connected = async (server, others) => {
  const { code, out } = await status_of(server);
  return code === 0 && out.split('\n').filter((line) => line.includes('\tconnected')).length === others;
};

export class Cluster {
  /**
   * `hosts`, `env`: of each node, by default this machine and environment. `ledger_url`: of an existing
   * Postgres, by default a new one. `certificates`: the authority's folder, by default a new one.
   * `prepare(data_dir)` runs before a node's first start.
   */
  static async start(
    t,
    { nodes = 3, settings = {}, ledger_url, certificates, hosts = [], env = [], prepare = () => {} } = {},
  ) {
    const cluster = new Cluster();
    Object.assign(cluster, { t, hosts, ledger_url, env, prepare });
    if (!ledger_url) {
      const services = await Services.start('postgres');
      t.after(() => services.stop());
      cluster.ledger_url = services.postgres_url;
    }
    cluster.certificates = certificates ?? (await authority());
    cluster.settings = { 'ledger.url': cluster.ledger_url, ...settings };
    cluster.nodes = [];
    for (let i = 0; i < nodes; ++i) await cluster.add(`node-${'abcdefgh'[i]}`);
    await cluster.whole();
    return cluster;
  }

  async add(name, { certificates = this.certificates, own_keys = false } = {}) {
    const data_dir = temporary_folder();
    const host = this.hosts[this.nodes.length];
    if (this.nodes.length > 0 && !own_keys)
      fs.cpSync(path.join(this.nodes[0].data_dir, 'keys'), path.join(data_dir, 'keys'), { recursive: true });
    this.prepare(data_dir);
    const listen = `${host?.address ?? '127.0.0.1'}:${await free_port()}`;
    const settings = {
      ...this.settings,
      'node.id': name,
      'cluster.listen': listen,
      ...(await certificate_for(certificates, name)),
    };
    const server = await server_for(this.t, {
      settings,
      data_dir,
      host,
      env: this.env[this.nodes.length],
      wait: !own_keys,
    }); // a node with other keys is never ready
    server.name = name;
    this.nodes.push(server);
    return server;
  }

  /** Waits until every node is connected to every other. */
  whole(nodes = this.nodes) {
    return eventually(
      'a full mesh',
      async () => (await Promise.all(nodes.map((n) => is_connected(n, nodes.length - 1)))).every(Boolean),
      {
        timeout_ms: 15_000,
      },
    ).catch(async (error) => {
      const states = await Promise.all(nodes.map(status_of));
      const seen = nodes.map((n, i) => `${n.name}:\n${states[i].out}${states[i].err}${n.log.slice(-2000)}`);
      assert.fail(`${error.message}\n${seen.join('\n')}`);
    });
  }

  /** The node that holds the lease of an event or queue, by its id; undefined if none. */
  async owner_of(id) {
    const [row] = await sql(
      this.ledger_url,
      `SELECT lease_owner FROM aggregate JOIN event ON number = aggregate WHERE id = '${id}'`,
    );
    return this.nodes.find((n) => n.name === row?.lease_owner);
  }
  /** Moves an event to a node by a command to another node. */
  async hand_off(id, to) {
    const from = this.nodes.find((n) => n !== to) ?? to;
    const done = await run(fairqueue, [
      'cluster',
      'handoff',
      '--data_dir',
      from.data_dir,
      '--event',
      id,
      '--to',
      to.name,
    ]);
    assert.equal(done.code, 0, done.err);
    assert.equal((await this.owner_of(id))?.name, to.name);
  }
  async owners_of(ids) {
    const rows = await sql(
      this.ledger_url,
      'SELECT id, lease_owner FROM aggregate JOIN event ON number = aggregate',
    );
    return ids.map((id) => this.nodes.find((n) => n.name === rows.find((row) => row.id === id)?.lease_owner));
  }
}
