// SPDX-License-Identifier: Apache-2.0
// The promo codes of an event: effect and number of uses; create, change, end. People type money with
// decimals.
import { useState } from 'preact/hooks';
import { del, get, patch, post } from './api.mjs';
import {
  amount_text,
  from_local_input,
  local_input,
  money,
  number,
  parse_amount,
  time,
  typed,
  untyped,
  zone,
} from './format.mjs';
import {
  Badge,
  Check,
  Choice,
  Confirm,
  Dialog,
  Field,
  Form,
  ProblemNote,
  Table,
  tell,
  Text,
  use_action,
  use_loaded,
  When,
  Whole,
} from './parts.jsx';

const look_every_ms = 5_000;
const kinds = [
  ['percent', 'Percent off'],
  ['amount', 'Amount off each ticket'],
  ['none', 'Nothing off (it opens hidden tickets)'],
];

const form_of = (code, currency) => ({
  code: code?.code ?? '',
  kind: code?.discount.type ?? 'percent',
  percent: typed(code?.discount.percent),
  amount: code?.discount.amount ? amount_text(code.discount.amount, currency) : '',
  types: code?.ticket_type_ids ?? [],
  valid_from: local_input(code?.valid_from),
  valid_until: local_input(code?.valid_until),
  uses_max: typed(code?.uses_max),
  uses_per_customer: typed(code?.uses_per_customer),
  is_active: code?.is_active ?? true,
});

function discount_of(form, currency) {
  if (form.kind === 'percent') return { type: 'percent', percent: Number(form.percent) };
  return form.kind === 'amount'
    ? { type: 'amount', amount: parse_amount(form.amount, currency) }
    : { type: 'none' };
}

/** Request value of each field. The API wants covered tickets together with the discount. */
const wire = {
  code: (f) => f.code.trim(),
  discount: (f, currency) => discount_of(f, currency),
  ticket_type_ids: (f) => f.types,
  valid_from: (f) => from_local_input(f.valid_from),
  valid_until: (f) => from_local_input(f.valid_until),
  uses_max: (f) => untyped(f.uses_max),
  uses_per_customer: (f) => untyped(f.uses_per_customer),
  is_active: (f) => f.is_active,
};

/** Only fields that differ from `before`; all fields of a new code. */
function body_of(before, form, currency) {
  const all = Object.fromEntries(Object.entries(wire).map(([name, out]) => [name, out(form, currency)]));
  if (!before) return all;
  const was = Object.fromEntries(Object.entries(wire).map(([name, out]) => [name, out(before, currency)]));
  const changed = Object.keys(all).filter((name) => JSON.stringify(all[name]) !== JSON.stringify(was[name]));
  if (changed.includes('ticket_type_ids') && !changed.includes('discount')) changed.push('discount');
  if (changed.includes('discount') && !changed.includes('ticket_type_ids')) changed.push('ticket_type_ids');
  return Object.fromEntries(changed.map((name) => [name, all[name]]));
}

/** `code`: the one to change; null: a new one. */
function CodeForm({ event, code, close, done }) {
  const [before] = useState(() => (code ? form_of(code, event.currency) : null));
  const [form, set_form] = useState(() => before ?? form_of(null, event.currency));
  const [reason, set_reason] = useState('');
  const action = use_action();
  const put = (name) => (value) => set_form((now) => ({ ...now, [name]: value }));
  const cover = (id) => (is_covered) =>
    put('types')(is_covered ? [...form.types, id] : form.types.filter((other) => other !== id));
  const body = body_of(before, form, event.currency);
  const amount_is_wrong =
    form.kind === 'amount' && form.amount !== '' && parse_amount(form.amount, event.currency) === null;
  const wrong = (name) => action.problem?.fields?.get(name);
  const path = `/events/${event.id}/promo-codes`;
  const send = async () => {
    const wish = { ...body, ...(reason.trim() && { reason: reason.trim() }) };
    if (!(await action.run(() => (code ? patch(`${path}/${code.id}`, wish) : post(path, wish))))) return;
    close();
    done();
    tell(code ? 'Saved.' : `${body.code.toUpperCase()} can be used.`);
  };
  return (
    <Dialog title={code ? `Change ${code.code}` : 'New promo code'} close={close}>
      <Form send={send}>
        <div class="fields">
          <Field
            label="Code"
            hint="Letters, digits, - and _. Small letters count as capitals."
            wrong={wrong('code')}
          >
            <Text
              value={form.code}
              set={put('code')}
              required
              maxLength={40}
              pattern="[A-Za-z0-9_\-]+"
              autoComplete="off"
            />
          </Field>
          <Field label="What it gives" wrong={wrong('discount.type')}>
            <Choice value={form.kind} set={put('kind')} options={kinds} />
          </Field>
          {form.kind === 'percent' && (
            <Field label="Percent" wrong={wrong('discount.percent')}>
              <Whole
                value={form.percent}
                set={put('percent')}
                min="0.01"
                max="100"
                step="0.01"
                inputMode="decimal"
                required
              />
            </Field>
          )}
          {form.kind === 'amount' && (
            <Field
              label={`Off each ticket (${event.currency})`}
              wrong={
                amount_is_wrong
                  ? `Write it like ${amount_text(1500, event.currency)}.`
                  : wrong('discount.amount')
              }
            >
              <Text value={form.amount} set={put('amount')} required inputMode="decimal" />
            </Field>
          )}
        </div>
        <fieldset class="plain">
          <legend>Tickets it applies to (none: all that are not hidden)</legend>
          {event.ticket_types.map((type) => (
            <Check
              key={type.id}
              label={type.hidden ? `${type.name} (hidden)` : type.name}
              value={form.types.includes(type.id)}
              set={cover(type.id)}
            />
          ))}
        </fieldset>
        <div class="fields">
          <Field
            label="Valid from"
            hint={`In your time zone, ${zone}. Empty: at once.`}
            wrong={wrong('valid_from')}
            class="wide"
          >
            <When value={form.valid_from} set={put('valid_from')} />
          </Field>
          <Field
            label="Valid until"
            hint="Empty: as long as the sale."
            wrong={wrong('valid_until')}
            class="wide"
          >
            <When value={form.valid_until} set={put('valid_until')} />
          </Field>
          <Field label="Orders at most" hint="Empty: no limit." wrong={wrong('uses_max')}>
            <Whole value={form.uses_max} set={put('uses_max')} min="1" max="100000000" />
          </Field>
          <Field
            label="Orders of one customer at most"
            hint="Empty: no limit."
            wrong={wrong('uses_per_customer')}
          >
            <Whole value={form.uses_per_customer} set={put('uses_per_customer')} min="1" max="100000000" />
          </Field>
        </div>
        {code && <Check label="It can be used" value={form.is_active} set={put('is_active')} />}
        <Field label="Reason (optional, public in the log)">
          <Text value={reason} set={set_reason} maxLength={500} />
        </Field>
        <ProblemNote problem={action.problem} />
        <div class="row end">
          <button type="button" class="button plain" onClick={close}>
            Not now
          </button>
          <button
            type="submit"
            class="button"
            disabled={action.busy || amount_is_wrong || Object.keys(body).length === 0}
          >
            {code ? 'Save' : 'Make the code'}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

function discount_text({ type, percent, amount }, currency) {
  if (type === 'percent') return `${percent} %`;
  return type === 'amount' ? `${money(amount, currency)} a ticket` : 'nothing off';
}

function validity_text({ valid_from, valid_until }) {
  if (!valid_from && !valid_until) return 'always';
  return [valid_from && `from ${time(valid_from)}`, valid_until && `until ${time(valid_until)}`]
    .filter(Boolean)
    .join(' ');
}

export function PromoCodes({ event }) {
  const path = `/events/${event.id}/promo-codes`;
  const { data, problem, refresh } = use_loaded((signal) => get(path, { signal }), path, look_every_ms);
  const [editing, set_editing] = useState(undefined); // null: a new one
  const [ending, set_ending] = useState(null);
  const name_of = (id) => event.ticket_types.find((type) => type.id === id)?.name ?? id;
  return (
    <section class="card" aria-labelledby="promo-title">
      <div class="row apart">
        <h2 id="promo-title">Promo codes</h2>
        <button type="button" class="button" onClick={() => set_editing(null)}>
          New promo code
        </button>
      </div>
      <ProblemNote problem={problem} retry={refresh} />
      {!data && !problem && <p class="soft">Loading…</p>}
      {data?.items.length === 0 && <p class="soft">No promo codes yet.</p>}
      {data?.items.length > 0 && (
        <Table
          label="Promo codes"
          rows={data.items}
          key_of={(code) => code.id}
          columns={[
            ['Code', (code) => <b>{code.code}</b>],
            ['Gives', (code) => discount_text(code.discount, event.currency)],
            [
              'Covers',
              (code) => code.ticket_type_ids.map(name_of).join(', ') || 'all that are not hidden',
              { wide: true },
            ],
            ['Valid', validity_text, { wide: true }],
            [
              'Orders',
              (code) =>
                code.uses_max === null
                  ? number(code.uses)
                  : `${number(code.uses)} of ${number(code.uses_max)}`,
              { number: true },
            ],
            ['Of one customer', (code) => number(code.uses_per_customer), { number: true, wide: true }],
            ['State', (code) => <Badge name={code.is_active ? 'ACTIVE' : 'ENDED'} />],
            [
              'What to do',
              (code) => (
                <div class="row tight">
                  <button
                    type="button"
                    class="quiet-button"
                    aria-label={`Change ${code.code}`}
                    onClick={() => set_editing(code)}
                  >
                    Change
                  </button>
                  {code.is_active && (
                    <button
                      type="button"
                      class="quiet-button"
                      aria-label={`End ${code.code}`}
                      onClick={() => set_ending(code)}
                    >
                      End
                    </button>
                  )}
                </div>
              ),
            ],
          ]}
        />
      )}
      {editing !== undefined && (
        <CodeForm event={event} code={editing} close={() => set_editing(undefined)} done={refresh} />
      )}
      {ending && (
        <Confirm
          title={`End ${ending.code}?`}
          what="No one can use it any more. Orders that used it keep its discount. It can be switched on again."
          verb="End the code"
          danger
          work={async (reason) => {
            await del(`${path}/${ending.id}`, reason ? { reason } : {});
            refresh();
          }}
          close={() => set_ending(null)}
          done={`${ending.code} has ended.`}
        />
      )}
    </section>
  );
}
