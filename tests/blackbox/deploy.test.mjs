// SPDX-License-Identifier: Apache-2.0
// deploy/ checked with the real tools: alerts by promtool, the dashboard's queries by a Prometheus that
// scrapes a cluster (Postgres, Redis) during a sale, and the exposure score of the systemd unit.
import test from 'node:test';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { Authority } from '../support/certificates.mjs';
import { Services } from '../support/services.mjs';
import { Cluster } from './cluster.mjs';
import {
  assert,
  clean_environment,
  eventually,
  fairqueue_load,
  free_port,
  root,
  run,
  server_for,
  sleep,
  temporary_folder,
} from './lib.mjs';

const deploy = path.join(root, 'deploy');
const read = (...name) => fs.readFileSync(path.join(root, ...name), 'utf8');

/** Runs a tool of the system; fails with the name of its package if it is missing. */
async function tool(name, args, options) {
  try {
    return await run(name, args, options);
  } catch (error) {
    if (/no program at/.test(error.message)) assert.fail(`${name} is missing; scripts/setup installs it`);
    throw error;
  }
}

async function must(name, args, options) {
  const end = await tool(name, args, options);
  assert.equal(end.code, 0, `${name} ${args.join(' ')}\n${end.out}${end.err}`);
  return end;
}

// -- alerts ---------------------------------------------------------------------------------------------

/** The alerts of the file, which has one key a line: [{name, expr, runbook}]. */
function alerts() {
  const text = read('deploy/prometheus/alerts.yml');
  return text
    .split(/^ *- alert: /m)
    .slice(1)
    .map((part) => ({
      name: /^\S+/.exec(part)[0],
      expr: /expr: ([^]*?)\n {8}\w/.exec(part)[1],
      runbook: /runbook_url: (\S+)/.exec(part)?.[1],
    }));
}

test('promtool accepts the rules, each alert fires in its test and stays silent in another', async () => {
  const folder = path.join(deploy, 'prometheus');
  await must('promtool', ['check', 'config', 'prometheus.yml'], { cwd: folder });
  const checked = await must('promtool', ['check', 'rules', 'alerts.yml'], { cwd: folder });
  const all = alerts();
  assert.match(
    checked.out,
    new RegExp(`${all.length} rules found`),
    'this file reads the same alerts as promtool',
  );
  await must('promtool', ['test', 'rules', 'alerts_test.yml'], { cwd: folder });
  const tests = read('deploy/prometheus/alerts_test.yml')
    .split(/^ {2}- name: /m)
    .slice(1);
  for (const { name } of all) {
    const of = (kind) =>
      tests.filter((each) => each.includes(`alertname: ${name}\n`) && kind.test(each)).length;
    assert.ok(of(/exp_alerts:\n +- exp_labels:/) > 0, `${name} fires in no test`);
    assert.ok(of(/exp_alerts: \[\]/) > 0, `${name} is silent in no test`);
  }
});

test('recorded numbers are right, and their metrics exist', async () => {
  const folder = path.join(deploy, 'prometheus');
  await must('promtool', ['check', 'rules', 'rules.yml'], { cwd: folder });
  await must('promtool', ['test', 'rules', 'rules_test.yml'], { cwd: folder });
  const listed = read('docs/operations.md');
  for (const [, expr] of read('deploy/prometheus/rules.yml').matchAll(
    /expr: ([^]*?)(?=\n {6}- |\n {8}\w|\n$)/g,
  ))
    for (const name of names_in(expr)) assert.ok(listed.includes(`\`${name}\``), `no metric ${name}`);
});

test('Alertmanager routes each alert by its severity', async () => {
  const file = ['--config.file', path.join(deploy, 'prometheus/alertmanager.yml')];
  await must('amtool', ['check-config', file[1]]);
  const severities = new Set(
    [...read('deploy/prometheus/alerts.yml').matchAll(/severity: (\w+)/g)].map((m) => m[1]),
  );
  const receivers = {};
  for (const severity of severities) {
    const routed = await must('amtool', ['config', 'routes', 'test', ...file, `severity=${severity}`]);
    receivers[severity] = routed.out.trim();
  }
  assert.deepEqual(receivers, { critical: 'on-call', warning: 'team' });
});

test('promtool notices a rule that does not fire', async () => {
  const folder = temporary_folder();
  const rules = read('deploy/prometheus/alerts.yml');
  fs.writeFileSync(
    path.join(folder, 'alerts.yml'),
    rules.replace('checkout_queue_length) > 100', 'checkout_queue_length) > 1000'),
  );
  fs.copyFileSync(path.join(deploy, 'prometheus/alerts_test.yml'), path.join(folder, 'alerts_test.yml'));
  const end = await tool('promtool', ['test', 'rules', 'alerts_test.yml'], { cwd: folder });
  assert.notEqual(end.code, 0);
  assert.match(end.out + end.err, /FairQueueCheckoutQueueLong/);
});

test('every alert names an existing runbook, and every runbook an alert', () => {
  const titles = [...read('docs/operations.md').matchAll(/^#+ (.*)$/gm)].map((m) =>
    m[1]
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
  const all = alerts();
  for (const { name, runbook } of all) {
    assert.equal(runbook, `docs/operations.md#${name.toLowerCase()}`);
    assert.equal(
      titles.filter((title) => title === name.toLowerCase()).length,
      1,
      `no runbook, or two, for ${name}`,
    );
  }
  const runbooks = titles.filter((title) => title.startsWith('fairqueue') && !title.includes('-'));
  assert.deepEqual(runbooks.sort(), all.map(({ name }) => name.toLowerCase()).sort());
});

// -- the dashboard --------------------------------------------------------------------------------------

/** Every query of the dashboard: {panel, expr}. */
function queries() {
  const dashboard = JSON.parse(read('deploy/grafana/fairqueue.json'));
  return dashboard.panels.flatMap((panel) =>
    (panel.targets ?? []).map(({ expr }) => ({ panel: panel.title, expr })),
  );
}

/** Names of series in a query: no functions, labels or variables of Grafana. */
function names_in(expr) {
  const bare = expr.replace(/\{(?:"[^"]*"|[^}"])*\}|\[[^\]]*\]|\b(by|without|on|ignoring) \([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b(?:fairqueue|checkout)_\w+/g)].map((m) =>
    m[0].replace(/_(bucket|sum|count)$/, ''),
  );
}

const get_json = (url) =>
  new Promise((resolve, reject) => {
    const outgoing = http.get(url, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      incoming.on('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(new Error(`${url}: ${text.slice(0, 200)}`));
        }
      });
    });
    outgoing.on('error', reject);
  });

class Prometheus {
  static async start(t, targets) {
    const folder = temporary_folder();
    const prometheus = new Prometheus();
    prometheus.url = `http://127.0.0.1:${await free_port()}`;
    const file = path.join(folder, 'prometheus.yml');
    for (const rules of ['alerts.yml', 'rules.yml'])
      fs.copyFileSync(path.join(deploy, 'prometheus', rules), path.join(folder, rules));
    // The example with the addresses and intervals of the test.
    const example = read('deploy/prometheus/prometheus.yml');
    const ours = example
      .replace(/(job_name: fairqueue[^]*?targets: )\[.*\]/, `$1${JSON.stringify(targets)}`)
      .replaceAll('interval: 15s', 'interval: 1s');
    assert.ok(
      ours.includes(targets[0]) && ours.includes('interval: 1s'),
      'the example has the lines that are replaced here',
    );
    fs.writeFileSync(file, ours);
    let log = '';
    const child = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=${new URL(prometheus.url).host}`,
      ],
      { env: clean_environment(), stdio: ['ignore', 'ignore', 'pipe'] },
    );
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    const ended = new Promise((resolve) => {
      child.on('error', (error) =>
        resolve(error.code === 'ENOENT' ? 'prometheus is missing; scripts/setup installs it' : String(error)),
      );
      child.on('exit', () => resolve(`prometheus ended:\n${log.slice(-2000)}`));
    });
    const kill = () => child.kill('SIGKILL');
    process.on('exit', kill);
    t.after(async () => {
      kill();
      await ended;
      process.off('exit', kill);
    });
    const up = eventually(
      'prometheus scrapes all nodes',
      async () => {
        const { data } = await prometheus.query('up').catch(() => ({}));
        return data?.result.filter(({ value }) => value[1] === '1').length === targets.length;
      },
      { timeout_ms: 30_000, every_ms: 200 },
    );
    up.catch(() => {});
    const failure = await Promise.race([up.then(() => undefined), ended]);
    if (failure) assert.fail(failure);
    return prometheus;
  }

  query(expr) {
    return get_json(`${this.url}/api/v1/query?query=${encodeURIComponent(expr)}`);
  }
}

/** The metrics of docs/operations.md: ['name type labels'], sorted. */
function documented_metrics() {
  const section = read('docs/operations.md').split('### All metrics\n')[1].split('\n## ')[0];
  return [...section.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|([^|]*)\|/gm)]
    .map(([, name, type, labels]) => `${name} ${type} ${labels.trim()}`.trim())
    .sort();
}

/** The same from /metrics: names, types, and the labels of all series. */
async function described_metrics(nodes) {
  const all = new Map();
  for (const node of nodes) {
    const { text } = await node.get('/metrics', { admin: true });
    for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
      if (!all.has(name)) all.set(name, { type, labels: new Set() });
    for (const [, series, labels] of text.matchAll(/^(\w+)\{([^]*?)\} \S+$/gm)) {
      const family = all.get(series) ?? all.get(series.replace(/_(bucket|sum|count)$/, ''));
      for (const [, label] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') family.labels.add(label);
    }
  }
  return [...all]
    .map(([name, { type, labels }]) =>
      `${name} ${type} ${[...labels].map((l) => `\`${l}\``).join(', ')}`.trim(),
    )
    .sort();
}

test('promtool accepts the metrics of a running demo sale', async (t) => {
  const server = await server_for(t, { demo: true });
  const { code, out, err } = await run(fairqueue_load, [
    '--url',
    server.url,
    '--data-dir',
    server.data_dir,
    '--fans',
    '60',
    '--arrival-seconds',
    '1',
    '--buy-by',
    'mixed',
    '--quiet',
  ]);
  assert.equal(code, 0, `${out}${err}`);
  const text = (await server.get('/metrics', { admin: true })).text;
  assert.match(text, /fairqueue_joins_total\{result="created"\} 60/);
  const checked = await must('promtool', ['check', 'metrics'], { input: text });
  assert.equal(checked.out + checked.err, '');
  const wrong = await tool('promtool', ['check', 'metrics'], {
    input: text.replaceAll('fairqueue_joins_total', 'fairqueue_joins'),
  });
  assert.notEqual(wrong.code, 0, 'promtool sees a counter without _total');
});

test('every query of the dashboard has data, and every alert its metrics, in a cluster with a sale', async (t) => {
  const redis = await Services.start('redis');
  t.after(() => redis.stop());
  const own = new Authority(temporary_folder()).issue('own');
  const cluster = await Cluster.start(t, {
    nodes: 2,
    settings: {
      'cache.url': redis.redis_url,
      'tls.listen': '127.0.0.1:0',
      'tls.certificate': own.certificate,
      'tls.key': own.key,
      'tracing.url': 'http://127.0.0.1:9/v1/traces',
    },
  }); // shows the metrics of the listener there
  const prometheus = await Prometheus.start(
    t,
    cluster.nodes.map((node) => `127.0.0.1:${node.admin_port}`),
  );
  const [first, second] = cluster.nodes;
  const organizer = await first.organizer();
  const { id: event } = await first.event(organizer, { total: 5000 });
  await cluster.hand_off(event, first);

  // Fans use the node that does not own the event, until all queries below are done.
  const load = run(
    fairqueue_load,
    [
      '--url',
      second.url,
      '--data-dir',
      second.data_dir,
      '--event',
      event,
      '--fans',
      '400',
      '--arrival',
      'poisson',
      '--arrival-seconds',
      '20',
      '--buy-by',
      'mixed',
      '--timeout',
      '60',
      '--quiet',
    ],
    { timeout_ms: 90_000 },
  );
  await eventually(
    'a sale that Prometheus has seen',
    async () => {
      const { data } = await prometheus.query('sum(rate(fairqueue_webhooks_total{result="applied"}[10s]))');
      return Number(data.result[0]?.value[1] ?? 0) > 0;
    },
    { timeout_ms: 30_000, every_ms: 500 },
  );

  const known = new Set();
  for (const node of cluster.nodes)
    for (const [, name] of (await node.get('/metrics', { admin: true })).text.matchAll(/^# TYPE (\S+)/gm))
      known.add(name);
  const checked = await must('promtool', ['check', 'metrics'], {
    input: (await second.get('/metrics', { admin: true })).text,
  });
  assert.equal(checked.out + checked.err, '', 'with a cache and a cluster too');
  assert.deepEqual(
    await described_metrics(cluster.nodes),
    documented_metrics(),
    'docs/operations.md, "All metrics"',
  );
  for (const { expr, panel, name } of [...queries(), ...alerts()])
    for (const each of names_in(expr))
      assert.ok(known.has(each), `${panel ?? name}: there is no metric ${each}`);

  const all = queries();
  assert.ok(all.length >= 70, `${all.length} queries`);
  const value_of = (expr) =>
    expr
      .replaceAll('$__rate_interval', '10s')
      .replaceAll('$__range', '1m')
      .replaceAll('$job', 'fairqueue')
      .replaceAll('$instance', '.*');
  const without_data = async () => {
    const without = [];
    for (const { panel, expr } of all) {
      const answer = await prometheus.query(value_of(expr));
      assert.equal(answer.status, 'success', `${panel}: ${expr}: ${answer.error}`);
      if (!answer.data.result.some(({ value }) => Number.isFinite(Number(value[1]))))
        without.push(`${panel}: ${expr}`);
    }
    return without;
  };
  // A series that has just begun has no rate before its second scrape.
  let without = await without_data();
  for (
    const end = Date.now() + 15_000;
    without.length > 0 && Date.now() < end;
    without = await without_data()
  )
    await sleep(500);
  assert.deepEqual(without, []);
  const number = async (expr) => Number((await prometheus.query(value_of(expr))).data.result[0].value[1]);
  const of = (title) => all.find(({ panel }) => panel === title).expr;
  assert.equal(await number(of('Nodes ready')), 2);
  assert.ok((await number(of('Arrivals'))) > 0);
  assert.ok((await number(of('Admission rate'))) > 0);
  assert.ok((await number(of('Revenue'))) > 0);
  const days = await number(of('Certificate: days left'));
  const chain = fs
    .readFileSync(own.certificate, 'utf8')
    .match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g)
    .map((pem) => Date.parse(new X509Certificate(pem).validTo));
  const left = (Math.min(...chain) - Date.now()) / 86_400_000;
  assert.ok(chain.length === 2 && Math.abs(days - left) < 0.1, `${days} days left, not ${left}`);
  assert.equal(await number(of('Checkout success')), 1);
  assert.ok((await number('sum(fairqueue_cluster_link_requests_total)')) > 0, 'requests crossed the wire');
  assert.equal(
    (await prometheus.query('ALERTS{alertstate="firing"}')).data.result.length,
    0,
    'no alert while all is well',
  );

  const end = await load;
  assert.equal(end.code, 0, `${end.out}${end.err}`);

  // A real alert: the node is gone.
  await first.kill();
  await eventually(
    'the link to a node that has left is no series any more',
    async () => !/^fairqueue_cluster_link_up\{/m.test((await second.get('/metrics', { admin: true })).text),
    { timeout_ms: 30_000, every_ms: 500 },
  );
  await eventually(
    'FairQueueDown is pending',
    async () => (await prometheus.query('ALERTS{alertname="FairQueueDown"}')).data.result.length === 1,
    { timeout_ms: 15_000, every_ms: 500 },
  );
});

// -- systemd --------------------------------------------------------------------------------------------

async function exposure(file) {
  const { out } = await must('systemd-analyze', [
    'security',
    '--offline=true',
    '--no-pager',
    '--json=off',
    file,
  ]);
  return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(out)?.[1]);
}

test('the systemd unit is confined: exposure at most 2.0', async () => {
  const unit = path.join(deploy, 'systemd/fairqueue.service');
  const score = await exposure(unit);
  assert.ok(score <= 2.0, `exposure ${score}`);
  // Without the confinement the score is far higher, so it measures the unit.
  const bare = path.join(temporary_folder(), 'fairqueue.service');
  fs.writeFileSync(
    bare,
    read('deploy/systemd/fairqueue.service').replace(
      /^(Protect|Private|Restrict|SystemCall|Capability|User|Group|NoNew).*\n/gm,
      '',
    ),
  );
  assert.ok((await exposure(bare)) > 5);
});

test('the unit with the rights for TLS at port 443 is confined too', async () => {
  const unit = path.join(temporary_folder(), 'fairqueue.service');
  fs.writeFileSync(unit, read('deploy/systemd/fairqueue.service') + read('deploy/systemd/tls.conf'));
  const score = await exposure(unit);
  assert.ok(score <= 2.0, `exposure ${score}`);
});

test('the systemd unit has only keys that systemd knows', async () => {
  const folder = temporary_folder();
  const unit = path.join(folder, 'fairqueue.service');
  fs.writeFileSync(
    unit,
    (read('deploy/systemd/fairqueue.service') + read('deploy/systemd/tls.conf'))
      .replace('/usr/bin/fairqueue', '/bin/true')
      .replace(/^Documentation.*\n/m, ''),
  );
  const { code, out, err } = await tool('systemd-analyze', ['verify', '--man=no', unit]);
  assert.deepEqual([code, out + err], [0, '']);
});
