// SPDX-License-Identifier: Apache-2.0
// A new event, or the settings of one. Sends only changed fields. People type money with decimals; the form
// sends minor units.
import { useState } from 'preact/hooks';
import { changed_part, new_key, patch, post } from './api.mjs';
import { challenge_hint, challenges, policies_for } from './admission.jsx';
import { Facts, facts_of, facts_wire, new_facts, venue_wire } from './facts.jsx';
import { amount_text, from_zoned_input, parse_amount, typed, untyped, zone, zoned_input } from './format.mjs';
import { beacon_wire, lobby_of, lobby_wire, LobbyFields, new_lobby } from './lobby.jsx';
import { body_of_questions, form_of_questions, Questions } from './questions.jsx';
import {
  Area,
  Check,
  Choice,
  Field,
  Form,
  Heading,
  ProblemNote,
  tell,
  Text,
  use_action,
  When,
  Whole,
} from './parts.jsx';
import { list_of, list_wire, new_list, WaitingList } from './waiting_list.jsx';

const hour_ms = 3_600_000;
const in_hours = (hours) =>
  zoned_input(new Date(Math.ceil(Date.now() / hour_ms) * hour_ms + hours * hour_ms).toISOString(), zone);

const empty_type = {
  name: '',
  price: '',
  total: '100',
  max_per_order: '4',
  on_sale: true,
  hidden: false,
  sale_from: '',
  sale_until: '',
  description: '',
};

function new_form() {
  return {
    name: '',
    currency: 'EUR',
    message: '',
    queue_opens_at: '',
    sale_start: in_hours(0),
    sale_end: in_hours(24),
    ...new_facts(),
    rotating_codes: false,
    transfers_max: '1',
    ticket_terms: '',
    questions: [],
    claims_per_customer: '1',
    guests: false,
    claim_ttl: '10',
    policy: 'batch',
    batch_size: '50',
    interval: '5',
    concurrency: '',
    rate_per_minute: '',
    capacity: '',
    challenge: 'none',
    session_ttl: '20',
    claim_window: '5',
    reclaim_window: '1',
    presence_timeout: '0',
    ...new_list(),
    ...new_lobby(),
    types: [{ ...empty_type, key: new_key() }],
  };
}

const minutes = (seconds) => String(seconds / 60);

function form_of(event) {
  const q = event.queue;
  return {
    name: event.name,
    currency: event.currency,
    message: event.message,
    queue_opens_at: zoned_input(event.queue_opens_at, event.time_zone),
    sale_start: zoned_input(event.sale_start, event.time_zone),
    sale_end: zoned_input(event.sale_end, event.time_zone),
    ...facts_of(event),
    rotating_codes: event.rotating_codes,
    transfers_max: typed(event.transfers_max),
    ticket_terms: event.ticket_terms ?? '',
    questions: form_of_questions(event.questions),
    claims_per_customer: typed(event.claims_per_customer),
    guests: event.guests,
    claim_ttl: minutes(event.claim_ttl_seconds),
    policy: q.policy,
    batch_size: typed(q.batch_size),
    interval: String(q.admission_interval_ms / 1000),
    concurrency: typed(q.concurrency),
    rate_per_minute: typed(q.rate_per_minute),
    capacity: typed(q.capacity),
    challenge: event.challenge,
    session_ttl: minutes(q.session_ttl_seconds),
    claim_window: minutes(q.claim_window_seconds),
    reclaim_window: minutes(q.reclaim_window_seconds),
    presence_timeout: typed(q.presence_timeout_seconds),
    ...list_of(event),
    ...lobby_of(event, event.time_zone),
    types: event.ticket_types.map((type) => ({
      key: type.id,
      id: type.id,
      name: type.name,
      price: amount_text(type.price, event.currency),
      total: typed(type.total),
      max_per_order: typed(type.max_per_order),
      on_sale: type.on_sale,
      hidden: type.hidden,
      sale_from: zoned_input(type.sale_from, event.time_zone),
      sale_until: zoned_input(type.sale_until, event.time_zone),
      description: type.description ?? '',
    })),
  };
}

const seconds = (text) => Math.round(Number(text) * 60);

/** Request field and value of each typed field: [name, value]. */
const wire = {
  name: (f) => ({ name: f.name.trim() }),
  message: (f) => ({ message: f.message }),
  queue_opens_at: (f) =>
    f.queue_opens_at ? { queue_opens_at: from_zoned_input(f.queue_opens_at, f.time_zone) } : {},
  sale_start: (f) => ({ sale_start: from_zoned_input(f.sale_start, f.time_zone) }),
  sale_end: (f) => ({ sale_end: from_zoned_input(f.sale_end, f.time_zone) }),
  claims_per_customer: (f) => ({ claims_per_customer: Number(f.claims_per_customer) }),
  guests: (f) => ({ guests: f.guests }),
  claim_ttl: (f) => ({ claim_ttl_seconds: seconds(f.claim_ttl) }),
  rotating_codes: (f) => ({ rotating_codes: f.rotating_codes }),
  transfers_max: (f) => ({ transfers_max: Number(f.transfers_max) }),
  ticket_terms: (f) => ({ ticket_terms: f.ticket_terms.trim() || null }),
  questions: (f) => ({ questions: body_of_questions(f.questions) }),
  challenge: (f) => ({ challenge: f.challenge }),
  ...lobby_wire,
  ...facts_wire,
};
const queue_wire = {
  policy: (f) => ({ policy: f.policy }),
  batch_size: (f) => ({ batch_size: Number(f.batch_size) }),
  interval: (f) => ({ admission_interval_ms: Math.round(Number(f.interval) * 1000) }),
  concurrency: (f) => ({ concurrency: untyped(f.concurrency) }),
  rate_per_minute: (f) => ({ rate_per_minute: untyped(f.rate_per_minute) }),
  capacity: (f) => ({ capacity: untyped(f.capacity) }),
  session_ttl: (f) => ({ session_ttl_seconds: seconds(f.session_ttl) }),
  claim_window: (f) => ({ claim_window_seconds: seconds(f.claim_window) }),
  reclaim_window: (f) => ({ reclaim_window_seconds: seconds(f.reclaim_window) }),
  presence_timeout: (f) => ({ presence_timeout_seconds: Number(f.presence_timeout) }),
};
const type_wire = {
  name: (t) => ({ name: t.name.trim() }),
  price: (t, form) => ({ price: parse_amount(t.price, form.currency) }),
  total: (t) => ({ total: Number(t.total) }),
  max_per_order: (t) => ({ max_per_order: Number(t.max_per_order) }),
  on_sale: (t) => ({ on_sale: t.on_sale }),
  hidden: (t) => ({ hidden: t.hidden }),
  sale_from: (t, form) => ({ sale_from: from_zoned_input(t.sale_from, form.time_zone) }),
  sale_until: (t, form) => ({ sale_until: from_zoned_input(t.sale_until, form.time_zone) }),
  description: (t) => ({ description: t.description.trim() || null }),
};

function body_of(before, now) {
  const body = changed_part(wire, before, now);
  if (!before) body.currency = now.currency;
  const queue = changed_part(queue_wire, before, now);
  if (Object.keys(queue).length > 0) body.queue = queue;
  const venue = changed_part(venue_wire, before, now);
  if (Object.keys(venue).length > 0) body.venue = venue;
  const list = changed_part(list_wire, before, now);
  if (Object.keys(list).length > 0) body.waiting_list = list;
  const beacon = changed_part(beacon_wire, before, now);
  if (Object.keys(beacon).length > 0) body.beacon = beacon;
  const types = now.types
    .map((type) => {
      const known = before?.types.find(({ id }) => id === type.id && id);
      const part = changed_part(type_wire, known, type, [before, now]);
      return known && Object.keys(part).length > 0 ? { id: type.id, ...part } : known ? null : part;
    })
    .filter(Boolean);
  if (types.length > 0) body.ticket_types = types;
  return body;
}

function TicketType({ type, index, currency, set, remove, wrong }) {
  const put = (name) => (value) => set({ ...type, [name]: value });
  const price_is_wrong = type.price !== '' && parse_amount(type.price, currency) === null;
  return (
    <fieldset class="boxed">
      <legend>
        Ticket type {index + 1}
        {type.name && `: ${type.name}`}
      </legend>
      <div class="fields">
        <Field label="Name" wrong={wrong('name')}>
          <Text value={type.name} set={put('name')} required maxLength={200} />
        </Field>
        <Field
          label={`Price (${currency})`}
          wrong={price_is_wrong ? `Write it like ${amount_text(14900, currency)}.` : wrong('price')}
        >
          <Text value={type.price} set={put('price')} required inputMode="decimal" />
        </Field>
        <Field label="Tickets" wrong={wrong('total')}>
          <Whole value={type.total} set={put('total')} min="1" max="10000000" required />
        </Field>
        <Field label="At most an order" wrong={wrong('max_per_order')}>
          <Whole value={type.max_per_order} set={put('max_per_order')} min="1" max="100" required />
        </Field>
        <Field label="Description" wrong={wrong('description')} class="wide">
          <Text value={type.description} set={put('description')} maxLength={500} />
        </Field>
      </div>
      <div class="row">
        <Check label="On sale" value={type.on_sale} set={put('on_sale')} />
        <Check label="Hidden (with a promo code only)" value={type.hidden} set={put('hidden')} />
        {remove && (
          <button type="button" class="quiet-button" onClick={remove}>
            Remove
          </button>
        )}
      </div>
      <details>
        <summary>Its own sale window</summary>
        <div class="fields">
          <Field label="On sale from" wrong={wrong('sale_from')}>
            <When value={type.sale_from} set={put('sale_from')} />
          </Field>
          <Field label="On sale until" wrong={wrong('sale_until')}>
            <When value={type.sale_until} set={put('sale_until')} />
          </Field>
        </div>
      </details>
    </fieldset>
  );
}

/** `event`: the one to change; without it, a new one. */
export function EventForm({ event, changed }) {
  // Base of the comparison: the event when the form was opened or last saved.
  const [before, set_before] = useState(() => (event ? form_of(event) : null));
  const [form, set_form] = useState(() => before ?? new_form());
  const [key] = useState(new_key); // repeated sends create one event
  const action = use_action();
  const put = (name) => (value) => set_form((now) => ({ ...now, [name]: value }));
  const put_type = (index) => (type) =>
    set_form((now) => ({
      ...now,
      types: now.types.with?.(index, type) ?? now.types.map((t, i) => (i === index ? type : t)),
    }));
  const body = body_of(before, form);
  const is_changed = Object.keys(body).length > 0;
  const wrong = (name) => action.problem?.fields?.get(name);
  const sent_types = before
    ? form.types.filter((type) => body.ticket_types?.some((t) => t.id === type.id))
    : form.types;
  const wrong_type = (type) => (name) => {
    const at = sent_types.indexOf(type);
    return (
      wrong(`ticket_types[${at}].${name}`) ??
      (form.types.length === 1 ? wrong(`ticket_types.${name}`) : undefined)
    );
  };
  const is_over = event?.status === 'CANCELLED';
  const send = () =>
    action.run(async () => {
      if (!event) {
        const made = await post('/events', body, { key });
        tell(`“${made.name}” is created as a draft. It is not visible until it is activated.`);
        location.hash = `#/events/${made.id}`;
        return;
      }
      const saved = await patch(`/events/${event.id}`, body);
      changed(saved);
      set_before(form_of(saved));
      set_form(form_of(saved));
      tell('Saved.');
    });
  return (
    <Form send={send} class="stack">
      {is_over && <p class="notice">The event is cancelled: nothing can be changed any more.</p>}
      {event?.status === 'ENDED' && (
        <p class="notice">
          The sale is over: only when, where, the description and the tickets in hand can be changed.
        </p>
      )}
      <section class="card" aria-labelledby="what-title">
        <h2 id="what-title">What is on sale</h2>
        <div class="fields">
          <Field label="Name" wrong={wrong('name')} class="wide">
            <Text value={form.name} set={put('name')} required maxLength={200} />
          </Field>
          {!event && (
            <Field
              label="Currency"
              wrong={wrong('currency')}
              hint="ISO 4217, like EUR. It cannot be changed later."
            >
              <Text
                value={form.currency}
                set={(value) => put('currency')(value.toUpperCase())}
                required
                pattern="[A-Z]{3}"
                maxLength={3}
              />
            </Field>
          )}
          <Field
            label="Sale starts"
            wrong={wrong('sale_start')}
            hint={`In the event’s time zone, ${form.time_zone || 'UTC'}.`}
          >
            <When value={form.sale_start} set={put('sale_start')} required />
          </Field>
          <Field label="Sale ends" wrong={wrong('sale_end')}>
            <When value={form.sale_end} set={put('sale_end')} required />
          </Field>
          <Field
            label="Line opens"
            wrong={wrong('queue_opens_at')}
            hint={event ? undefined : 'Empty: when the sale starts.'}
          >
            <When value={form.queue_opens_at} set={put('queue_opens_at')} required={Boolean(event)} />
          </Field>
          <Field label="Message to all in line" wrong={wrong('message')} class="wide">
            <Text value={form.message} set={put('message')} maxLength={500} />
          </Field>
        </div>
      </section>
      <Facts form={form} put={put} wrong={wrong} />
      <section class="card" aria-labelledby="types-title">
        <h2 id="types-title">Ticket types</h2>
        {form.types.map((type, index) => (
          <TicketType
            key={type.key}
            type={type}
            index={index}
            currency={form.currency}
            set={put_type(index)}
            wrong={wrong_type(type)}
            remove={
              type.id || form.types.length === 1
                ? null
                : () => put('types')(form.types.filter((_, i) => i !== index))
            }
          />
        ))}
        <p>
          <button
            type="button"
            class="button plain"
            onClick={() => put('types')([...form.types, { ...empty_type, key: new_key() }])}
          >
            Add a ticket type
          </button>
        </p>
      </section>
      <Questions questions={form.questions} set={put('questions')} wrong={wrong} />
      <section class="card" aria-labelledby="tickets-title">
        <h2 id="tickets-title">Tickets in hand</h2>
        <div class="fields">
          <Field
            label="How often a ticket may be given to another person"
            wrong={wrong('transfers_max')}
            hint="0: never."
          >
            <Whole value={form.transfers_max} set={put('transfers_max')} min="0" max="100" required />
          </Field>
          <Field
            label="Terms on the PDF"
            wrong={wrong('ticket_terms')}
            hint="Plain text, at most 1,000 bytes. Pages do not show it."
            class="wide"
          >
            <Area value={form.ticket_terms} set={put('ticket_terms')} rows={4} maxLength={1000} />
          </Field>
        </div>
        <div class="row">
          <Check
            label="People may buy without a sign-in (tickets go to their mail address only)"
            value={form.guests}
            set={put('guests')}
          />
          <Check
            label="Codes change every 30 seconds (PDFs have none)"
            value={form.rotating_codes}
            set={put('rotating_codes')}
          />
        </div>
      </section>
      <section class="card" aria-labelledby="line-title">
        <h2 id="line-title">The line</h2>
        <div class="fields">
          <Field label="Policy" wrong={wrong('queue.policy')}>
            <Choice value={form.policy} set={put('policy')} options={policies_for('event')} />
          </Field>
          {form.policy === 'batch' && (
            <>
              <Field label="Batch size" wrong={wrong('queue.batch_size')}>
                <Whole value={form.batch_size} set={put('batch_size')} min="1" max="10000" required />
              </Field>
              <Field label="Every (seconds)" wrong={wrong('queue.admission_interval_ms')}>
                <Whole
                  value={form.interval}
                  set={put('interval')}
                  min="0.05"
                  max="3600"
                  step="any"
                  required
                />
              </Field>
            </>
          )}
          <Field
            label="Shopping at a time"
            wrong={wrong('queue.concurrency')}
            hint={form.policy === 'capacity' ? undefined : 'Empty: no limit.'}
          >
            <Whole
              value={form.concurrency}
              set={put('concurrency')}
              min="1"
              max="10000000"
              required={form.policy === 'capacity'}
            />
          </Field>
          <Field
            label="At most a minute"
            wrong={wrong('queue.rate_per_minute')}
            hint={form.policy === 'rate' ? undefined : 'Empty: no limit.'}
          >
            <Whole
              value={form.rate_per_minute}
              set={put('rate_per_minute')}
              min="1"
              max="10000000"
              required={form.policy === 'rate'}
            />
          </Field>
        </div>
        <details>
          <summary>Times and limits</summary>
          <div class="fields">
            <Field
              label="Session (minutes)"
              wrong={wrong('queue.session_ttl_seconds')}
              hint="From admission to the end of shopping."
            >
              <Whole
                value={form.session_ttl}
                set={put('session_ttl')}
                min="0.02"
                max="1440"
                step="any"
                required
              />
            </Field>
            <Field
              label="Time to choose (minutes)"
              wrong={wrong('queue.claim_window_seconds')}
              hint="Customers without a claim by then lose their turn."
            >
              <Whole
                value={form.claim_window}
                set={put('claim_window')}
                min="0.02"
                max="1440"
                step="any"
                required
              />
            </Field>
            <Field
              label="Time to choose again (minutes)"
              wrong={wrong('queue.reclaim_window_seconds')}
              hint="After a claim ended without a purchase. 0: the turn ends at once."
            >
              <Whole
                value={form.reclaim_window}
                set={put('reclaim_window')}
                min="0"
                max="1440"
                step="any"
                required
              />
            </Field>
            <Field label="Time to pay (minutes)" wrong={wrong('claim_ttl_seconds')}>
              <Whole
                value={form.claim_ttl}
                set={put('claim_ttl')}
                min="0.02"
                max="1440"
                step="any"
                required
              />
            </Field>
            <Field label="Purchases a customer" wrong={wrong('claims_per_customer')}>
              <Whole
                value={form.claims_per_customer}
                set={put('claims_per_customer')}
                min="1"
                max="8"
                required
              />
            </Field>
            <Field label="Places in line at most" wrong={wrong('queue.capacity')} hint="Empty: no limit.">
              <Whole value={form.capacity} set={put('capacity')} min="1" max="10000000" />
            </Field>
            <Field label="Before joining, solve" wrong={wrong('challenge')} hint={challenge_hint}>
              <Choice value={form.challenge} set={put('challenge')} options={challenges} />
            </Field>
            <Field
              label="Away after (seconds)"
              wrong={wrong('queue.presence_timeout_seconds')}
              hint="Customers away for longer are skipped; 0: never, otherwise at least 20."
            >
              <Whole
                value={form.presence_timeout}
                set={put('presence_timeout')}
                min="0"
                max="86400"
                required
              />
            </Field>
          </div>
        </details>
      </section>
      <LobbyFields kind="event" thing={event} form={form} put={put} wrong={wrong} />
      <WaitingList event={event} form={form} put={put} wrong={wrong} />
      <ProblemNote problem={action.problem} />
      <div class="row">
        <button type="submit" class="button" disabled={action.busy || is_over || !is_changed}>
          {event ? 'Save' : 'Make the event'}
        </button>
        {event && is_changed && !is_over && (
          <button type="button" class="button plain" onClick={() => set_form(before)}>
            Undo changes
          </button>
        )}
      </div>
    </Form>
  );
}

export function NewEvent() {
  return (
    <>
      <p class="crumbs">
        <a href="#/events">Events</a>
      </p>
      <Heading title="New event" />
      <EventForm />
    </>
  );
}
