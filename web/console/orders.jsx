// SPDX-License-Identifier: Apache-2.0
// The orders of an event: search by name, address, number or code; details, refund, mail again, export.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { get, new_key, post } from './api.mjs';
import { money, seat_text, time } from './format.mjs';
import {
  Badge,
  Check,
  Choice,
  Dialog,
  ExportButton,
  Field,
  Form,
  Listing,
  ProblemNote,
  Table,
  tell,
  Text,
  use_action,
  use_loaded,
  use_pages,
} from './parts.jsx';

const states = [
  'pending',
  'awaiting_payment',
  'success',
  'failed',
  'cancelled',
  'partially_refunded',
  'refunded',
];
const state_names = [['', 'Every state'], ...states.map((state) => [state, state.replaceAll('_', ' ')])];

export function Orders({ event }) {
  const [typed, set_typed] = useState({ text: '', status: '' });
  const [wanted, set_wanted] = useState(typed);
  const path = `/events/${event.id}/orders`;
  // The search text is personal data, so it is sent in the body, which no log contains.
  const pages = use_pages(
    (cursor) => {
      const wish = Object.fromEntries(Object.entries({ ...wanted, cursor }).filter(([, value]) => value));
      return post(`${path}/search`, wish);
    },
    JSON.stringify([event.id, wanted]),
  );
  return (
    <section class="card" aria-labelledby="orders-title">
      <div class="row apart">
        <h2 id="orders-title">Orders</h2>
        <ExportButton path={`${path}.csv`} name={`orders-${event.id}.csv`} />
      </div>
      <Form send={() => set_wanted({ text: typed.text.trim(), status: typed.status })} role="search">
        <div class="row bottom">
          <Field label="Find" hint="Part of a name or e-mail address, the order’s number, or a promo code.">
            <Text
              value={typed.text}
              set={(text) => set_typed({ ...typed, text })}
              maxLength={254}
              type="search"
            />
          </Field>
          <Field label="State">
            <Choice
              value={typed.status}
              set={(status) => set_typed({ ...typed, status })}
              options={state_names}
            />
          </Field>
          <button type="submit" class="button">
            Search
          </button>
        </div>
      </Form>
      <Listing pages={pages} empty={wanted.text || wanted.status ? 'No matching orders.' : 'No orders yet.'}>
        {(items) => (
          <Table
            label="Orders"
            rows={items}
            key_of={(order) => order.order_id}
            columns={[
              [
                'Order',
                (order) => (
                  <a href={`#/events/${event.id}/orders/${order.order_id}`}>{order.order_id.slice(-12)}</a>
                ),
              ],
              ['Placed', (order) => time(order.created_at), { wide: true }],
              ['Customer', (order) => `${order.contact.first_name} ${order.contact.last_name}`],
              ['E-mail', (order) => order.contact.email, { wide: true }],
              ['State', (order) => <Badge name={order.status} />],
              ['Total', (order) => money(order.total, order.currency), { number: true }],
              [
                'Refunded',
                (order) => (order.refunded_amount > 0 ? money(order.refunded_amount, order.currency) : '–'),
                { number: true, wide: true },
              ],
            ]}
          />
        )}
      </Listing>
    </section>
  );
}

const tickets_max = 200;
const is_refundable = (ticket) => ticket.status !== 'CANCELLED' && !ticket.refund_pending;
const name_of = (event, type) => event.ticket_types.find((t) => t.id === type)?.name ?? type;
const short = (id) => id.slice(-12);
/** "Weekend pass, Stalls, row A, seat 3 (…)". */
const ticket_text = (event, ticket) =>
  [name_of(event, ticket.ticket_type_id), ticket.seat_place && seat_text(ticket.seat_place)]
    .filter(Boolean)
    .join(', ') + ` (${short(ticket.id)})`;

/** Refunds the rest or some tickets. The key belongs to the dialog, so repeated sends are one refund. */
function Refund({ event, order, close, done }) {
  const tickets = order.event_tickets.filter(is_refundable);
  const [whole, set_whole] = useState('all');
  const [chosen, set_chosen] = useState([]);
  const [reason, set_reason] = useState('');
  const [key, set_key] = useState(new_key);
  const action = use_action();
  const changed = (set) => (value) => {
    set(value);
    set_key(new_key()); // a changed form is a new refund
  };
  const choose = (id) => (is_on) =>
    changed(set_chosen)(is_on ? [...chosen, id] : chosen.filter((other) => other !== id));
  const send = async () => {
    const body = {
      ...(whole === 'some' && { event_ticket_ids: chosen }),
      ...(reason.trim() && { reason: reason.trim() }),
    };
    if (!(await action.run(async () => done(await post(`/orders/${order.order_id}/refunds`, body, { key })))))
      return;
    close();
    tell('The refund is under way.');
  };
  return (
    <Dialog title="Refund this order" close={close}>
      <Form send={send}>
        <fieldset class="plain">
          <legend>Refund</legend>
          <label class="check">
            <input
              type="radio"
              name="whole"
              checked={whole === 'all'}
              onChange={() => changed(set_whole)('all')}
            />
            <span>
              Everything that is left: {money(order.total - order.refunded_amount, order.currency)}, fees
              included
            </span>
          </label>
          <label class="check">
            <input
              type="radio"
              name="whole"
              checked={whole === 'some'}
              onChange={() => changed(set_whole)('some')}
            />
            <span>Some tickets</span>
          </label>
        </fieldset>
        {whole === 'some' && (
          <fieldset class="boxed">
            <legend>Tickets</legend>
            {tickets.slice(0, tickets_max).map((ticket) => (
              <Check
                key={ticket.id}
                label={ticket_text(event, ticket)}
                value={chosen.includes(ticket.id)}
                set={choose(ticket.id)}
              />
            ))}
          </fieldset>
        )}
        <Field label="Reason (for the audit log, optional)">
          <Text value={reason} set={changed(set_reason)} maxLength={500} />
        </Field>
        <p class="soft">The tickets are on sale again after the refund. The customer gets a mail.</p>
        <ProblemNote problem={action.problem} />
        <div class="row end">
          <button type="button" class="button plain" onClick={close}>
            Not now
          </button>
          <button
            type="submit"
            class="button danger"
            disabled={action.busy || (whole === 'some' && chosen.length === 0)}
          >
            Refund
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

const holders_max = 50;
/**
 * Holders of the first tickets by id. The order does not name them: a ticket may have gone to another person.
 */
function use_holders(tickets) {
  const read = async (signal) => {
    const found = await Promise.all(
      tickets.slice(0, holders_max).map(({ id }) => get(`/event-tickets/${id}`, { signal })),
    );
    return new Map(found.map((ticket) => [ticket.id, ticket.holder_id]));
  };
  return use_loaded(read, tickets.map(({ id, status }) => id + status).join());
}

/** "2: Meal? Yam; Shirt M". */
const attendee_text = ({ answers }, { attendee }) =>
  [
    attendee ?? '–',
    answers
      .filter((a) => a.attendee && a.attendee === attendee)
      .map((a) => `${a.label} ${a.value}`)
      .join('; '),
  ]
    .filter(Boolean)
    .join(': ');

/** Who offered the ticket to whom, and what came of it. */
const transfers_text = ({ transfers }) =>
  transfers.length === 0
    ? '–'
    : transfers.map((t) => (
        <div key={t.transfer_id}>
          <Badge name={t.status} /> {time(t.ended_at ?? t.created_at)}: <span class="id">{t.giver_id}</span>{' '}
          to <span class="id">{t.receiver_id}</span>
        </div>
      ));

function EventTickets({ event, order }) {
  const tickets = order.event_tickets;
  const holders = use_holders(tickets);
  return (
    <>
      <h3>Event tickets</h3>
      <ProblemNote problem={holders.problem} retry={holders.refresh} />
      <Table
        label="Event tickets"
        rows={tickets}
        key_of={(ticket) => ticket.id}
        columns={[
          ['Ticket', (ticket) => ticket_text(event, ticket)],
          ['Attendee', (ticket) => attendee_text(order, ticket)],
          [
            'State',
            (ticket) => (
              <>
                <Badge name={ticket.status} /> {ticket.refund_pending && 'refund under way'}
              </>
            ),
          ],
          [
            'Holder',
            (ticket) => <span class="id">{holders.data?.get(ticket.id) ?? '–'}</span>,
            { wide: true },
          ],
          ['Transfers', transfers_text, { wide: true }],
        ]}
      />
    </>
  );
}

const refundable = (order) =>
  ['success', 'partially_refunded'].includes(order.status) && order.payment_status !== 'REFUND_PENDING';

export function OrderView({ event, id }) {
  const loaded = use_loaded((signal) => get(`/orders/${id}`, { signal }), id, 3_000);
  const [refunding, set_refunding] = useState(false);
  const action = use_action();
  const order = loaded.data;
  const root = `#/events/${event.id}/orders`;
  const resend = () =>
    action
      .run(() => post(`/orders/${id}/resend`, {}))
      .then((done) => done && tell('The mail goes out again.'));
  return (
    <section class="card" aria-labelledby="order-title">
      <p class="crumbs">
        <a href={root}>All orders</a>
      </p>
      <h2 id="order-title">
        Order <span class="id">{id}</span> {order && <Badge name={order.status} />}
      </h2>
      <ProblemNote problem={loaded.problem} />
      {order && (
        <>
          <dl class="facts">
            <dt>Customer</dt>
            <dd>
              {order.contact.first_name} {order.contact.last_name}
            </dd>
            <dt>E-mail</dt>
            <dd>{order.contact.email}</dd>
            <dt>Phone</dt>
            <dd>{order.contact.phone ?? '–'}</dd>
            {order.answers.map((a) => (
              <Fragment key={`${a.question_id}.${a.attendee}`}>
                <dt>{a.attendee ? `${a.label} (ticket ${a.attendee})` : a.label}</dt>
                <dd>{a.value}</dd>
              </Fragment>
            ))}
            <dt>Placed</dt>
            <dd>{time(order.created_at)}</dd>
            <dt>Payment</dt>
            <dd>
              {order.payment_status ? <Badge name={order.payment_status} /> : 'none'}{' '}
              <span class="id">{order.payment_id}</span>
            </dd>
            {order.seats && (
              <>
                <dt>Seats</dt>
                <dd>{order.seat_places.map(seat_text).join('; ')}</dd>
              </>
            )}
            <dt>Promo code</dt>
            <dd>{order.promo_code ?? '–'}</dd>
            {order.failure && (
              <>
                <dt>Failed because</dt>
                <dd>{order.failure.replaceAll('_', ' ')}</dd>
              </>
            )}
          </dl>
          <Table
            label="Tickets of this order"
            rows={order.items}
            key_of={(item) => item.ticket_type_id}
            columns={[
              ['Ticket', (item) => name_of(event, item.ticket_type_id)],
              ['Number', (item) => item.quantity, { number: true }],
              [
                'Each',
                (item) => money(item.unit_price - item.unit_discount, order.currency),
                { number: true },
              ],
              ['Donation each', (item) => money(item.donation, order.currency), { number: true, wide: true }],
              ['Refunded', (item) => item.refunded_quantity, { number: true }],
            ]}
          />
          <dl class="facts sums">
            <dt>Fees</dt>
            <dd>{money(order.platform_fee + order.processing_fee, order.currency)}</dd>
            <dt>Total</dt>
            <dd>{money(order.total, order.currency)}</dd>
            <dt>Refunded</dt>
            <dd>{money(order.refunded_amount, order.currency)}</dd>
          </dl>
          {order.event_tickets.length > 0 && <EventTickets event={event} order={order} />}
          <div class="row">
            <button
              type="button"
              class="button danger"
              disabled={!refundable(order)}
              onClick={() => set_refunding(true)}
            >
              Refund…
            </button>
            <button type="button" class="button plain" disabled={action.busy} onClick={resend}>
              Send its mail again
            </button>
          </div>
          <ProblemNote problem={action.problem} />
          {refunding && (
            <Refund event={event} order={order} close={() => set_refunding(false)} done={loaded.refresh} />
          )}
        </>
      )}
    </section>
  );
}
