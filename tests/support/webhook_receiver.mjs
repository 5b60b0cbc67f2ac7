// SPDX-License-Identifier: Apache-2.0
// A target of webhooks in tests of senders: keeps every delivery with its raw body and gives the configured
// answers.
import http from 'node:http';

export class WebhookReceiver {
  /** {headers, body: the raw text, at}, in the order of their arrival. */
  received = [];
  /** Statuses of the next answers; then 200. */
  answers = [];

  static async start() {
    const it = new WebhookReceiver();
    it.server = http.createServer((request, response) => {
      const parts = [];
      request.on('data', (part) => parts.push(part));
      request.on('end', () => {
        it.received.push({
          headers: request.headers,
          body: Buffer.concat(parts).toString('utf8'),
          at: performance.now(),
        });
        response.writeHead(it.answers.shift() ?? 200).end();
      });
    });
    await new Promise((resolve) => it.server.listen(0, '127.0.0.1', resolve));
    it.url = `http://127.0.0.1:${it.server.address().port}/webhooks`;
    return it;
  }

  /** Bodies, parsed. */
  get events() {
    return this.received.map(({ body }) => JSON.parse(body));
  }

  /** Waits for this number of deliveries; throws after `timeout_ms`. */
  async wait(count, timeout_ms = 10_000) {
    const end = performance.now() + timeout_ms;
    while (this.received.length < count) {
      if (performance.now() > end)
        throw new Error(`${this.received.length} of ${count} webhooks after ${timeout_ms} ms`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.received;
  }

  close() {
    this.server.close();
    this.server.closeAllConnections();
  }
}
