// SPDX-License-Identifier: Apache-2.0
// The audit log, with reasons; and the dead letters.
import { useState } from 'preact/hooks';
import { get, post } from './api.mjs';
import { time, words } from './format.mjs';
import { Badge, Choice, Confirm, ExportButton, Field, Heading, Listing, Table, use_pages } from './parts.jsx';

const no_detail = (detail) => Object.keys(detail).length === 0;

/** The log of one event or queue; without `target`, of everything. */
export function AuditList({ target }) {
  const query = target ? `target=${target}` : '';
  const pages = use_pages(async (cursor) => {
    const page = await get(`/audit?${[query, cursor && `cursor=${cursor}`].filter(Boolean).join('&')}`);
    return { items: page.entries, next_cursor: page.next_cursor };
  }, query);
  return (
    <section class="card" aria-labelledby="audit-title">
      <div class="row apart">
        <h2 id="audit-title">What was done</h2>
        <ExportButton
          path={`/audit.csv${query && `?${query}`}`}
          name={`audit${target ? `-${target}` : ''}.csv`}
        />
      </div>
      <Listing pages={pages} empty="Nothing yet.">
        {(items) => (
          <Table
            label="Audit log"
            rows={items}
            key_of={(entry) => entry.id}
            columns={[
              ['When', (entry) => time(entry.at)],
              ['What', (entry) => words(entry.action)],
              ['Why', (entry) => entry.reason ?? '–'],
              ['Who', (entry) => <span class="id">{entry.actor}</span>, { wide: true }],
              [
                'Detail',
                (entry) =>
                  no_detail(entry.detail) ? (
                    '–'
                  ) : (
                    <details>
                      <summary>Show</summary>
                      <pre>{JSON.stringify(entry.detail, null, 2)}</pre>
                    </details>
                  ),
                { wide: true },
              ],
            ]}
          />
        )}
      </Listing>
    </section>
  );
}

export function Audit() {
  return (
    <>
      <Heading title="Audit log" />
      <AuditList />
    </>
  );
}

// -- dead letters ---------------------------------------------------------------------------------------

const kinds = {
  refund_refused: 'The gateway refuses a refund',
  payment_quarantined: 'A payment is not as quoted',
  payment_unknown: 'Money came for a payment that the ledger has lost',
  undelivered: 'A message could not be delivered',
};
/** The effect of a retry, by kind. */
const retries = {
  refund_refused: 'The refund is sent to the gateway again.',
  payment_quarantined: 'The money is sent back.',
  payment_unknown: 'The money is sent back. The entry closes when the gateway confirms it.',
  undelivered: 'The message is sent again.',
};

export function DeadLetters() {
  const [status, set_status] = useState('open');
  const [asking, set_asking] = useState(null);
  const pages = use_pages(
    (cursor) => get(`/dead-letters?status=${status}${cursor ? `&cursor=${cursor}` : ''}`),
    status,
  );
  const settle = async (verb, reason) => {
    await post(`/dead-letters/${asking.letter.id}/${verb}`, reason ? { reason } : {});
    pages.refresh();
  };
  return (
    <>
      <Heading title="Dead letters" />
      <p class="soft">Work that the server has given up and that needs a person.</p>
      <section class="card" aria-label="Dead letters">
        <Field label="Show">
          <Choice
            value={status}
            set={set_status}
            options={[
              ['open', 'Those that wait'],
              ['all', 'All'],
            ]}
          />
        </Field>
        <Listing pages={pages} empty="Nothing waits for you.">
          {(items) => (
            <Table
              label="Dead letters"
              rows={items}
              key_of={(letter) => letter.id}
              columns={[
                ['Since', (letter) => time(letter.created_at)],
                [
                  'What',
                  (letter) =>
                    `${kinds[letter.kind] ?? words(letter.kind)}${letter.topic ? ` (${letter.topic})` : ''}`,
                ],
                ['Why', (letter) => letter.detail, { wide: true }],
                ['State', (letter) => <Badge name={letter.status} />],
                [
                  'Event',
                  (letter) => <a href={`#/events/${letter.event_id}`}>Open the event</a>,
                  { wide: true },
                ],
                [
                  'Decide',
                  (letter) =>
                    letter.status !== 'open' ? (
                      '–'
                    ) : (
                      <div class="row tight">
                        <button
                          type="button"
                          class="button small"
                          onClick={() => set_asking({ letter, verb: 'retry' })}
                        >
                          Retry
                        </button>
                        <button
                          type="button"
                          class="button plain small"
                          onClick={() => set_asking({ letter, verb: 'dismiss' })}
                        >
                          Dismiss
                        </button>
                      </div>
                    ),
                ],
              ]}
            />
          )}
        </Listing>
      </section>
      {asking && (
        <Confirm
          title={asking.verb === 'retry' ? 'Retry?' : 'Dismiss it?'}
          what={`${asking.letter.detail}. ${asking.verb === 'retry' ? (retries[asking.letter.kind] ?? '') : 'The server does nothing more about it.'}`}
          verb={asking.verb === 'retry' ? 'Retry' : 'Dismiss'}
          danger={asking.verb === 'dismiss'}
          work={(reason) => settle(asking.verb, reason)}
          close={() => set_asking(null)}
          done={asking.verb === 'retry' ? 'It is tried again.' : 'Dismissed.'}
        />
      )}
    </>
  );
}
