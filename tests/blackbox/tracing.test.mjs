// SPDX-License-Identifier: Apache-2.0
// One trace from a client's request through the event's actor to the gateway, and its spans at a collector:
// OTLP over HTTP, taken by a stand-in. A collector that is unavailable, slow or refusing costs no request.
import http from 'node:http';
import { describe, it } from 'node:test';
import { assert, eventually, patience } from './lib.mjs';
import { Shop, both } from './gateways.mjs';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';
const traced = { traceparent: `00-${trace}-${parent}-01`, tracestate: 'vendor=1' };

/** A collector: keeps received spans, gives configured answers. */
async function collector(
  t,
  answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
) {
  const got = { requests: [], spans: [] };
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      got.requests.push(request.headers);
      for (const resource of JSON.parse(text).resourceSpans)
        for (const scope of resource.scopeSpans)
          got.spans.push(...scope.spans.map((span) => ({ ...span, resource: resource.resource })));
      answer(response);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  got.url = `http://127.0.0.1:${server.address().port}/v1/traces`;
  got.named = (name) => got.spans.filter((span) => span.name === name);
  return got;
}

describe('tracing', { concurrency: 2, timeout: 300_000 * patience }, () => {
  for (const gateway of both)
    it(`${gateway}: one trace from the request to the gateway`, async (t) => {
      const spans = await collector(t);
      const shop = await Shop.open(t, {
        gateway,
        settings: { 'tracing.url': spans.url },
        env: { FAIRQUEUE_TRACING_AUTHORIZATION: 'Bearer for the collector' },
      });
      const [fan] = await shop.server.customers(1);
      const order = await shop.order(fan, {}, { headers: traced });
      const ready = await shop.reaches(fan, order, 'awaiting_payment');
      assert.ok(ready.payment_url);
      const call = gateway === 'stripe' ? 'checkout.create' : 'transaction.initialize';
      const [sent] = shop.calls(call);
      assert.match(sent.traceparent, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
      assert.equal(sent.tracestate, 'vendor=1');
      const [server, work, client] = await eventually('three spans', () => {
        const found = ['POST /checkout', 'place_order', `${gateway} initialize`].map(
          (name) => spans.named(name)[0],
        );
        return found.every(Boolean) && found;
      });
      assert.deepEqual([server.kind, work.kind, client.kind], [2, 1, 3]);
      assert.equal(server.parentSpanId, parent);
      assert.equal(work.parentSpanId, server.spanId);
      assert.equal(client.parentSpanId, work.spanId);
      assert.equal(
        sent.traceparent,
        `00-${trace}-${client.spanId}-01`,
        'the gateway is told the span of the call',
      );
      for (const span of [server, work, client]) {
        assert.equal(span.traceId, trace);
        assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano));
      }
      assert.deepEqual(server.attributes, [{ key: 'http.response.status_code', value: { intValue: '202' } }]);
      assert.equal(server.resource.attributes[0].value.stringValue, 'fairqueue');
      assert.ok(spans.requests.every((headers) => headers.authorization === 'Bearer for the collector'));
      assert.doesNotMatch(shop.server.log, /for the collector/);
    });

  it('a refund belongs to the trace of who asked for it', async (t) => {
    const spans = await collector(t);
    const shop = await Shop.open(t, { settings: { 'tracing.url': spans.url } });
    const [fan] = await shop.server.customers(1);
    const { order } = await shop.bought(fan);
    assert.equal(spans.spans.length, 0, 'nobody asked for a trace so far');
    const asked = await shop.server.post(`/orders/${order}/refunds`, {
      token: shop.organizer,
      body: {},
      headers: traced,
    });
    assert.equal(asked.status, 202, asked.text);
    await shop.reaches(fan, order, 'refunded');
    const [client] = await eventually(
      'the span of the refund',
      () => spans.named('stripe refund')[0] && spans.named('stripe refund'),
    );
    assert.equal(client.traceId, trace);
    assert.ok(
      shop.calls('refund.create').every((call) => call.traceparent === `00-${trace}-${client.spanId}-01`),
    );
  });

  it('without a collector a trace is passed on as it came, and what is malformed is not', async (t) => {
    const shop = await Shop.open(t);
    const [fan, other, third] = await shop.server.customers(3);
    for (const [who, headers] of [
      [fan, traced],
      [other, { traceparent: `00-${'0'.repeat(32)}-${parent}-01`, tracestate: 'vendor=1' }],
      [third, { ...traced, tracestate: 'é' }],
    ])
      await shop.reaches(who, await shop.order(who, {}, { headers }), 'awaiting_payment');
    const [whole, malformed, unfit] = shop.calls('checkout.create');
    assert.equal(whole.traceparent, traced.traceparent);
    assert.deepEqual([malformed.traceparent, malformed.tracestate], [undefined, undefined]);
    assert.deepEqual([unfit.traceparent, unfit.tracestate], [traced.traceparent, undefined]);
  });

  it('of the requests without a trace as many begin one as the configuration says', async (t) => {
    const spans = await collector(t);
    const shop = await Shop.open(t, {
      settings: { 'tracing.url': spans.url, 'tracing.sample_per_mille': 1000 },
    });
    await shop.server.get('/events');
    const [span] = await eventually(
      'the span',
      () => spans.named('GET /events').length > 0 && spans.named('GET /events'),
    );
    assert.match(span.traceId, /^[0-9a-f]{32}$/);
    assert.equal(span.parentSpanId, undefined, 'it is the root');
    assert.ok(!JSON.stringify(spans.spans).includes(shop.event.id), 'names hold no ids');
  });

  it('a collector that hangs, refuses or is away costs no request', async (t) => {
    const hanging = await collector(t, () => {});
    const refusing = await collector(t, (response) => response.writeHead(500).end());
    for (const url of [hanging.url, refusing.url, 'http://127.0.0.1:9/v1/traces']) {
      const shop = await Shop.open(t, { settings: { 'tracing.url': url, 'tracing.sample_per_mille': 1000 } });
      const [fan] = await shop.server.customers(1);
      await shop.bought(fan);
      const began = Date.now();
      await shop.server.stop();
      assert.ok(Date.now() - began < 15_000 * patience, 'it ends');
    }
  });
});
