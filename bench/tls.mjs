// SPDX-License-Identifier: Apache-2.0
// The cost of TLS: plain and TLS (1.3, ECDSA P-256) in turn at the same server. Durable joins over kept
// connections by wrk. Then connections with one request each, whose difference is the cost of a handshake: by
// wrk without TLS, by "openssl s_time -new" with TLS, which resumes no session. The server's own count of
// full handshakes must agree.
// Usage: node bench/tls.mjs [rounds=5] [seconds=3]   (after a release build)
import { Authority } from '../tests/support/certificates.mjs';
import { free_port, run, temporary_folder } from '../tests/blackbox/lib.mjs';
import { bench, cost_of, crowd, median, start, tokens_of, waiting_event } from './parts.mjs';

const [rounds, seconds] = [process.argv[2] ?? 5, process.argv[3] ?? 3].map(Number);
const joins_a_second_max = 80_000;

/** Opens connections with a full handshake and one request each; returns their number. */
async function connect_again_and_again(port) {
  const { code, out, err } = await run(
    'openssl',
    ['s_time', '-connect', `127.0.0.1:${port}`, '-new', '-www', '/livez', '-time', String(seconds)],
    { timeout_ms: (seconds + 60) * 1000 },
  );
  const made = /^(\d+) connections in (\d+) real seconds, (\d+) bytes/m.exec(out);
  if (code !== 0 || !made || Number(made[3]) === 0) throw new Error(`openssl s_time: ${out}${err}`);
  return { requests: Number(made[1]) };
}

await bench(async (end_with) => {
  const folder = temporary_folder();
  const own = new Authority(folder).issue('own');
  const port = await free_port();
  const server = await start(end_with, {
    'tls.listen': `127.0.0.1:${port}`,
    'tls.certificate': own.certificate,
    'tls.key': own.key,
  });
  const roots = { plain: server.url, tls: `https://127.0.0.1:${port}` };
  const handshakes = async () =>
    Number(
      /^fairqueue_tls_handshakes_total\{result="full"\} (\S+)$/m.exec(
        (await server.get('/metrics', { admin: true })).text,
      )[1],
    );
  const seen = {
    plain: { joins: [], join_us: [], request_us: [] },
    tls: { joins: [], join_us: [], request_us: [] },
  };
  const ratios = [];
  const tokens = tokens_of(server, joins_a_second_max * seconds); // the same customers join each new event
  for (let round = 1; round <= rounds; ++round) {
    for (const how of round % 2 ? ['plain', 'tls'] : ['tls', 'plain']) {
      const event = await waiting_event(server);
      const joined = await cost_of(server, () =>
        crowd(`${roots[how]}/events/${event}/queue`, { method: 'POST', lines: tokens, seconds, folder }),
      );
      if (joined.result.failed > 0) throw new Error(`${how}: ${JSON.stringify(joined.result)}`);
      seen[how].joins.push(joined.result.requests / joined.result.seconds);
      seen[how].join_us.push((joined.cpu * 1e6) / joined.result.requests);
      const before = await handshakes();
      const in_the_clear = () =>
        crowd(`${roots.plain}/livez`, { seconds, closes: true, connections: 1, folder });
      const apart = await cost_of(server, how === 'tls' ? () => connect_again_and_again(port) : in_the_clear);
      const made = (await handshakes()) - before;
      const wanted = how === 'tls' ? apart.result.requests : 0;
      if (made < wanted || made > wanted + 1)
        throw new Error(`${made} full handshakes for ${apart.result.requests} requests`); // the last one was cut off at the end
      seen[how].request_us.push((apart.cpu * 1e6) / apart.result.requests);
    }
    ratios.push(seen.tls.joins.at(-1) / seen.plain.joins.at(-1));
    const last = (how, name) => seen[how][name].at(-1).toFixed(name === 'joins' ? 0 : 1);
    console.log(
      `round ${round}: joins/s plain ${last('plain', 'joins')}, TLS ${last('tls', 'joins')}, ratio ${ratios.at(-1).toFixed(3)}; CPU us a join ${last('plain', 'join_us')}, ${last('tls', 'join_us')}; ` +
        `CPU us a request on a new connection ${last('plain', 'request_us')}, ${last('tls', 'request_us')}`,
    );
  }
  const handshake_ms = (median(seen.tls.request_us) - median(seen.plain.request_us)) / 1000;
  console.log(
    `median ratio of joins/s ${median(ratios).toFixed(3)}; CPU us a join ${median(seen.plain.join_us).toFixed(1)}, ${median(seen.tls.join_us).toFixed(1)}; a full handshake: ${handshake_ms.toFixed(3)} ms of CPU`,
  );
});
