// SPDX-License-Identifier: Apache-2.0
// One event: its state, its actions and its views.
import { useState } from 'preact/hooks';
import { current_session, get, post, Problem } from './api.mjs';
import { AuditList } from './audit.jsx';
import { EventForm } from './event_form.jsx';
import { Checkin } from './checkin.jsx';
import { Invitations } from './guests.jsx';
import { EventLive } from './live.jsx';
import { OrderView, Orders } from './orders.jsx';
import { Badge, Confirm, Heading, NotYet, ProblemNote, tell, use_action, use_thing } from './parts.jsx';
import { People } from './people.jsx';
import { Picture } from './picture.jsx';
import { Priority } from './priority.jsx';
import { PromoCodes } from './promo_codes.jsx';
import { Report } from './report.jsx';
import { Seats } from './seats.jsx';

const look_every_ms = 5_000;

/** Actions by state; actions that cannot be undone ask for confirmation. */
const turns = {
  activate: { verb: 'Activate', from: ['DRAFT'], done: 'The sale is open.' },
  pause: { verb: 'Pause', from: ['ACTIVE'], done: 'Paused: no admissions; customers may still join.' },
  resume: { verb: 'Resume', from: ['PAUSED'], done: 'The sale continues.' },
  end: {
    verb: 'End',
    from: ['ACTIVE', 'PAUSED'],
    done: 'The sale has ended.',
    ask: 'No one can join or be admitted any more, and all in line are notified. Customers who are shopping may finish. This cannot be undone.',
  },
  cancel: {
    verb: 'Cancel',
    from: ['DRAFT', 'ACTIVE', 'PAUSED', 'ENDED'],
    done: 'The event is cancelled.',
    ask: 'The event does not take place: all who paid get their money back and a mail. This cannot be undone.',
  },
};

function Turns({ event, changed }) {
  const [asking, set_asking] = useState(null);
  const action = use_action();
  const turn = async (name, reason) =>
    changed(await post(`/events/${event.id}/${name}`, reason ? { reason } : {}));
  const start = (name) =>
    turns[name].ask
      ? set_asking(name)
      : action.run(() => turn(name)).then((done) => done && tell(turns[name].done));
  const possible = Object.keys(turns).filter((name) => turns[name].from.includes(event.status));
  return (
    <>
      <div class="row" role="group" aria-label="State of the sale">
        {possible.map((name) => (
          <button
            type="button"
            key={name}
            class={`button ${turns[name].ask ? 'plain' : ''} ${name === 'cancel' ? 'danger-text' : ''}`}
            disabled={action.busy}
            onClick={() => start(name)}
          >
            {turns[name].verb}
          </button>
        ))}
      </div>
      <ProblemNote problem={action.problem} />
      {asking && (
        <Confirm
          title={`${turns[asking].verb} “${event.name}”?`}
          what={turns[asking].ask}
          verb={`${turns[asking].verb} the ${asking === 'end' ? 'sale' : 'event'}`}
          danger
          work={(reason) => turn(asking, reason)}
          close={() => set_asking(null)}
          done={turns[asking].done}
        />
      )}
    </>
  );
}

const tabs = [
  ['', 'Live'],
  ['settings', 'Settings'],
  ['seats', 'Seats'],
  ['report', 'Report'],
  ['orders', 'Orders'],
  ['people', 'People'],
  ['check-in', 'Check-in'],
  ['promo-codes', 'Promo codes'],
  ['priority', 'Priority'],
  ['invitations', 'Invitations'],
  ['audit', 'Audit log'],
];

/** Links to the views; `root`: their base address. */
export function Tabs({ root, all, current, label }) {
  return (
    <nav class="tabs" aria-label={label}>
      {all.map(([name, text]) => (
        <a
          key={name}
          href={name ? `${root}/${name}` : root}
          aria-current={current === name ? 'page' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}

/** All clients can read an event on sale; this page shows only the organizer's own events. */
async function own_event(id, signal) {
  const event = await get(`/events/${id}`, { signal });
  if (event.organizer_id !== current_session()?.organizer_id) throw new Problem(404, { code: 'not_found' });
  return event;
}

export function EventPage({ id, view = '', rest }) {
  const {
    data: event,
    problem,
    refresh,
    changed,
  } = use_thing((signal) => own_event(id, signal), id, look_every_ms);
  if (!event) return <NotYet title="Event" problem={problem} retry={refresh} />;
  const title = event.name;
  const root = `#/events/${id}`;
  const label = tabs.find(([name]) => name === view)?.[1];
  return (
    <>
      <p class="crumbs">
        <a href="#/events">Events</a>
      </p>
      <div class="row apart">
        <Heading title={label ? `${label}: ${title}` : title}>
          {title} <Badge name={event.status} />
        </Heading>
        <Turns event={event} changed={changed} />
      </div>
      <Tabs root={root} all={tabs} current={view} label="Views of this event" />
      {view !== '' && <ProblemNote problem={problem} />}
      {view === '' && <EventLive event={event} changed={changed} />}
      {view === 'settings' && (
        <>
          <Picture event={event} changed={changed} />
          <EventForm key={id} event={event} changed={changed} />
        </>
      )}
      {view === 'seats' && <Seats event={event} />}
      {view === 'report' && <Report event={event} />}
      {view === 'orders' && (rest ? <OrderView event={event} id={rest} /> : <Orders event={event} />)}
      {view === 'people' && <People kind="event" thing={event} />}
      {view === 'check-in' && <Checkin event={event} />}
      {view === 'promo-codes' && <PromoCodes event={event} />}
      {view === 'priority' && <Priority event={event} />}
      {view === 'invitations' && <Invitations event={event} />}
      {view === 'audit' && <AuditList target={id} />}
    </>
  );
}
