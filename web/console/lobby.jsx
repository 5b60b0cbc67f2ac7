// SPDX-License-Identifier: Apache-2.0
// The lobby of an event: its settings in the event's form, and what has become of it, with the organizer's
// part in the draw.
import { useState } from 'preact/hooks';
import { post } from './api.mjs';
import { from_zoned_input, untyped, zoned_input } from './format.mjs';
import { Choice, Field, Form, ProblemNote, tell, Text, use_action, When, Whole } from './parts.jsx';

const draws = [
  ['none', 'No: first come, first served'],
  ['at_opening', 'At random, when the line opens'],
];
const beacons = [
  ['none', 'None'],
  ['announced', 'A value announced in advance'],
  ['drand', 'A round of drand'],
];

export const new_lobby = () => ({
  lobby_opens_at: '',
  draw: 'none',
  party_max: '6',
  beacon: 'none',
  chain_hash: '',
  round: '',
  announced: '',
});
export const lobby_of = (event) => ({
  lobby_opens_at: zoned_input(event.lobby_opens_at, event.time_zone),
  draw: event.draw,
  party_max: String(event.party_max),
  beacon: event.beacon.kind,
  chain_hash: event.beacon.chain_hash ?? '',
  round: event.beacon.round === null ? '' : String(event.beacon.round),
  announced: event.beacon.announced ?? '',
});
export const lobby_wire = {
  lobby_opens_at: (f) => ({ lobby_opens_at: from_zoned_input(f.lobby_opens_at, f.time_zone) }),
  draw: (f) => ({ draw: f.draw }),
  party_max: (f) => ({ party_max: Number(f.party_max) }),
};
export const beacon_wire = {
  beacon: (f) => ({ kind: f.beacon }),
  chain_hash: (f) => ({ chain_hash: f.chain_hash.trim() || null }),
  round: (f) => ({ round: untyped(f.round) }),
  announced: (f) => ({ announced: f.announced.trim() || null }),
};

export function LobbyFields({ event, form, put, wrong }) {
  return (
    <section class="card" aria-labelledby="lobby-title">
      <h2 id="lobby-title">The lobby</h2>
      <p class="soft">People come before the line opens and have no place yet.</p>
      {event?.lobby && <p class="notice">The lobby has opened: this no longer changes.</p>}
      <div class="fields">
        <Field label="Lobby opens" wrong={wrong('lobby_opens_at')} hint="Before the line. Empty: no lobby.">
          <When value={form.lobby_opens_at} set={put('lobby_opens_at')} />
        </Field>
        {form.lobby_opens_at && (
          <Field label="Order of the lobby" wrong={wrong('draw')}>
            <Choice value={form.draw} set={put('draw')} options={draws} />
          </Field>
        )}
        {form.lobby_opens_at && form.draw !== 'none' && (
          <>
            <Field label="People in a party" wrong={wrong('party_max')} hint="1: no parties.">
              <Whole value={form.party_max} set={put('party_max')} min="1" max="20" required />
            </Field>
            <Field
              label="Public value in the draw"
              wrong={wrong('beacon.kind')}
              hint="Without one, people must trust you: you could add places until the order suits you."
            >
              <Choice value={form.beacon} set={put('beacon')} options={beacons} />
            </Field>
          </>
        )}
        {form.beacon === 'announced' && (
          <Field
            label="What the value will be"
            wrong={wrong('beacon.announced')}
            hint="Something that is made public after the line opens, like a state lottery’s numbers of that day."
            class="wide"
          >
            <Text value={form.announced} set={put('announced')} required maxLength={500} />
          </Field>
        )}
        {form.beacon === 'drand' && (
          <>
            <Field label="Hash of the chain" wrong={wrong('beacon.chain_hash')}>
              <Text
                value={form.chain_hash}
                set={put('chain_hash')}
                required
                pattern="[0-9a-f]{64}"
                maxLength={64}
              />
            </Field>
            <Field label="Round" wrong={wrong('beacon.round')} hint="The first one after the line opens.">
              <Whole value={form.round} set={put('round')} min="1" max="1000000000000" required />
            </Field>
          </>
        )}
      </div>
    </section>
  );
}

const words = {
  OPEN: 'The lobby is open.',
  CLOSED: 'The line has opened; the order is being drawn.',
  WAITS_FOR_BEACON: 'The draw waits for its public value.',
  DRAWN: 'The order is drawn.',
};

function EnterValue({ event, changed }) {
  const [value, set_value] = useState('');
  const action = use_action();
  const send = () =>
    action
      .run(async () => changed(await post(`/events/${event.id}/draw/beacon`, { value: value.trim() })))
      .then((done) => done && tell('The order is drawn.'));
  return (
    <Form send={send}>
      <Field label={event.beacon.announced} hint="As it was made public. It cannot be changed.">
        <Text value={value} set={set_value} required maxLength={500} />
      </Field>
      <ProblemNote problem={action.problem} />
      <button type="submit" class="button" disabled={action.busy}>
        Draw
      </button>
    </Form>
  );
}

/** Nothing without a lobby, and once a lobby without a draw is over. */
export function LobbyState({ event, changed }) {
  const { lobby, draw, beacon } = event;
  if (!lobby || (draw === 'none' && lobby.status !== 'OPEN')) return null;
  const waits_for_us = lobby.status === 'WAITS_FOR_BEACON' && beacon.kind === 'announced';
  return (
    <section class="card" aria-labelledby="lobby-state">
      <h2 id="lobby-state">Lobby</h2>
      <p>{words[lobby.status]}</p>
      <p class="figure">{lobby.people.toLocaleString()}</p>
      <p class="soft">people {lobby.status === 'OPEN' ? 'are there' : 'were there at the opening'}</p>
      {waits_for_us && <EnterValue event={event} changed={changed} />}
      {draw !== 'none' && (
        <details>
          <summary>What is public</summary>
          <dl>
            {[
              ['Hash of the seed', lobby.seed_commitment],
              ['Root of the entrants', lobby.root],
              ['Seed', lobby.seed],
              ['Public value', lobby.beacon_value],
            ]
              .filter(([, value]) => value)
              .map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd class="code">{value}</dd>
                </div>
              ))}
          </dl>
        </details>
      )}
    </section>
  );
}
