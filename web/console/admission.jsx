// SPDX-License-Identifier: Apache-2.0
// How customers are admitted: changed while the sale runs, and admission by hand. For events and for
// standalone queues.
import { useState } from 'preact/hooks';
import { patch, post } from './api.mjs';
import { typed, untyped } from './format.mjs';
import { Choice, Field, Form, ProblemNote, tell, Text, use_action, Whole } from './parts.jsx';

const policies = [
  ['batch', 'Batch: a number at each interval'],
  ['capacity', 'Capacity: a number inside at a time'],
  ['rate', 'Rate: a number per minute'],
  ['operator', 'Operator: called by hand'],
  ['open', 'Open: no line, all admitted at once'],
];
/** Standalone queues have only two of them. */
export const policies_for = (kind) =>
  kind === 'queue' ? policies.filter(([key]) => key === 'capacity' || key === 'operator') : policies;

/** What a new entry must solve. */
export const challenges = [
  ['none', 'nothing'],
  ['proof_of_work', 'proof of work (no other service)'],
  ['turnstile', 'Cloudflare Turnstile'],
  ['hcaptcha', 'hCaptcha'],
];
export const challenge_hint =
  'Makes many places from one address expensive. A visitor without a script gets a link by mail.';

/** The admission of an event or queue as form values with common names. */
function form_of(kind, thing) {
  const q = kind === 'queue' ? thing : thing.queue;
  return {
    policy: kind === 'queue' ? q.mode : q.policy,
    concurrency: typed(q.concurrency),
    rate_per_minute: typed(q.rate_per_minute),
    batch_size: typed(q.batch_size),
    interval: q.admission_interval_ms === undefined ? '' : String(q.admission_interval_ms / 1000),
    factor: typed(q.over_admission_factor),
    message: thing.message ?? '',
  };
}

/** Only changed fields, so that changes by others meanwhile stay. */
function changes(kind, before, now) {
  const settings = {};
  const put = (field, value) =>
    field in now && before[field] !== now[field] && Object.assign(settings, value);
  put('policy', kind === 'queue' ? { mode: now.policy } : { policy: now.policy });
  put('concurrency', { concurrency: untyped(now.concurrency) });
  put('rate_per_minute', { rate_per_minute: untyped(now.rate_per_minute) });
  put('batch_size', { batch_size: untyped(now.batch_size) });
  put('interval', { admission_interval_ms: Math.round(Number(now.interval) * 1000) });
  put('factor', { over_admission_factor: untyped(now.factor) });
  const body = kind === 'queue' ? settings : Object.keys(settings).length > 0 ? { queue: settings } : {};
  if (before.message !== now.message) body.message = now.message;
  return body;
}

const wants = {
  batch: ['batch_size', 'interval', 'concurrency', 'factor'],
  capacity: ['concurrency', 'rate_per_minute', 'factor'],
  rate: ['rate_per_minute', 'concurrency', 'factor'],
  operator: ['concurrency', 'rate_per_minute', 'factor'],
  open: ['concurrency'],
};

export function Admission({ kind, path, thing, changed }) {
  const committed = form_of(kind, thing);
  const [edits, set_edits] = useState({});
  const action = use_action();
  const now = { ...committed, ...edits };
  const set = (name) => (value) => set_edits((before) => ({ ...before, [name]: value }));
  const body = changes(kind, committed, now);
  const is_changed = Object.keys(body).length > 0;
  const wrong = (name) => action.problem?.fields?.get(kind === 'queue' ? name : `queue.${name}`);
  const shows = (name) => wants[now.policy].includes(name) && (kind !== 'queue' || name !== 'factor');
  const send = async () => {
    if (!is_changed) return;
    const done = await action.run(async () => changed(await patch(path, body)));
    if (!done) return;
    set_edits({});
    tell('The change is in force.');
  };
  return (
    <section class="card" aria-labelledby="admission-title">
      <h2 id="admission-title">Admission</h2>
      <Form send={send}>
        <div class="fields">
          <Field label="Policy">
            <Choice value={now.policy} set={set('policy')} options={policies_for(kind)} />
          </Field>
          {shows('batch_size') && (
            <Field label="Batch size" wrong={wrong('batch_size')}>
              <Whole value={now.batch_size} set={set('batch_size')} min="1" max="10000" required />
            </Field>
          )}
          {shows('interval') && (
            <Field label="Every (seconds)" wrong={wrong('admission_interval_ms')}>
              <Whole value={now.interval} set={set('interval')} min="0.05" max="3600" step="any" required />
            </Field>
          )}
          {shows('rate_per_minute') && (
            <Field
              label="At most a minute"
              wrong={wrong('rate_per_minute')}
              hint={now.policy === 'rate' ? undefined : 'Empty: no limit.'}
            >
              <Whole
                value={now.rate_per_minute}
                set={set('rate_per_minute')}
                min="1"
                max="10000000"
                required={now.policy === 'rate'}
              />
            </Field>
          )}
          {shows('concurrency') && (
            <Field
              label={kind === 'queue' ? 'Inside at a time' : 'Shopping at a time'}
              wrong={wrong('concurrency')}
              hint={
                now.policy === 'capacity' ? 'A lower value removes no one who is inside.' : 'Empty: no limit.'
              }
            >
              <Whole
                value={now.concurrency}
                set={set('concurrency')}
                min="1"
                max="10000000"
                required={now.policy === 'capacity'}
              />
            </Field>
          )}
          {shows('factor') && (
            <Field
              label="Admissions per free ticket"
              wrong={wrong('over_admission_factor')}
              hint="More than 1 compensates for customers who do not buy."
            >
              <Whole
                value={now.factor}
                set={set('factor')}
                min="1"
                max="10"
                step="0.01"
                inputMode="decimal"
                required
              />
            </Field>
          )}
          <Field label="Message to all in line" wrong={action.problem?.fields?.get('message')} class="wide">
            <Text value={now.message} set={set('message')} maxLength={500} />
          </Field>
        </div>
        <ProblemNote problem={action.problem} />
        <div class="row">
          <button type="submit" class="button" disabled={action.busy || !is_changed}>
            Apply now
          </button>
          {is_changed && (
            <button type="button" class="button plain" onClick={() => set_edits({})}>
              Undo
            </button>
          )}
        </div>
      </Form>
    </section>
  );
}

export function CallNext({ kind, path, thing, done }) {
  const [count, set_count] = useState('10');
  const [{ admitted, asked }, set_called] = useState({ admitted: null, asked: 0 });
  const action = use_action();
  const policy = kind === 'queue' ? thing.mode : thing.queue.policy;
  const send = async () => {
    set_called({ admitted: null, asked: 0 });
    await action.run(async () => {
      const answer = await post(`${path}/advance`, { count: Number(count) });
      set_called({ admitted: answer.admitted, asked: Number(count) });
      tell(`${answer.admitted} of ${count} were admitted.`);
      done();
    });
  };
  return (
    <section class="card" aria-labelledby="call-title">
      <h2 id="call-title">Call next</h2>
      {policy !== 'operator' ? (
        <p class="soft">
          The policy “{policy}” admits customers. Under the policy “operator” you admit them here.
        </p>
      ) : (
        <Form send={send}>
          <div class="row bottom">
            <Field label="How many" class="short">
              <Whole value={count} set={set_count} min="1" max="1000" required />
            </Field>
            <button type="submit" class="button" disabled={action.busy}>
              Call next {count || '…'}
            </button>
          </div>
          {admitted !== null && (
            <p>
              {admitted} admitted.
              {admitted < asked && ' No one else waits, or there is no room or stock for more.'}
            </p>
          )}
          <ProblemNote problem={action.problem} />
        </Form>
      )}
    </section>
  );
}
