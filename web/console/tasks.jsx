// SPDX-License-Identifier: Apache-2.0
// Background tasks, similar to Celery's Flower: in flight, waiting, retried, failed, rates; their workers;
// the state of the payment gateways. The server counts since its start; this page calculates rates from its
// points.
import { get } from './api.mjs';
import { Chart } from './chart.jsx';
import { clock_of, number, rate, span } from './format.mjs';
import { history_of, per_minute, remember } from './history.mjs';
import { Badge, Heading, ProblemNote, Table, Tile, use_loaded } from './parts.jsx';

const look_every_ms = 2_000;
const history = () => history_of('tasks');

async function load(signal) {
  const now = await get('/tasks', { signal });
  const counts = now.tasks.flatMap((task) =>
    ['succeeded', 'failed', 'retries'].map((what) => [`${task.name} ${what}`, task[what] ?? 0]),
  );
  const at = Date.parse(now.server_time) / 1000;
  remember(history(), at, Object.fromEntries([...counts, ...now.gateways.flatMap(gateway_numbers)]));
  remember(history(), at, Object.fromEntries(now.gateways.flatMap(gateway_paces))); // of the same moment: rates need the counts
  return now;
}

/** Loaded every two seconds while a view shows it. */
export const use_tasks = () => use_loaded(load, 'tasks', look_every_ms);

const outcomes = ['answered', 'refused', 'unavailable'];

/** Numbers of a gateway by chart name: calls of all kinds together, and calls in flight. */
function gateway_numbers({ name, calls, in_flight, waiting, pausing }) {
  const total = (outcome) => calls.reduce((sum, call) => sum + call[outcome], 0);
  return [
    ...outcomes.map((outcome) => [`${name} ${outcome}`, total(outcome)]),
    [`${name} in_flight`, in_flight],
    [`${name} waiting`, waiting],
    [`${name} pausing`, pausing],
  ];
}

const gateway_paces = ({ name }) =>
  outcomes.map((outcome) => [`${name} ${outcome} a minute`, per_minute(history(), `${name} ${outcome}`)]);

/** Answers and waiting calls of each gateway, from the points of this page. `loaded`: use_tasks(). */
export function GatewayCharts({ loaded: { data } }) {
  return data?.gateways.flatMap(({ name }) => [
    <Chart
      key={`${name} calls`}
      title={`Calls to ${name} a minute`}
      lines={[
        { key: `${name} answered a minute`, name: 'Answered' },
        { key: `${name} refused a minute`, name: 'Refused' },
        { key: `${name} unavailable a minute`, name: 'Failed' },
      ]}
      format={rate}
      history={history()}
      tick={data}
    />,
    <Chart
      key={`${name} work`}
      title={`Work for ${name}`}
      lines={[
        { key: `${name} in_flight`, name: 'Under way' },
        { key: `${name} waiting`, name: 'Waiting' },
        { key: `${name} pausing`, name: 'Waiting for a retry' },
      ]}
      format={number}
      history={history()}
      tick={data}
    />,
  ]);
}

const health_words = { healthy: 'answers', away: 'does not answer, is tried now and then' };

/** `loaded`: use_tasks(). */
export function GatewayHealth({ loaded: { data, problem } }) {
  return (
    <section class="card" aria-labelledby="gateways-title">
      <h2 id="gateways-title">Payment gateways</h2>
      {problem?.status === 403 ? (
        <p class="soft">Only the installation’s own organizers see them.</p>
      ) : (
        <>
          <ProblemNote problem={problem} />
          <ul class="plain-list">
            {data?.gateways.map((gateway) => (
              <li key={gateway.name}>
                <Badge name={gateway.health} /> <b>{gateway.name}</b> {health_words[gateway.health]}; calls:{' '}
                {number(gateway.in_flight)} under way, {number(gateway.waiting)} waiting,{' '}
                {number(gateway.pausing)} about to be tried again
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Kinds({ tasks }) {
  const pace = (task, what) => rate(per_minute(history(), `${task.name} ${what}`));
  return (
    <Table
      label="Kinds of tasks"
      rows={tasks}
      key_of={(task) => task.name}
      columns={[
        ['Task', (task) => task.name],
        ['In flight', (task) => number(task.in_flight), { number: true }],
        ['Waiting', (task) => number(task.waiting), { number: true }],
        ['Done', (task) => number(task.succeeded), { number: true }],
        ['Failed', (task) => number(task.failed), { number: true }],
        ['Retries', (task) => number(task.retries), { number: true }],
        ['Done a minute', (task) => pace(task, 'succeeded'), { number: true, wide: true }],
        ['Failed a minute', (task) => pace(task, 'failed'), { number: true, wide: true }],
        ['Half within', (task) => span(task.p50_seconds), { number: true, wide: true }],
        ['95 % within', (task) => span(task.p95_seconds), { number: true, wide: true }],
      ]}
    />
  );
}

const load_finished = async (signal) => (await get('/tasks/history', { signal })).items;

/** The newest finished calls and mails. */
function Finished() {
  const { data, problem } = use_loaded(load_finished, 'finished tasks', 10_000);
  return (
    <section class="card" aria-labelledby="finished-title">
      <h2 id="finished-title">Finished</h2>
      <ProblemNote problem={problem} />
      {data && (
        <Table
          label="Finished tasks"
          rows={data.slice(0, 100).map((task, place) => ({ ...task, place }))}
          key_of={(task) => `${task.ended_at} ${task.place}`}
          columns={[
            ['At', (task) => clock_of(Date.parse(task.ended_at) / 1000)],
            ['Task', (task) => task.name],
            ['Result', (task) => `${task.result}${task.detail ? `: ${task.detail}` : ''}`],
            ['Attempts', (task) => number(task.attempts), { number: true }],
            ['Within', (task) => span(task.duration_seconds), { number: true }],
          ]}
        />
      )}
    </section>
  );
}

export function Tasks() {
  const loaded = use_tasks();
  const { data, problem, refresh } = loaded;
  // An order without a payment page has its own tile, and its call to the gateway is counted there.
  const in_flight = () =>
    data.tasks.reduce((sum, task) => sum + (task.name === 'payment pages' ? 0 : (task.in_flight ?? 0)), 0);
  const total = (name) => data.tasks.reduce((sum, task) => sum + (task[name] ?? 0), 0);
  const calls = data?.gateways.flatMap((gateway) =>
    gateway.calls.map((call) => ({ ...call, gateway: gateway.name })),
  );
  return (
    <>
      <Heading title="Tasks" />
      <ProblemNote problem={problem} retry={refresh} />
      {!data && !problem && <p class="soft">Loading…</p>}
      {data && (
        <>
          <p class="soft small">
            <span class="pulse" aria-hidden="true" /> Live, every two seconds: the work of the server process
            that answers you, counted since it began. What is “a minute” is what this page has seen since{' '}
            {clock_of(history().times[0])}, of the last minute at most.
          </p>
          <dl class="tiles">
            <Tile name="In flight" value={number(in_flight())} />
            <Tile name="Waiting" value={number(total('waiting'))} />
            <Tile name="Done" value={number(total('succeeded'))} />
            <Tile name="Failed" value={number(total('failed'))} />
            <Tile name="Retries" value={number(total('retries'))} />
            <Tile
              name="Orders without a page"
              value={number(data.checkout.pending)}
              note={
                data.checkout.oldest_seconds === null
                  ? undefined
                  : `the oldest for ${span(data.checkout.oldest_seconds)}`
              }
            />
            <Tile
              name="Asynchronous checkouts"
              value={`${number(data.checkout.async_percent)} %`}
              note={
                data.checkout.async_percent === 0 ? 'every checkout waits for its payment page' : undefined
              }
            />
            <Tile name="Dead letters" value={number(data.dead_letters)} note="made since it began" />
          </dl>
          <div class="charts pair">
            <GatewayCharts loaded={loaded} />
          </div>
          <section class="card" aria-labelledby="task-title">
            <h2 id="task-title">Kinds of tasks</h2>
            <Kinds tasks={data.tasks} />
          </section>
          <section class="card" aria-labelledby="worker-title">
            <h2 id="worker-title">Workers</h2>
            <Table
              label="Workers"
              rows={data.workers}
              key_of={(worker) => worker.name}
              columns={[
                ['Worker', (worker) => worker.name],
                ['State', (worker) => <Badge name={worker.state} />],
                ['In flight', (worker) => number(worker.in_flight), { number: true }],
                ['Max in flight', (worker) => number(worker.slots), { number: true }],
              ]}
            />
          </section>
          <section class="card" aria-labelledby="call-title">
            <h2 id="call-title">Calls to gateways</h2>
            <Table
              label="Calls to gateways"
              rows={calls}
              key_of={(call) => `${call.gateway} ${call.kind}`}
              columns={[
                ['Call', (call) => `${call.gateway} ${call.kind}`],
                ['Answered', (call) => number(call.answered), { number: true }],
                ['Refused', (call) => number(call.refused), { number: true }],
                ['Failed', (call) => number(call.unavailable), { number: true }],
              ]}
            />
          </section>
          <Finished />
        </>
      )}
    </>
  );
}
