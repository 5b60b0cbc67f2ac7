// SPDX-License-Identifier: Apache-2.0
// One standalone queue: state, views, settings; and the form for a new one.
import { useState } from 'preact/hooks';
import { changed_part, get, new_key, patch, post } from './api.mjs';
import { AuditList } from './audit.jsx';
import { challenge_hint, challenges, policies_for } from './admission.jsx';
import { Tabs } from './event.jsx';
import { from_local_input, local_input, typed, untyped, zone } from './format.mjs';
import { QueueLive } from './live.jsx';
import { lobby_of, LobbyFields, new_lobby, queue_lobby_wire } from './lobby.jsx';
import {
  Badge,
  Choice,
  Field,
  Form,
  Heading,
  NotYet,
  ProblemNote,
  tell,
  Text,
  use_action,
  use_thing,
  When,
  Whole,
} from './parts.jsx';
import { People } from './people.jsx';

const look_every_ms = 5_000;
const tabs = [
  ['', 'Live'],
  ['settings', 'Settings'],
  ['people', 'People'],
  ['audit', 'Audit log'],
];

function Turns({ queue, changed }) {
  const action = use_action();
  const turns = {
    ACTIVE: ['pause', 'Pause', 'Paused: no admissions.'],
    PAUSED: ['resume', 'Resume', 'The queue continues.'],
  }[queue.status];
  if (!turns) return null;
  const [name, verb, done] = turns;
  const turn = () =>
    action
      .run(async () => changed(await post(`/queues/${queue.id}/${name}`, {})))
      .then((ok) => ok && tell(done));
  return (
    <div class="row" role="group" aria-label="State of the queue">
      <button type="button" class="button" disabled={action.busy} onClick={turn}>
        {verb}
      </button>
      <ProblemNote problem={action.problem} />
    </div>
  );
}

const form_of = (q) => ({
  name: q.name,
  external_id: q.external_id ?? '',
  message: q.message,
  mode: q.mode,
  opens_at: local_input(q.opens_at),
  concurrency: typed(q.concurrency),
  rate_per_minute: typed(q.rate_per_minute),
  capacity: typed(q.capacity),
  challenge: q.challenge,
  session_ttl: String(q.session_ttl_seconds / 60),
  ticket_ttl: String(q.ticket_ttl_seconds / 60),
  presence_timeout: typed(q.presence_timeout_seconds),
  locks_per_session: typed(q.locks_per_session),
  time_zone: zone,
  ...lobby_of(q, zone),
});
const empty_form = {
  ...form_of({
    name: '',
    message: '',
    mode: 'capacity',
    concurrency: 100,
    challenge: 'none',
    session_ttl_seconds: 1200,
    ticket_ttl_seconds: 1800,
    presence_timeout_seconds: 0,
    locks_per_session: 0,
  }),
  ...new_lobby(),
};
const wire = {
  name: (f) => ({ name: f.name.trim() }),
  external_id: (f) => (f.external_id.trim() ? { external_id: f.external_id.trim() } : {}),
  message: (f) => ({ message: f.message }),
  mode: (f) => ({ mode: f.mode }),
  opens_at: (f) => (f.opens_at ? { opens_at: from_local_input(f.opens_at) } : {}),
  concurrency: (f) => ({ concurrency: untyped(f.concurrency) }),
  rate_per_minute: (f) => ({ rate_per_minute: untyped(f.rate_per_minute) }),
  capacity: (f) => ({ capacity: untyped(f.capacity) }),
  challenge: (f) => ({ challenge: f.challenge }),
  session_ttl: (f) => ({ session_ttl_seconds: Math.round(Number(f.session_ttl) * 60) }),
  ticket_ttl: (f) => ({ ticket_ttl_seconds: Math.round(Number(f.ticket_ttl) * 60) }),
  presence_timeout: (f) => ({ presence_timeout_seconds: Number(f.presence_timeout) }),
  locks_per_session: (f) => ({ locks_per_session: Number(f.locks_per_session) }),
  ...queue_lobby_wire,
};

function QueueForm({ queue, changed }) {
  const [before, set_before] = useState(() => (queue ? form_of(queue) : null));
  const [form, set_form] = useState(() => before ?? empty_form);
  const [key] = useState(new_key);
  const action = use_action();
  const put = (name) => (value) => set_form((now) => ({ ...now, [name]: value }));
  const body = changed_part(wire, before, form);
  const wrong = (name) => action.problem?.fields?.get(name);
  const is_changed = Object.keys(body).length > 0;
  const send = () =>
    action.run(async () => {
      if (!queue) {
        const made = await post('/queues', body, { key });
        tell(`“${made.name}” is made and open.`);
        location.hash = `#/queues/${made.id}`;
        return;
      }
      const saved = await patch(`/queues/${queue.id}`, body);
      changed(saved);
      set_before(form_of(saved));
      set_form(form_of(saved));
      tell('Saved.');
    });
  return (
    <Form send={send} class="stack">
      <section class="card" aria-label="The queue">
        <div class="fields">
          <Field label="Name" wrong={wrong('name')} class="wide">
            <Text value={form.name} set={put('name')} required maxLength={200} />
          </Field>
          {!queue && (
            <Field
              label="External id"
              wrong={wrong('external_id')}
              hint="Your own name for it; unique. Optional."
            >
              <Text value={form.external_id} set={put('external_id')} maxLength={200} />
            </Field>
          )}
          <Field label="Policy" wrong={wrong('mode')}>
            <Choice value={form.mode} set={put('mode')} options={policies_for('queue')} />
          </Field>
          <Field
            label="Inside at a time"
            wrong={wrong('concurrency')}
            hint={form.mode === 'capacity' ? undefined : 'Empty: no limit.'}
          >
            <Whole
              value={form.concurrency}
              set={put('concurrency')}
              min="1"
              max="10000000"
              required={form.mode === 'capacity'}
            />
          </Field>
          <Field label="At most a minute" wrong={wrong('rate_per_minute')} hint="Empty: no limit.">
            <Whole value={form.rate_per_minute} set={put('rate_per_minute')} min="1" max="10000000" />
          </Field>
          <Field label="Places in line at most" wrong={wrong('capacity')} hint="Empty: no limit.">
            <Whole value={form.capacity} set={put('capacity')} min="1" max="10000000" />
          </Field>
          <Field label="Before joining, solve" wrong={wrong('challenge')} hint={challenge_hint}>
            <Choice value={form.challenge} set={put('challenge')} options={challenges} />
          </Field>
          <Field label="Session (minutes)" wrong={wrong('session_ttl_seconds')}>
            <Whole
              value={form.session_ttl}
              set={put('session_ttl')}
              min="0.01"
              max="1440"
              step="any"
              required
            />
          </Field>
          <Field label="A place waits (minutes)" wrong={wrong('ticket_ttl_seconds')} hint="0: for ever.">
            <Whole value={form.ticket_ttl} set={put('ticket_ttl')} min="0" max="10080" step="any" required />
          </Field>
          <Field
            label="Away after (seconds)"
            wrong={wrong('presence_timeout_seconds')}
            hint="Visitors away for longer are skipped; 0: never, otherwise at least 20."
          >
            <Whole value={form.presence_timeout} set={put('presence_timeout')} min="0" max="86400" required />
          </Field>
          <Field
            label="Locks a session"
            wrong={wrong('locks_per_session')}
            hint="Names, for example of seats, that your shop may lock for a visitor; 0: none."
          >
            <Whole value={form.locks_per_session} set={put('locks_per_session')} min="0" max="20" required />
          </Field>
          <Field
            label="Opens"
            wrong={wrong('opens_at')}
            hint={`In your time zone, ${zone}.${queue ? '' : ' Empty: now.'}`}
          >
            <When value={form.opens_at} set={put('opens_at')} />
          </Field>
          <Field label="Message to all in line" wrong={wrong('message')} class="wide">
            <Text value={form.message} set={put('message')} maxLength={500} />
          </Field>
        </div>
      </section>
      <LobbyFields kind="queue" thing={queue} form={form} put={put} wrong={wrong} />
      <ProblemNote problem={action.problem} />
      <div class="row">
        <button type="submit" class="button" disabled={action.busy || !is_changed}>
          {queue ? 'Save' : 'Make the queue'}
        </button>
      </div>
    </Form>
  );
}

export function NewQueue() {
  return (
    <>
      <p class="crumbs">
        <a href="#/queues">Queues</a>
      </p>
      <Heading title="New queue" />
      <QueueForm />
    </>
  );
}

export function QueuePage({ id, view = '' }) {
  const {
    data: queue,
    problem,
    refresh,
    changed,
  } = use_thing((signal) => get(`/queues/${id}`, { signal }), id, look_every_ms);
  if (!queue) return <NotYet title="Queue" problem={problem} retry={refresh} />;
  const title = queue.name;
  const label = tabs.find(([name]) => name === view)?.[1];
  return (
    <>
      <p class="crumbs">
        <a href="#/queues">Queues</a>
      </p>
      <div class="row apart">
        <Heading title={label ? `${label}: ${title}` : title}>
          {title} <Badge name={queue.status} />
        </Heading>
        <Turns queue={queue} changed={changed} />
      </div>
      <Tabs root={`#/queues/${id}`} all={tabs} current={view} label="Views of this queue" />
      {view !== '' && <ProblemNote problem={problem} />}
      {view === '' && <QueueLive queue={queue} changed={changed} />}
      {view === 'settings' && <QueueForm key={id} queue={queue} changed={changed} />}
      {view === 'people' && <People kind="queue" thing={queue} />}
      {view === 'audit' && <AuditList target={id} />}
    </>
  );
}
