// SPDX-License-Identifier: Apache-2.0
// A TCP proxy on loopback with faults: latency, cut, half-open, limit, refuse. Between a client and Postgres
// it can also break a connection around a COMMIT, so that the client does not know the result. Directions are
// named by their receiver: `to_server` and `to_client`.
import { once } from 'node:events';
import net from 'node:net';
import { CommitWatch } from './postgres_wire.mjs';

/** Bytes buffered in one direction of a connection before its sender must wait. */
const buffered_max = 1 << 20;

/** One direction of one connection. */
class Flow {
  #waiting = []; // {due, bytes}, in order; `bytes` undefined: the end
  #waiting_bytes = 0;
  #timer;
  #passed = 0;

  constructor(link, direction, source, sink) {
    Object.assign(this, { link, direction, source, sink });
    source.on('data', (bytes) => this.#take(bytes));
    source.on('end', () => this.#take_end());
    sink.on('drain', () => this.#relieve());
  }

  #take(bytes) {
    const { proxy } = this.link;
    if (proxy.is_half_open) {
      this.link.has_lost_bytes = true;
      return;
    }
    const allowed = proxy.limits[this.direction] - this.#passed;
    const kept = bytes.length > allowed ? bytes.subarray(0, Math.max(0, allowed)) : bytes;
    const { passed, struck } = this.link.watch?.look(this.direction, kept) ?? { passed: kept, struck: false };
    this.#passed += passed.length;
    if (passed.length > 0) this.#pass(passed);
    if (struck) return this.link.cut(true);
    if (this.#passed >= proxy.limits[this.direction]) this.link.cut(false);
  }

  #take_end() {
    if (this.link.proxy.is_half_open) this.link.has_lost_bytes = true;
    else this.#pass(undefined);
  }

  /** Passes the bytes on, now or after the latency; keeps the order. */
  #pass(bytes) {
    const wait = this.link.proxy.next_latency();
    if (wait === 0 && this.#waiting.length === 0) return this.#write(bytes);
    const earliest = this.#waiting.at(-1)?.due ?? 0;
    this.#waiting.push({ due: Math.max(earliest, performance.now() + wait), bytes });
    this.#waiting_bytes += bytes?.length ?? 0;
    if (this.#waiting_bytes > buffered_max) this.source.pause();
    this.#plan();
  }

  #plan() {
    if (this.#timer || this.#waiting.length === 0) return;
    const wait = Math.max(0, this.#waiting[0].due - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      while (this.#waiting.length > 0 && this.#waiting[0].due <= performance.now()) {
        const { bytes } = this.#waiting.shift();
        this.#waiting_bytes -= bytes?.length ?? 0;
        this.#write(bytes);
      }
      this.#relieve();
      this.#plan();
    }, wait);
  }

  #write(bytes) {
    if (this.sink.destroyed) return;
    if (bytes === undefined) this.sink.end();
    else if (!this.sink.write(bytes)) this.source.pause();
  }

  #relieve() {
    if (this.#waiting_bytes <= buffered_max && !this.sink.writableNeedDrain) this.source.resume();
  }

  /** Stops writing. */
  stop() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
  }
}

/** A client's connection and its connection to the server. */
class Link {
  has_lost_bytes = false;

  constructor(proxy, client, server) {
    Object.assign(this, { proxy, client, server });
    if (proxy.speaks_postgres) this.watch = new CommitWatch(proxy);
    this.flows = [new Flow(this, 'to_server', client, server), new Flow(this, 'to_client', server, client)];
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.cut(true));
      socket.on('close', () => this.cut(false));
    }
  }

  cut(reset) {
    if (!this.proxy.links.delete(this)) return;
    for (const flow of this.flows) flow.stop();
    for (const socket of [this.client, this.server]) {
      if (socket.connecting) socket.destroy();
      else if (reset) socket.resetAndDestroy();
      else socket.destroySoon();
    }
  }
}

export class ChaosProxy {
  links = new Set();
  accepted = 0;
  is_half_open = false;
  is_refusing = false;
  limits = { to_server: Infinity, to_client: Infinity };
  #latency = { ms: 0, jitter_ms: 0 };
  #commit_trap;

  /** Listens on a free port and forwards to `target_port`. */
  static async start(target_port, { speaks_postgres = false } = {}) {
    const proxy = new ChaosProxy();
    Object.assign(proxy, { target_port, speaks_postgres });
    proxy.listener = net.createServer({ allowHalfOpen: true }, (client) => proxy.#accept(client));
    proxy.listener.listen(0, '127.0.0.1');
    await once(proxy.listener, 'listening');
    proxy.port = proxy.listener.address().port;
    return proxy;
  }

  #accept(client) {
    if (this.is_refusing) return client.resetAndDestroy();
    ++this.accepted;
    const server = net.connect({ port: this.target_port, host: '127.0.0.1', allowHalfOpen: true });
    this.links.add(new Link(this, client, server));
  }

  next_latency() {
    const { ms, jitter_ms } = this.#latency;
    return ms + Math.random() * jitter_ms;
  }

  // -- toxics -----------------------------------------------------------------------------------------------

  /** Delays every byte in both directions. */
  latency(ms, jitter_ms = 0) {
    this.#latency = { ms, jitter_ms };
  }

  /** Ends all open connections with RST or FIN; returns their number. */
  cut({ reset = true } = {}) {
    const links = [...this.links];
    for (const link of links) link.cut(reset);
    return links.length;
  }

  /** Keeps connections and accepts new ones, but forwards nothing: the peer vanished without notice. */
  half_open() {
    this.is_half_open = true;
  }

  /** Ends each connection (FIN) after this many bytes in that direction, earlier bytes included. */
  limit_data({ to_server = Infinity, to_client = Infinity }) {
    this.limits = { to_server, to_client };
  }

  /** Resets new connections; keeps open ones. Keeps its port, which another process could get otherwise. */
  refuse() {
    this.is_refusing = true;
  }

  /**
   * Cuts the next connection that commits: 'before' the COMMIT reaches the server, or 'after' the commit and
   * before its confirmation reaches the client. Resolves afterwards.
   */
  cut_at_commit(when) {
    if (!this.speaks_postgres) throw new Error('this proxy does not look at what it passes');
    return new Promise((struck) => {
      this.#commit_trap = { when, struck };
    });
  }

  /** Whether the connection is to be cut at this moment. */
  springs_at_commit(when) {
    if (this.#commit_trap?.when !== when) return false;
    this.#commit_trap.struck();
    this.#commit_trap = undefined;
    return true;
  }

  /** Removes all toxics. Cuts connections that lost bytes. */
  heal() {
    this.latency(0);
    this.is_half_open = false;
    this.is_refusing = false;
    this.limit_data({});
    this.#commit_trap = undefined;
    for (const link of this.links) if (link.has_lost_bytes) link.cut(true);
  }

  close() {
    this.listener.close();
    this.cut();
  }
}
