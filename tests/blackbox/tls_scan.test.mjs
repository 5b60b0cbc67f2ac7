// SPDX-License-Identifier: Apache-2.0
// testssl.sh against the TLS listener.
import test from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { assert, patience, run, temporary_folder } from './lib.mjs';
import { tls_server } from './tls.mjs';

/** Findings that the test's own certificates must cause, by their id, with the reason. */
const of_the_tests = {
  cert_chain_of_trust: 'no browser knows the authority of the tests',
  cert_revocation: 'the authority of the tests says nowhere what it revoked: no CRL, no OCSP',
};
/** What the tool may say that it could not look at, with the reason. */
const of_the_tool = {
  engine_problem: 'its openssl has no ciphers of GOST to try',
  sessionresumption_ticket:
    'its s_client hangs up at once, now and then before the ticket of TLS 1.3 has come; resumption has a test above',
};
const severe = ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'];

test('testssl.sh finds nothing of medium severity or above', async (t) => {
  const site = await tls_server(t);
  const report = path.join(temporary_folder(), 'report.json');
  const { code, out, err } = await run(
    'testssl',
    [
      '--quiet',
      '--color',
      '0',
      '--warnings',
      'batch',
      '--ip',
      '127.0.0.1',
      '--jsonfile',
      report,
      `https://localhost:${site.port}/livez`,
    ],
    { timeout_ms: 600_000 * patience },
  ).catch((error) =>
    assert.fail(
      /no program/.test(error.message) ? 'testssl.sh is missing; scripts/setup installs it' : error,
    ),
  );
  assert.ok(fs.existsSync(report), `testssl ended with ${code}:\n${out.slice(-2000)}${err}`);
  const findings = JSON.parse(fs.readFileSync(report, 'utf8'));
  const of = (id) => findings.find((each) => each.id === id)?.finding;
  // It has looked, and at our server.
  assert.match(of('TLS1_2'), /offered/);
  assert.match(of('TLS1_3'), /offered/);
  assert.match(of('ALPN_HTTP2') ?? 'not offered', /not offered/);
  assert.match(of('HSTS') ?? of('HSTS_time'), /365 days/);
  assert.match(of('heartbleed'), /not vulnerable/);
  assert.ok(findings.length > 100, `${findings.length} findings`);
  const found = findings.filter(
    ({ id, severity }) =>
      (severe.includes(severity) && !(id in of_the_tests)) || (severity === 'WARN' && !(id in of_the_tool)),
  );
  assert.deepEqual(found, []);
  const unused = Object.keys(of_the_tests).filter(
    (id) => !findings.some((each) => each.id === id && severe.includes(each.severity)),
  );
  assert.deepEqual(unused, [], 'an exception that nothing needs');
});
