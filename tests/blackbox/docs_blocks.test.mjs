// SPDX-License-Identifier: Apache-2.0
// The ```sh blocks of README.md and docs/guide/*.md do what they say. Those of a document run in order in
// one bash, against a demo server that is started as scripts/run starts it. Each document has a network
// namespace of its own, where the documents' ports are free (needs root). ```console blocks do not run here.
import { describe, it } from 'node:test';
import fs from 'node:fs';
import path from 'node:path';
import { assert, fairqueue, fairqueue_load, root, run, temporary_folder } from './lib.mjs';

const guides = fs.readdirSync(path.join(root, 'docs/guide')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', ...guides.map((name) => `docs/guide/${name}`)];

/** The blocks of a document as one script; a failure names the block's first line. */
function script_of(document) {
  const lines = fs.readFileSync(path.join(root, document), 'utf8').split('\n');
  const script = [`trap 'echo "${document}: the block at line $block failed" >&2' ERR`];
  let is_inside = false;
  lines.forEach((line, index) => {
    if (!is_inside && line === '```sh') {
      is_inside = true;
      script.push(`block=${index + 1}`);
    } else if (is_inside && line === '```') is_inside = false;
    else if (is_inside) script.push(line);
    else assert.doesNotMatch(line, /^\s+```sh/, `${document}:${index + 1}: an indented block would not run`);
  });
  assert.ok(!is_inside, `${document}: the last block does not end`);
  return script.length > 1 ? script.join('\n') : undefined;
}

/** $1: the script of the blocks. Runs in a fresh network namespace. */
const beside_a_server = `set -euo pipefail
ip link set lo up
build/release/app/fairqueue serve --demo >server.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for ((i = 0; i < 200; i++)); do
  if build/release/app/fairqueue healthcheck >/dev/null 2>&1; then break; fi
  sleep 0.1
done
bash -Eeuo pipefail "$1" </dev/null || { tail -n 20 server.log >&2; exit 1; }
kill "$server"
wait "$server"`;

describe('shell blocks of the documents', { concurrency: documents.length }, () => {
  for (const document of documents) {
    const script = script_of(document);
    it(document, { skip: script === undefined && 'no block', timeout: 150_000 }, async () => {
      const cwd = temporary_folder();
      for (const [name, program] of Object.entries({ app: fairqueue, load: fairqueue_load })) {
        fs.mkdirSync(path.join(cwd, 'build/release', name), { recursive: true });
        fs.symlinkSync(program, path.join(cwd, 'build/release', name, path.basename(program)));
      }
      fs.symlinkSync(path.join(root, 'web'), path.join(cwd, 'web'));
      fs.writeFileSync(path.join(cwd, 'blocks.sh'), script);
      const inside = [
        'unshare',
        '--net',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        '--',
        'bash',
        '-c',
        beside_a_server,
      ];
      const end = await run('setpriv', ['--pdeathsig', 'KILL', '--', ...inside, 'bash', 'blocks.sh'], {
        cwd,
        timeout_ms: 140_000,
      });
      assert.equal(end.code, 0, `${document}:\n${end.out}\n${end.err}`);
    });
  }

  it('a block that fails is found', { timeout: 10_000 }, async () => {
    const script = script_of('README.md').replace(/^block=.*$/m, '$&\nfalse');
    const end = await run('bash', ['-Eeuo', 'pipefail', '-c', script]);
    assert.notEqual(end.code, 0);
    assert.match(end.err, /README\.md: the block at line \d+ failed/);
  });
});
