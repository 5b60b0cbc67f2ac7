// SPDX-License-Identifier: Apache-2.0
// Priority customers. The API takes addresses and returns ids, so the list shows no names.
import { useState } from 'preact/hooks';
import { del, get, post } from './api.mjs';
import { number } from './format.mjs';
import { Area, Field, Form, ProblemNote, tell, Text, use_action, use_loaded } from './parts.jsx';

const look_every_ms = 10_000;
const addresses_max = 1_000; // of one request
const ids_shown_max = 100;

/** Addresses of the text, separated by lines or commas. */
export const addresses_of = (text) => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map((address) => address.toLowerCase()),
  ),
];

export const too_many_of = (text) =>
  addresses_of(text).length > addresses_max && `At most ${number(addresses_max)} addresses at a time.`;

/** `problem`: of the last request. */
export function Addresses({ text, set, problem }) {
  const refused = problem?.fields && [...problem.fields].find(([field]) => field.startsWith('emails'))?.[1];
  return (
    <Field
      label="E-mail addresses"
      hint="One a line, or with commas between."
      wrong={too_many_of(text) || refused || undefined}
    >
      <Area rows={5} value={text} set={set} required spellcheck={false} />
    </Field>
  );
}

export function Priority({ event }) {
  const path = `/events/${event.id}/vips`;
  const { data, problem, refresh } = use_loaded((signal) => get(path, { signal }), path, look_every_ms);
  const [text, set_text] = useState('');
  const [reason, set_reason] = useState('');
  const action = use_action();
  const emails = addresses_of(text);
  const too_many = too_many_of(text);
  const change = async (send, done) => {
    let count;
    const body = { emails, ...(reason.trim() && { reason: reason.trim() }) };
    if (!(await action.run(async () => ({ count } = await send(path, body))))) return;
    set_text('');
    set_reason('');
    refresh();
    tell(`${number(count)} ${count === 1 ? 'customer is' : 'customers are'} ${done}.`);
  };
  const ids = data?.customer_ids ?? [];
  return (
    <section class="card" aria-labelledby="priority-title">
      <h2 id="priority-title">Priority customers</h2>
      <p>
        They are admitted and served before the rest, from the next time they join the line. A customer
        without an account yet gets one by that address.
      </p>
      <ProblemNote problem={problem} retry={refresh} />
      {data && (
        <p aria-live="polite">
          <b data-priority>{number(ids.length)}</b> {ids.length === 1 ? 'customer has' : 'customers have'}{' '}
          priority.
        </p>
      )}
      <Form send={() => change(post, 'served first')}>
        <Addresses text={text} set={set_text} problem={action.problem} />
        <Field label="Reason (optional, public in the log)">
          <Text value={reason} set={set_reason} maxLength={500} />
        </Field>
        <ProblemNote problem={action.problem} />
        <div class="row">
          <button type="submit" class="button" disabled={action.busy || Boolean(too_many)}>
            Serve them first
          </button>
          <button
            type="button"
            class="button plain"
            disabled={action.busy || emails.length === 0 || Boolean(too_many)}
            onClick={() => change(del, 'served like all others again')}
          >
            Serve them like all others
          </button>
        </div>
      </Form>
      {ids.length > 0 && (
        <details>
          <summary>Their ids</summary>
          <ul class="plain-list">
            {ids.slice(0, ids_shown_max).map((id) => (
              <li key={id} class="id">
                {id}
              </li>
            ))}
            {ids.length > ids_shown_max && <li>… and {number(ids.length - ids_shown_max)} more</li>}
          </ul>
        </details>
      )}
    </section>
  );
}
