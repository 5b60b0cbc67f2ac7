// SPDX-License-Identifier: Apache-2.0
// A use of the types; only compiled (npm run check).
import { FairQueue, reconnect_delay, type Answer, type EndDetail, type Place } from './fairqueue.js';

const line = new FairQueue({ server: 'https://tickets.example', queue: '0198…', key: 'wr_shop_…' });
new FairQueue({
  server: 'https://tickets.example',
  queue: '0198…',
  solve: async ({ type, site_key }) => `${type} ${site_key}`,
});
line.addEventListener('change', ({ detail }) => {
  const ahead: number | null = detail.ahead;
  const low: number | undefined = detail.eta?.low;
  console.log(detail.outlook?.chancePercent?.low, detail.outlook?.chance === 'likely', detail.waitingList);
  console.log(ahead, low, detail.status === 'WAITING');
});
line.addEventListener('admitted', ({ detail }) => console.log(detail.token?.length));
line.addEventListener('end', ({ detail }: CustomEvent<EndDetail>) => console.log(detail.why === 'revoked'));
const place: Place | null = await line.join();
console.log(place?.position, line.connection === 'live', line.handoff(), reconnect_delay(3) < 30_000);
const { total, currency } = await line.quote({ items: [{ ticket_type_id: '0198…', quantity: 2 }] });
const placed = await line.checkout({
  contact: { first_name: 'Ada', last_name: 'Obi', email: 'ada@example.org' },
  answers: [
    { question_id: 1, value: 'yes' },
    { question_id: 2, attendee: 1, value: 'M' },
  ],
});
for await (const order of line.orderChanges(placed.order_id))
  console.log(total, currency, order.status === 'awaiting_payment' && order.payment_url);
const lock = await line.lock('A-3');
console.log(lock.locked_until, (await line.locks()).length);
await line.unlock(lock.name);
const [ticket] = (await line.eventTickets()).items;
if (ticket) {
  const held = await line.eventTicket(ticket.id);
  console.log(held.code ?? held.rotating_code?.secret);
  const offer = await line.transfer(ticket.id, 'ben@example.org');
  console.log((await line.answerTransfer(offer.transfer_id, 'withdraw')).status === 'WITHDRAWN');
}
const map = await line.seats();
map.addEventListener('change', ({ detail }) =>
  detail.forEach((n) => console.log(map.seat(n).state === 'free')),
);
console.log((await line.quoteBest(2, { section: 'P' })).total);
map.close();
console.log((await line.party()).party?.code, (await line.party('2-ABCDEFGH')).party?.members);
await line.leave();
line.close();

// @ts-expect-error: a place is read-only
if (place) place.position = 1;
// @ts-expect-error: an order needs a contact
await line.checkout({ items: [] });
// @ts-expect-error: an answer names its question
const nameless: Answer = { value: 'M' };
console.log(nameless);
// @ts-expect-error: unknown status
console.log(place?.status === 'SERVED');
// @ts-expect-error: the server's address is required
new FairQueue({ queue: 'x' });
