// SPDX-License-Identifier: Apache-2.0
// A target of webhooks on its own thread, for tests and benchmarks that must not share its event loop.
// Accepts everything at once and keeps the content.
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

export class WebhookCounter {
  static async start() {
    const it = new WebhookCounter();
    it.worker = new Worker(fileURLToPath(import.meta.url));
    it.worker.on('error', (error) => {
      throw error;
    });
    ({ port: it.port } = await it.#next());
    it.url = `http://127.0.0.1:${it.port}/told`;
    return it;
  }
  #next() {
    return new Promise((resolve) => this.worker.once('message', resolve));
  }
  /** Received webhooks in order: {id: webhook-id, type, data}. With `only_count` their number. */
  async told({ only_count = false } = {}) {
    const answer = this.#next();
    this.worker.postMessage({ only_count });
    return answer;
  }
  stop() {
    return this.worker.terminate();
  }
}

if (!isMainThread) {
  const told = [];
  const server = http.createServer((request, response) => {
    const parts = [];
    request
      .on('data', (part) => parts.push(part))
      .on('end', () => {
        const { type, data } = JSON.parse(Buffer.concat(parts));
        told.push({ id: request.headers['webhook-id'], type, data });
        response.writeHead(200).end();
      });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }));
  parentPort.on('message', ({ only_count }) => parentPort.postMessage(only_count ? told.length : told));
}
