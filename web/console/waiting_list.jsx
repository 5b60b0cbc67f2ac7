// SPDX-License-Identifier: Apache-2.0
// The list after an event is sold out: its settings in the event's form, and what has become of it.
import { Fragment } from 'preact';
import { number, span, time, zoned_input } from './format.mjs';
import { Check, Field, Whole } from './parts.jsx';

/** Minutes of the day as "22:30"; empty: none. */
const clock = (minute) =>
  minute === null
    ? ''
    : `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
const minute_of = (text) => {
  if (!text) return null;
  const [hours, minutes] = text.split(':').map(Number);
  return hours * 60 + minutes;
};

export const new_list = () => ({ list: false, list_window: '30', quiet_from: '', quiet_until: '' });
export const list_of = ({ waiting_list: w }) => ({
  list: w.enabled,
  list_window: String(w.claim_window_seconds / 60),
  quiet_from: clock(w.quiet_from_minute),
  quiet_until: clock(w.quiet_until_minute),
});
export const list_wire = {
  list: (f) => ({ enabled: f.list }),
  list_window: (f) => ({ claim_window_seconds: Math.round(Number(f.list_window) * 60) }),
  quiet_from: (f) => ({ quiet_from_minute: minute_of(f.quiet_from) }),
  quiet_until: (f) => ({ quiet_until_minute: minute_of(f.quiet_until) }),
};

const Clock = ({ value, set, ...rest }) => (
  <input type="time" value={value} onInput={(e) => set(e.currentTarget.value)} {...rest} />
);

export function WaitingList({ event, form, put, wrong }) {
  const since = event?.waiting_list.began_at;
  return (
    <section class="card" aria-labelledby="list-title">
      <h2 id="list-title">The waiting list</h2>
      <p class="soft">
        Once everything is sold, a ticket that comes back is offered to the first in line, by mail and push,
        and then to the next.
      </p>
      {since && <p class="notice">It began on {time(since)}.</p>}
      <div class="row">
        <Check label="Keep a waiting list after the event is sold out" value={form.list} set={put('list')} />
      </div>
      {form.list && (
        <div class="fields">
          <Field label="Time to choose (minutes)" wrong={wrong('waiting_list.claim_window_seconds')}>
            <Whole
              value={form.list_window}
              set={put('list_window')}
              min="0.02"
              max="10080"
              step="any"
              required
            />
          </Field>
          <Field
            label="Quiet from"
            wrong={wrong('waiting_list.quiet_from_minute')}
            hint="Nothing is offered then, and no time runs. Empty: never."
          >
            <Clock value={form.quiet_from} set={put('quiet_from')} />
          </Field>
          <Field label="Quiet until" wrong={wrong('waiting_list.quiet_until_minute')}>
            <Clock value={form.quiet_until} set={put('quiet_until')} />
          </Field>
        </div>
      )}
    </section>
  );
}

/** Whether an event's clocks show quiet hours at `now`. */
export function is_quiet({ waiting_list: w, time_zone }, now = new Date()) {
  const [from, until] = [w.quiet_from_minute, w.quiet_until_minute];
  if (from === null || from === until) return false;
  const minute = minute_of(zoned_input(now.toISOString(), time_zone).slice(11, 16));
  return from < until ? minute >= from && minute < until : minute >= from || minute < until;
}

/** Nothing without a waiting list. An offer is a session. */
export function ListState({ event, stats }) {
  const w = event.waiting_list;
  if (!w.enabled) return null;
  const [from, until] = [clock(w.quiet_from_minute), clock(w.quiet_until_minute)];
  const facts = [
    ['On the list', number(stats.waiting)],
    ['Open offers', number(stats.admitted)],
    ['Tickets that are back', `${number(stats.available)} free, ${number(stats.held)} held`],
    ['Time to choose', span(w.claim_window_seconds)],
    ['Quiet hours', from ? `${from} to ${until}` : 'none'],
  ];
  return (
    <section class="card" aria-labelledby="list-state">
      <h2 id="list-state">Waiting list</h2>
      <p>
        {w.began_at
          ? `Since ${time(w.began_at)}, tickets that come back are offered to the first in line.`
          : 'It begins once no ticket is left to sell or held. A ticket type that is switched off counts until its end of sale.'}
      </p>
      {w.began_at && is_quiet(event) && (
        <p class="notice">These are quiet hours: the next offers are made at {until}.</p>
      )}
      <dl class="facts">
        {(w.began_at ? facts : facts.slice(3)).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <p>
        <a href={`#/events/${event.id}/settings`}>Change its settings</a>
      </p>
    </section>
  );
}
