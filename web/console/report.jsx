// SPDX-License-Identifier: Apache-2.0
// The report of a sale: totals, charts from its beginning, ticket types, interventions; as a file too.
import { useMemo } from 'preact/hooks';
import { get } from './api.mjs';
import { Chart } from './chart.jsx';
import { amount_text, money, number, rate, time } from './format.mjs';
import { begin_with, stored_points } from './history.mjs';
import { ExportButton, ProblemNote, Table, Tile, use_loaded } from './parts.jsx';

const look_every_ms = 60_000;

/** The shortest distance of two points, which is the step of the timeline or a multiple of it. */
function step_of(points) {
  const seconds = points.map((point) => Date.parse(point.at) / 1000);
  return Math.max(60, Math.min(...seconds.slice(1).map((at, i) => at - seconds[i]), 86_400));
}

function timeline_of(points) {
  const history = { times: [], values: new Map(), stored: 0, has_begun: false };
  begin_with(history, stored_points({ points, step_seconds: step_of(points) }));
  return history;
}

function Charts({ report, cash }) {
  const history = useMemo(() => timeline_of(report.timeline), [report]);
  const common = { history, tick: report };
  return (
    <div class="charts">
      <Chart title="People" lines={[{ key: 'waiting', name: 'Waiting' }]} format={number} {...common} />
      <Chart
        title="Per minute"
        lines={[
          { key: 'arrival_rate_per_minute', name: 'Arrivals' },
          { key: 'admission_rate_per_minute', name: 'Admissions' },
        ]}
        format={rate}
        {...common}
      />
      <Chart
        title="Tickets"
        lines={[
          { key: 'sold', name: 'Sold' },
          { key: 'held', name: 'Held' },
          { key: 'available', name: 'Free' },
        ]}
        format={number}
        {...common}
      />
      <Chart
        title={`Revenue (${report.currency})`}
        lines={[{ key: 'revenue', name: 'Revenue' }]}
        format={cash}
        axis_format={(value) => amount_text(value, report.currency).split('.')[0]}
        {...common}
      />
    </div>
  );
}

function Totals({ report: r, cash }) {
  const sold_out = r.minutes_to_sold_out === null ? 'no' : `after ${number(r.minutes_to_sold_out)} min`;
  const open = r.refunds_open > 0 ? `, ${number(r.refunds_open)} not made yet` : '';
  return (
    <dl class="tiles">
      <Tile name="Sold" value={number(r.sold)} note={`of ${number(r.total)}`} />
      <Tile name="Sold out" value={sold_out} note={r.sold_out_at ? time(r.sold_out_at) : undefined} />
      <Tile name="Revenue" value={cash(r.revenue)} note="fees included" />
      <Tile name="Refunds" value={number(r.refunds)} note={`${cash(r.refunded)}${open}`} />
      <Tile name="Joined the line" value={number(r.arrivals)} />
      <Tile
        name="Highest waiting"
        value={number(r.waiting_peak)}
        note={r.waiting_peak_at ? time(r.waiting_peak_at) : undefined}
      />
      <Tile
        name="Admitted"
        value={number(r.admissions)}
        note={r.conversion_percent === null ? undefined : `${r.conversion_percent} % bought`}
      />
      <Tile name="Purchases" value={number(r.purchases)} note={`by ${number(r.buyers)} buyers`} />
    </dl>
  );
}

function Types({ report, cash }) {
  return (
    <section class="card" aria-labelledby="report-types">
      <h2 id="report-types">Ticket types</h2>
      <Table
        label="Ticket types"
        rows={report.ticket_types}
        key_of={(type) => type.ticket_type_id}
        columns={[
          ['Type', (type) => type.name],
          ['Price', (type) => cash(type.price), { number: true, wide: true }],
          ['Total', (type) => number(type.total), { number: true, wide: true }],
          ['Sold', (type) => number(type.sold), { number: true }],
          ['Refunded', (type) => number(type.refunded), { number: true }],
          ['Revenue', (type) => cash(type.revenue), { number: true }],
        ]}
      />
      <p class="soft small">Revenue of a type is without fees and without what was refunded.</p>
    </section>
  );
}

function Interventions({ entries, has_more }) {
  return (
    <section class="card" aria-labelledby="report-deeds">
      <h2 id="report-deeds">Interventions</h2>
      {entries.length === 0 && <p class="soft">None.</p>}
      {entries.length > 0 && (
        <Table
          label="Interventions"
          rows={entries}
          key_of={(deed) => `${deed.at} ${deed.action} ${deed.actor}`}
          columns={[
            ['Time', (deed) => time(deed.at)],
            ['Action', (deed) => deed.action],
            ['Reason', (deed) => deed.reason ?? '–'],
          ]}
        />
      )}
      {has_more && <p class="soft small">The newest ones; the audit log has all.</p>}
    </section>
  );
}

export function Report({ event }) {
  const path = `/events/${event.id}/report`;
  const {
    data: report,
    problem,
    refresh,
  } = use_loaded((signal) => get(path, { signal }), path, look_every_ms);
  if (!report)
    return problem ? <ProblemNote problem={problem} retry={refresh} /> : <p class="soft">Loading…</p>;
  const cash = (value) => money(value, report.currency);
  return (
    <>
      <div class="row apart">
        <p class="soft small">
          Made {time(report.made_at)}. Of a running sale, this is the report up to now.
        </p>
        <div class="row">
          <ExportButton path={`${path}.pdf`} name={`report-${event.id}.pdf`} verb="Save as PDF" />
          <ExportButton path={`${path}.csv`} name={`report-${event.id}.csv`} />
        </div>
      </div>
      <Totals report={report} cash={cash} />
      {report.timeline.length > 1 && <Charts report={report} cash={cash} />}
      <Types report={report} cash={cash} />
      <Interventions {...report.interventions} />
    </>
  );
}
