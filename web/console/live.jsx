// SPDX-License-Identifier: Apache-2.0
// A running sale or queue: numbers, charts over the stored points and those of this page, admission,
// admission by hand.
import { get } from './api.mjs';
import { Admission, CallNext } from './admission.jsx';
import { Chart } from './chart.jsx';
import { amount_text, clock_of, digits_of, money, number, rate } from './format.mjs';
import { GatewayCharts, GatewayHealth, use_tasks } from './tasks.jsx';
import { begin_with, history_of, remember, stored_points } from './history.mjs';
import { LobbyState } from './lobby.jsx';
import { LogState } from './log.jsx';
import { ProblemNote, Tile, use_loaded } from './parts.jsx';
import { ListState } from './waiting_list.jsx';

const look_every_ms = 1_000;

const line_chart = (inside) => ({
  title: 'People',
  lines: [
    { key: 'waiting', name: 'Waiting' },
    { key: inside, name: 'Admitted' },
  ],
  format: number,
});
const rate_chart = {
  title: 'Per minute',
  lines: [
    { key: 'arrival_rate_per_minute', name: 'Arrivals' },
    { key: 'admission_rate_per_minute', name: 'Admissions' },
  ],
  format: rate,
};
const ticket_chart = {
  title: 'Tickets',
  lines: [
    { key: 'sold', name: 'Sold' },
    { key: 'held', name: 'Held' },
    { key: 'available', name: 'Free' },
  ],
  format: number,
};

/** The stored points of the last day. A failure leaves them out; the next look tries again. */
async function load_stored(history, path, signal) {
  if (history.has_begun) return;
  try {
    begin_with(history, stored_points(await get(`${path}/statistics`, { signal })));
  } catch (problem) {
    if (signal.aborted) throw problem;
  }
}

/** Adds the numbers of `path` once a second to the history of `id`. */
function use_stats(id, path) {
  const history = history_of(id);
  const stats = use_loaded(
    async (signal) => {
      const now = await get(`${path}/stats`, { signal });
      await load_stored(history, path, signal);
      const numbers = Object.fromEntries(
        Object.entries(now).filter(([, value]) => typeof value === 'number'),
      );
      remember(history, Math.floor(Date.parse(now.server_time) / 1000), numbers);
      return now;
    },
    path,
    look_every_ms,
  );
  return { history, ...stats };
}

/** Age of the numbers; shown only if they are old. */
function Freshness({ data, problem, history }) {
  if (problem) return <ProblemNote problem={problem} />;
  if (!data) return <p class="soft">Loading…</p>;
  return (
    <p class="soft small">
      <span class="pulse" aria-hidden="true" /> Live, every second. The charts begin at{' '}
      {clock_of(history.times[0])} with what the server has stored once a minute.
    </p>
  );
}

export function EventLive({ event, changed }) {
  const path = `/events/${event.id}`;
  const { data: s, problem, history, refresh } = use_stats(event.id, path);
  const tasks = use_tasks();
  const cash = (value) => money(value, event.currency);
  return (
    <>
      <Freshness data={s} problem={problem} history={history} />
      <LobbyState path={path} thing={event} changed={changed} />
      {s && <ListState event={event} stats={s} />}
      {s && (
        <>
          <dl class="tiles">
            <Tile
              name="Waiting"
              value={number(s.waiting)}
              note={s.away > 0 ? `${number(s.away)} of them away` : undefined}
            />
            <Tile
              name="Admitted now"
              value={number(s.admitted)}
              note={`${number(s.admitted_total)} in all`}
            />
            <Tile name="Arrivals a minute" value={rate(s.arrival_rate_per_minute)} />
            <Tile name="Admissions a minute" value={rate(s.admission_rate_per_minute)} />
            <Tile name="Held" value={number(s.held)} note={`${number(s.payments_open)} paying`} />
            <Tile name="Sold" value={number(s.sold)} note={`of ${number(s.total)}`} />
            <Tile name="Free" value={number(s.available)} />
            <Tile
              name="Revenue"
              value={cash(s.revenue)}
              note={s.refunded > 0 ? `${cash(s.refunded)} refunded` : undefined}
            />
          </dl>
          <div class="live">
            <div class="charts">
              <Chart {...line_chart('admitted')} history={history} tick={s} />
              <Chart {...rate_chart} history={history} tick={s} />
              <Chart {...ticket_chart} history={history} tick={s} />
              <Chart
                title={`Revenue (${event.currency})`}
                lines={[{ key: 'revenue', name: 'Revenue' }]}
                format={cash}
                axis_format={(value) => amount_text(value, event.currency).split('.')[0]}
                least={10 ** (digits_of(event.currency) + 1)}
                history={history}
                tick={s}
              />
              <GatewayCharts loaded={tasks} />
            </div>
            <div class="stack">
              <Admission key={event.id} kind="event" path={path} thing={event} changed={changed} />
              <CallNext kind="event" path={path} thing={event} done={refresh} />
              <LogState key={path} path={path} id={event.id} />
              <GatewayHealth loaded={tasks} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

export function QueueLive({ queue, changed }) {
  const path = `/queues/${queue.id}`;
  const { data: s, problem, history, refresh } = use_stats(queue.id, path);
  return (
    <>
      <Freshness data={s} problem={problem} history={history} />
      <LobbyState path={path} thing={queue} changed={changed} />
      {s && (
        <>
          <dl class="tiles">
            <Tile
              name="Waiting"
              value={number(s.waiting)}
              note={s.away > 0 ? `${number(s.away)} of them away` : undefined}
            />
            <Tile name="Admitted now" value={number(s.active)} note={`${number(s.admitted_total)} in all`} />
            <Tile name="Arrivals a minute" value={rate(s.arrival_rate_per_minute)} />
            <Tile name="Admissions a minute" value={rate(s.admission_rate_per_minute)} />
            <Tile name="Completed" value={number(s.completed_total)} />
          </dl>
          <div class="live">
            <div class="charts">
              <Chart {...line_chart('active')} history={history} tick={s} />
              <Chart {...rate_chart} history={history} tick={s} />
            </div>
            <div class="stack">
              <Admission key={queue.id} kind="queue" path={path} thing={queue} changed={changed} />
              <CallNext kind="queue" path={path} thing={queue} done={refresh} />
              <LogState key={path} path={path} id={queue.id} />
            </div>
          </div>
        </>
      )}
    </>
  );
}
