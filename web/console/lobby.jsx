// SPDX-License-Identifier: Apache-2.0
// The lobby of an event or queue: its settings in their form, and what has become of it, with the organizer's
// part in the draw.
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { post } from './api.mjs';
import { from_zoned_input, number, time, typed, untyped, zoned_input } from './format.mjs';
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

/** The checker of public logs knows how it signs, and takes no chained network for proven. */
const quicknet = '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971';

export const new_lobby = () => ({
  lobby_opens_at: '',
  draw: 'none',
  party_max: '6',
  beacon: 'none',
  chain_hash: quicknet,
  round: '',
  announced: '',
});
/** The beacon of an event; queues have its parts beside their other settings. */
const beacon_of = (thing) =>
  typeof thing.beacon === 'object'
    ? thing.beacon
    : {
        kind: thing.beacon,
        chain_hash: thing.beacon_chain_hash,
        round: thing.beacon_round,
        announced: thing.beacon_announced,
      };
/** `time_zone`: of the form's times. */
export function lobby_of(thing, time_zone) {
  const beacon = beacon_of(thing);
  return {
    lobby_opens_at: zoned_input(thing.lobby_opens_at, time_zone),
    draw: thing.draw,
    party_max: typed(thing.party_max),
    beacon: beacon.kind,
    chain_hash: beacon.chain_hash ?? quicknet,
    round: typed(beacon.round),
    announced: beacon.announced ?? '',
  };
}

// Fields that are not shown have no value.
const draw_in = (f) => (f.lobby_opens_at ? f.draw : 'none');
const beacon_in = (f) => (draw_in(f) === 'none' ? 'none' : f.beacon);
const source_in = (f, kind, value) => (beacon_in(f) === kind ? value : null);
const beacon_values = {
  kind: beacon_in,
  chain_hash: (f) => source_in(f, 'drand', f.chain_hash.trim() || null),
  round: (f) => source_in(f, 'drand', untyped(f.round)),
  announced: (f) => source_in(f, 'announced', f.announced.trim() || null),
};
const wire_of_beacon = (name_of) =>
  Object.fromEntries(
    Object.entries(beacon_values).map(([part, value]) => [part, (f) => ({ [name_of(part)]: value(f) })]),
  );
export const lobby_wire = {
  lobby_opens_at: (f) => ({ lobby_opens_at: from_zoned_input(f.lobby_opens_at, f.time_zone) }),
  draw: (f) => ({ draw: draw_in(f) }),
  party_max: (f) => ({ party_max: Number(f.party_max) }),
};
export const beacon_wire = wire_of_beacon((part) => part);
const flat = (part) => (part === 'kind' ? 'beacon' : `beacon_${part}`);
export const queue_lobby_wire = { ...lobby_wire, ...wire_of_beacon(flat) };

/** `thing`: the event or queue; without it, a new one. */
export function LobbyFields({ kind, thing, form, put, wrong }) {
  const wrong_beacon = (part) => wrong(kind === 'queue' ? flat(part) : `beacon.${part}`);
  const has_draw = draw_in(form) !== 'none';
  return (
    <section class="card" aria-labelledby="lobby-title">
      <h2 id="lobby-title">The lobby</h2>
      <p class="soft">People come before the line opens and have no place yet.</p>
      {thing?.lobby && <p class="notice">The lobby has opened: this no longer changes.</p>}
      <div class="fields">
        <Field label="Lobby opens" wrong={wrong('lobby_opens_at')} hint="Before the line. Empty: no lobby.">
          <When value={form.lobby_opens_at} set={put('lobby_opens_at')} />
        </Field>
        {form.lobby_opens_at && (
          <Field label="Order of the lobby" wrong={wrong('draw')}>
            <Choice value={form.draw} set={put('draw')} options={draws} />
          </Field>
        )}
        {has_draw && (
          <>
            <Field label="People in a party" wrong={wrong('party_max')} hint="1: no parties.">
              <Whole value={form.party_max} set={put('party_max')} min="1" max="20" required />
            </Field>
            <Field
              label="Public value in the draw"
              wrong={wrong_beacon('kind')}
              hint="Without one, people must trust you: you could add places until the order suits you."
            >
              <Choice value={form.beacon} set={put('beacon')} options={beacons} />
            </Field>
          </>
        )}
        {beacon_in(form) === 'announced' && (
          <Field
            label="What the value will be"
            wrong={wrong_beacon('announced')}
            hint="Something that is made public after the line opens, like a state lottery’s numbers of that day. Say how it is spelled, for example: in ascending order, with spaces."
            class="wide"
          >
            <Text value={form.announced} set={put('announced')} required maxLength={500} />
          </Field>
        )}
        {beacon_in(form) === 'drand' && (
          <>
            <Field
              label="Hash of the chain"
              wrong={wrong_beacon('chain_hash')}
              hint="That of drand’s quicknet. With a chained network, like drand’s default, the check says “not proven”."
            >
              <Text
                value={form.chain_hash}
                set={put('chain_hash')}
                required
                pattern="[0-9a-f]{64}"
                maxLength={64}
              />
            </Field>
            <Field
              label="Round"
              wrong={wrong_beacon('round')}
              hint="One that is due some minutes after the line opens. A round from before the closing proves nothing."
            >
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

function EnterValue({ path, announced, changed }) {
  const [value, set_value] = useState('');
  const action = use_action();
  const send = () =>
    action
      .run(async () => changed(await post(`${path}/draw/beacon`, { value: value.trim() })))
      .then((done) => done && tell('The order is drawn.'));
  return (
    <Form send={send}>
      <Field
        label={announced}
        hint="Letter by letter as it was made public, with one space between words and no accents. It cannot be changed."
      >
        <Text value={value} set={set_value} required maxLength={500} />
      </Field>
      <ProblemNote problem={action.problem} />
      <div class="row">
        <button type="submit" class="button" disabled={action.busy}>
          Draw
        </button>
      </div>
    </Form>
  );
}

/** Nothing without a lobby, and once a lobby without a draw is over. */
export function LobbyState({ path, thing, changed }) {
  const { lobby, draw } = thing;
  const beacon = beacon_of(thing);
  if (!lobby || (draw === 'none' && lobby.status !== 'OPEN')) return null;
  const waits_for_us = lobby.status === 'WAITS_FOR_BEACON' && beacon.kind === 'announced';
  return (
    <section class="card" aria-labelledby="lobby-state">
      <h2 id="lobby-state">Lobby</h2>
      <p>{words[lobby.status]}</p>
      <dl class="facts">
        <dt>{lobby.status === 'OPEN' ? 'People in it' : 'People at the opening'}</dt>
        <dd>{number(lobby.people)}</dd>
        {[
          ['Opened', lobby.opened_at],
          ['Closed', lobby.closed_at],
          ['Drawn', lobby.drawn_at],
        ]
          .filter(([, at]) => at)
          .map(([name, at]) => (
            <Fragment key={name}>
              <dt>{name}</dt>
              <dd>{time(at)}</dd>
            </Fragment>
          ))}
      </dl>
      {waits_for_us && <EnterValue path={path} announced={beacon.announced} changed={changed} />}
      {draw !== 'none' && (
        <details>
          <summary>What is public</summary>
          <dl class="facts">
            {[
              ['Hash of the seed', lobby.seed_commitment],
              ['Root of the entrants', lobby.root],
              ['Seed', lobby.seed],
              ['Public value', lobby.beacon_value],
            ]
              .filter(([, value]) => value)
              .map(([name, value]) => (
                <Fragment key={name}>
                  <dt>{name}</dt>
                  <dd class="id">{value}</dd>
                </Fragment>
              ))}
          </dl>
        </details>
      )}
    </section>
  );
}
