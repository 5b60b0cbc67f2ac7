// SPDX-License-Identifier: Apache-2.0
// The organizer's events and queues.
import { get } from './api.mjs';
import { number, time } from './format.mjs';
import { Badge, Heading, Listing, Table, use_pages } from './parts.jsx';

export function Events() {
  const pages = use_pages(
    (cursor) => get(`/events?mine=true${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`),
    'events',
  );
  return (
    <>
      <div class="row apart">
        <Heading title="Events" />
        <a class="button" href="#/events/new">
          New event
        </a>
      </div>
      <Listing pages={pages} empty="No events yet. Make the first one.">
        {(items) => (
          <Table
            label="Your events"
            rows={items}
            key_of={(event) => event.id}
            columns={[
              ['Name', (event) => <a href={`#/events/${event.id}`}>{event.name}</a>],
              ['State', (event) => <Badge name={event.status} />],
              ['Sale starts', (event) => time(event.sale_start), { wide: true }],
              ['Sale ends', (event) => time(event.sale_end), { wide: true }],
              ['Free', (event) => number(event.available), { number: true }],
              ['Tickets', (event) => number(event.total_inventory), { number: true }],
            ]}
          />
        )}
      </Listing>
    </>
  );
}

export function Queues() {
  const pages = use_pages(async (cursor) => {
    const page = await get(`/queues${cursor ? `?cursor=${encodeURIComponent(cursor)}` : ''}`);
    return { items: page.queues, next_cursor: page.next_cursor };
  }, 'queues');
  return (
    <>
      <div class="row apart">
        <Heading title="Queues" />
        <a class="button" href="#/queues/new">
          New queue
        </a>
      </div>
      <p class="soft">Standalone waiting rooms in front of other sites.</p>
      <Listing pages={pages} empty="No queues yet.">
        {(items) => (
          <Table
            label="Queues"
            rows={items}
            key_of={(queue) => queue.id}
            columns={[
              ['Name', (queue) => <a href={`#/queues/${queue.id}`}>{queue.name}</a>],
              ['State', (queue) => <Badge name={queue.status} />],
              ['Mode', (queue) => queue.mode],
              ['At a time', (queue) => number(queue.concurrency), { number: true }],
              ['External id', (queue) => queue.external_id ?? '–', { wide: true }],
            ]}
          />
        )}
      </Listing>
    </>
  );
}
