// SPDX-License-Identifier: Apache-2.0
// One place in a line, found by its number or its holder; revocation of sessions.
import { useState } from 'preact/hooks';
import { post } from './api.mjs';
import { number, time } from './format.mjs';
import { Badge, Confirm, Field, Form, ProblemNote, Text, use_action } from './parts.jsx';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Names of a place in the two APIs, and its other search key. */
const of_kind = {
  event: { root: 'events', id: 'entry_id', label: 'E-mail address or entry id', whose: 'email' },
  queue: { root: 'queues', id: 'ticket_id', label: 'Ticket id' },
};

function Place({ place, id }) {
  return (
    <dl class="facts" data-place={place[id]}>
      <dt>Number in line</dt>
      <dd>{number(place.queue_number)}</dd>
      <dt>State</dt>
      <dd>
        <Badge name={place.status} />
      </dd>
      <dt>Ahead</dt>
      <dd>{number(place.ahead)}</dd>
      <dt>Joined</dt>
      <dd>{time(place.joined_at)}</dd>
      <dt>Admission</dt>
      <dd>{time(place.admitted_at)}</dd>
      <dt>Session ends</dt>
      <dd>{time(place.session_expires_at)}</dd>
      <dt>Id</dt>
      <dd class="id">{place[id]}</dd>
    </dl>
  );
}

const is_live = (place) => ['WAITING', 'AWAY', 'ADMITTED'].includes(place.status);

export function People({ kind, thing }) {
  const say = of_kind[kind];
  const path = `/${say.root}/${thing.id}`;
  const [typed, set_typed] = useState('');
  const [subject, set_subject] = useState('');
  const [place, set_place] = useState(null);
  const [asking, set_asking] = useState(null); // {title, what, verb, wish}
  const action = use_action();
  const wish_of = (text) =>
    say.whose && !uuid.test(text) ? { [say.whose]: text } : { [say.id]: text.toLowerCase() };
  const find = () => {
    set_place(null);
    return action.run(async () => set_place(await post(`${path}/places/search`, wish_of(typed.trim()))));
  };
  const revoke = async (wish, reason) => {
    await post(`${path}/revocations`, { ...wish, ...(reason && { reason }) });
    if (place) set_place(await post(`${path}/places/search`, { [say.id]: place[say.id] }));
  };
  const still_payable =
    kind === 'event' ? ' Tickets that are held already can still be paid until their time is over.' : '';
  const ask_one = () =>
    set_asking({
      title: 'Revoke this place?',
      what: `The holder loses it at once.${still_payable}`,
      verb: 'Revoke',
      wish: { [say.id]: place[say.id] },
    });
  const ask_subject = () =>
    set_asking({
      title: `Revoke “${subject.trim()}”?`,
      what: 'The holder of this subject loses the place at once.',
      verb: 'Revoke',
      wish: { subject: subject.trim() },
    });
  const ask_all = () =>
    set_asking({
      title: 'Revoke all sessions?',
      what: `All admitted customers lose their session at once, at most 20,000 at a time. Waiting customers keep their place.${still_payable}`,
      verb: 'Revoke all',
      wish: { all: true },
    });
  return (
    <section class="card" aria-labelledby="people-title">
      <h2 id="people-title">Find a customer in line</h2>
      <Form send={find} role="search">
        <div class="row bottom">
          <Field
            label={say.label}
            wrong={action.problem?.fields?.get(say.id) ?? action.problem?.fields?.get(say.whose)}
          >
            <Text value={typed} set={set_typed} required maxLength={254} type="search" />
          </Field>
          <button type="submit" class="button" disabled={action.busy}>
            Find
          </button>
        </div>
      </Form>
      {action.problem?.code === 'not_in_queue' ? (
        <p role="alert">No one with this address has a place in this line.</p>
      ) : (
        <ProblemNote problem={action.problem} />
      )}
      <div aria-live="polite">{place && <Place place={place} id={say.id} />}</div>
      {place && is_live(place) && (
        <button type="button" class="button danger" onClick={ask_one}>
          {place.status === 'ADMITTED' ? 'Revoke the session…' : 'Take the place away…'}
        </button>
      )}
      {kind === 'queue' && (
        <>
          <h2 class="later">By subject</h2>
          <Form send={ask_subject}>
            <div class="row bottom">
              <Field label="Subject" hint="The name that your backend gives to the visitor.">
                <Text value={subject} set={set_subject} required maxLength={128} />
              </Field>
              <button type="submit" class="button plain danger-text">
                Revoke…
              </button>
            </div>
          </Form>
        </>
      )}
      <h2 class="later">All customers</h2>
      <button type="button" class="button plain danger-text" onClick={ask_all}>
        Revoke all sessions…
      </button>
      {asking && (
        <Confirm
          title={asking.title}
          what={asking.what}
          verb={asking.verb}
          danger
          work={(reason) => revoke(asking.wish, reason)}
          close={() => set_asking(null)}
          done="Revoked."
        />
      )}
    </section>
  );
}
