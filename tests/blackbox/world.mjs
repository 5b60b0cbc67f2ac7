// SPDX-License-Identifier: Apache-2.0
// A world with an object of each kind, for tests that try every route.
import { after, assert } from './lib.mjs';
import { tenant_on } from './tenant.mjs';

/** What a server of the world wants. */
export const settings = {
  'push.ntfy_url': 'http://127.0.0.1:9',
  'webhooks.allow_private': 'true',
  'webhooks.allow_http': 'true',
  'webhooks.ports': '9',
};

/**
 * {ids, tokens}: objects of one organizer, one customer and one tenant, and the tokens of many identities.
 * `known`: the token of the customer with a place, an order and a payment; else one is made.
 */
export async function populate(server, known) {
  const org = await server.organizer();
  const event = await server.event(org, { queue: { policy: 'open' }, starts_at: after(7200) });
  const type = event.ticket_types[0].id;
  const items = [{ ticket_type_id: type, quantity: 1 }];
  const [made, fan2] = await server.customers(2);
  const fan = known ?? made;
  const claim = await server.claim(
    fan,
    event.id,
    (await server.join_and_be_admitted(fan, event.id)).admission_token,
    items,
  );
  const payment = await server.open_payment(fan, claim.claim_id);
  const shop = await server.event(org, { queue: { policy: 'open' } });
  const bought = await server.post('/checkout', {
    token: fan,
    headers: { Prefer: 'wait=5' },
    body: {
      event_id: shop.id,
      admission_token: (await server.join_and_be_admitted(fan, shop.id)).admission_token,
      items: [{ ticket_type_id: shop.ticket_types[0].id, quantity: 1 }],
      contact: { email: 'fan@example.com', first_name: 'Ann', last_name: 'Bee' },
    },
  });
  assert.ok([200, 201, 202].includes(bought.status), bought.text);
  const gift = await server.event(org, {
    queue: { policy: 'open' },
    ticket_types: [{ name: 'Free', price: 0, total: 10, max_per_order: 2 }],
  });
  const given = await server.post('/checkout', {
    token: fan,
    body: {
      event_id: gift.id,
      contact: { email: 'fan@example.com', first_name: 'Ann', last_name: 'Bee' },
    },
  });
  assert.ok(given.status < 300, given.text);
  const free = await server.get(`/orders/${given.json.order_id}`, { token: fan });
  assert.equal(free.json.event_tickets.length, 1, free.text);
  const event_ticket = free.json.event_tickets[0].id;
  const offer = await server.post(`/event-tickets/${event_ticket}/transfer`, {
    token: fan,
    body: { email: 'friend@example.com' },
  });
  assert.equal(offer.status, 201, offer.text);
  const code = await server.post(`/events/${event.id}/promo-codes`, {
    token: org,
    body: { code: 'SAVE10', discount: { type: 'percent', percent: 10 } },
  });
  assert.equal(code.status, 201, code.text);
  const mine = await tenant_on(server);
  const other = await tenant_on(server);
  const queue = await mine.queue();
  const place = await mine.join_as(queue, 'ann');
  const place2 = await other.join_as(await other.queue(), 'bob');
  const device = await server.post('/customers/me/devices', {
    token: fan,
    body: { platform: 'ntfy', token: 'phone' },
  });
  assert.equal(device.status, 201, device.text);
  const ticket_device = await server.post(`/tickets/${place.ticket_id}/devices`, {
    token: place.ticket_token,
    body: { platform: 'ntfy', token: 'ticket' },
  });
  assert.equal(ticket_device.status, 201, ticket_device.text);
  const endpoint = await server.post('/webhook-endpoints', {
    token: mine.token,
    body: { url: 'http://127.0.0.1:9/nowhere', topics: ['queue.turn_granted'] },
  });
  assert.equal(endpoint.status, 201, endpoint.text);
  const plan = await server.post('/seat-plans/hall', {
    token: org,
    body: { name: 'Hall', sections: [{ ticket_type: 'Standard', rows: 2, seats: 4 }] },
  });
  assert.equal(plan.status, 201, plan.text);
  const blocked = await server.post('/blocked-customers', {
    token: org,
    body: { emails: ['blocked@example.com'] },
  });
  assert.equal(blocked.status, 200, blocked.text);
  const blocks = await server.get('/blocked-customers', { token: org });
  const ids = {
    event: event.id,
    order: bought.json.order_id,
    complete_order: given.json.order_id,
    event_ticket,
    transfer: offer.json.transfer_id,
    code: code.json.id,
    queue: queue.id,
    place: place.ticket_id,
    device: device.json.device_id,
    ticket_device: ticket_device.json.device_id,
    endpoint: endpoint.json.id,
    plan: plan.json.seat_plan_id,
    claim: claim.claim_id,
    payment: payment.payment_id,
    reference: payment.reference,
    customer: blocks.json.items[0].customer_id,
    type,
  };
  const tokens = {
    none: undefined,
    fan,
    fan2,
    org,
    org2: await server.organizer(),
    oper: mine.token,
    server1: mine.server,
    oper2: other.token,
    join2: other.join,
    server2: other.server,
    operate2: other.operator,
    ticket: place.ticket_token,
    ticket2: place2.ticket_token,
    guest: (await server.post('/guests')).json.token,
  };
  return { ids, tokens };
}
