// SPDX-License-Identifier: Apache-2.0
// Invited customers of a quota, and blocked customers of the organizer. The API takes addresses and returns
// ids, so the lists show no names.
import { useState } from 'preact/hooks';
import { del, get, post } from './api.mjs';
import { from_local_input, number, time, zone } from './format.mjs';
import {
  Check,
  Choice,
  Confirm,
  Field,
  Form,
  Heading,
  Listing,
  ProblemNote,
  Table,
  tell,
  Text,
  use_action,
  use_pages,
  When,
  Whole,
} from './parts.jsx';
import { Addresses, addresses_of, too_many_of } from './priority.jsx';

const customers = (count) => `${number(count)} ${count === 1 ? 'customer' : 'customers'}`;

/** `{emails, reason, …}` in the form of the API. */
const body_of = (text, reason, rest = {}) => ({
  emails: addresses_of(text),
  ...rest,
  ...(reason.trim() && { reason: reason.trim() }),
});

export function Invitations({ event }) {
  const path = `/events/${event.id}/invitations`;
  const quotas = event.ticket_types.filter(({ hidden }) => hidden);
  const pages = use_pages((cursor) => get(`${path}${cursor ? `?cursor=${cursor}` : ''}`), path);
  const [form, set_form] = useState({ text: '', reason: '', type: quotas[0]?.id, quantity: '1', until: '' });
  const action = use_action();
  const put = (name) => (value) => set_form((now) => ({ ...now, [name]: value }));
  const wrong = (name) => action.problem?.fields?.get(name);
  const count = addresses_of(form.text).length;
  const finish = (text) => {
    set_form((now) => ({ ...now, text: '', reason: '' }));
    pages.refresh();
    tell(text);
  };
  const invite = async () => {
    let done;
    const wish = {
      ticket_type_id: form.type,
      quantity: Number(form.quantity),
      valid_until: from_local_input(form.until),
    };
    if (!(await action.run(async () => (done = await post(path, body_of(form.text, form.reason, wish))))))
      return;
    finish(`${customers(done.count)} invited; customers notified within a day get no second mail.`);
  };
  const withdraw = async () => {
    let done;
    if (!(await action.run(async () => (done = await del(path, body_of(form.text, form.reason)))))) return;
    finish(`${number(done.count)} ${done.count === 1 ? 'invitation' : 'invitations'} withdrawn.`);
  };
  return (
    <section class="card" aria-labelledby="invitations-title">
      <h2 id="invitations-title">Invitations</h2>
      <p>
        A hidden ticket type is a quota: invited customers see it after the sign-in and buy from it without a
        promo code. An invitation promises no more than the quota has.
      </p>
      {quotas.length === 0 ? (
        <p>This event has no hidden ticket type yet. Make one under Settings.</p>
      ) : (
        <Form send={invite}>
          <Addresses text={form.text} set={put('text')} problem={action.problem} />
          <div class="fields">
            <Field label="Quota" wrong={wrong('ticket_type_id')}>
              <Choice
                value={form.type}
                set={put('type')}
                options={quotas.map(({ id, name }) => [id, name])}
              />
            </Field>
            <Field label="Tickets each" wrong={wrong('quantity')}>
              <Whole value={form.quantity} set={put('quantity')} min="1" max="100" required />
            </Field>
            <Field
              label="Valid until"
              hint={`In your time zone, ${zone}. Empty: as long as it is sold.`}
              wrong={wrong('valid_until')}
              class="wide"
            >
              <When value={form.until} set={put('until')} />
            </Field>
          </div>
          <Field label="Reason (optional, public in the log)">
            <Text value={form.reason} set={put('reason')} maxLength={500} />
          </Field>
          <ProblemNote problem={action.problem} />
          <div class="row">
            <button type="submit" class="button" disabled={action.busy || Boolean(too_many_of(form.text))}>
              Invite
            </button>
            <button
              type="button"
              class="button plain"
              disabled={action.busy || count === 0 || Boolean(too_many_of(form.text))}
              onClick={withdraw}
            >
              Withdraw their invitations
            </button>
          </div>
        </Form>
      )}
      <Listing pages={pages} empty="No invitations yet.">
        {(items) => (
          <Table
            label="Invitations"
            rows={items}
            key_of={(row) => row.customer_id}
            columns={[
              ['Customer', (row) => <span class="id">{row.customer_id}</span>, { wide: true }],
              ['Quota', (row) => row.name],
              ['Left', (row) => `${number(row.left)} of ${number(row.quantity)}`],
              ['Until', (row) => time(row.valid_until)],
            ]}
          />
        )}
      </Listing>
    </section>
  );
}

export function BlockedCustomers() {
  const pages = use_pages(
    (cursor) => get(`/blocked-customers${cursor ? `?cursor=${cursor}` : ''}`),
    'blocked',
  );
  const [text, set_text] = useState('');
  const [with_ended, set_with_ended] = useState(false);
  const [asking, set_asking] = useState(null); // the customer to unblock, or 'block'
  const count = addresses_of(text).length;
  const block = async (why) => {
    await post('/blocked-customers', body_of(text, why ?? '', { include_ended: with_ended }));
    set_text('');
    pages.refresh();
  };
  const unblock = async (why) => {
    await del(`/blocked-customers/${asking}`, why ? { reason: why } : {});
    pages.refresh();
  };
  return (
    <>
      <Heading title="Blocked customers" />
      <p class="soft">
        Customers whom none of your events serves: they can neither join nor buy. Their places and orders end,
        and their payments are refunded. Tickets that they received from others stay valid: refund the buyer’s
        order to end them. They accept no offer of a ticket.
      </p>
      <section class="card" aria-label="Block customers">
        <Form send={() => set_asking('block')}>
          <Addresses text={text} set={set_text} />
          <Check label="Refund their purchases of ended sales too" value={with_ended} set={set_with_ended} />
          <button type="submit" class="button danger" disabled={Boolean(too_many_of(text))}>
            Block and refund
          </button>
        </Form>
      </section>
      <section class="card" aria-label="Currently blocked">
        <Listing pages={pages} empty="No one is blocked.">
          {(items) => (
            <Table
              label="Blocked customers"
              rows={items}
              key_of={(row) => row.customer_id}
              columns={[
                ['Since', (row) => time(row.created_at)],
                ['Customer', (row) => <span class="id">{row.customer_id}</span>, { wide: true }],
                ['Reason', (row) => row.reason || '–', { wide: true }],
                [
                  'Decide',
                  (row) => (
                    <button
                      type="button"
                      class="button plain small"
                      onClick={() => set_asking(row.customer_id)}
                    >
                      Serve again
                    </button>
                  ),
                ],
              ]}
            />
          )}
        </Listing>
      </section>
      {asking === 'block' && (
        <Confirm
          title={`Block ${customers(count)}?`}
          what="Their places, sessions and open orders end now, and their purchases are refunded, also tickets that they gave away. Tickets received from others stay valid. A refund cannot be undone."
          verb="Block and refund"
          danger
          work={block}
          close={() => set_asking(null)}
          done="They are blocked."
        />
      )}
      {asking && asking !== 'block' && (
        <Confirm
          title="Serve this customer again?"
          what="They may join and buy again. Refunds stay refunded."
          verb="Serve again"
          work={unblock}
          close={() => set_asking(null)}
          done="The customer is served again."
        />
      )}
    </>
  );
}
