#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Checks a log from the command line.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { http_reader } from './http.mjs';
import { verify } from './verify.mjs';

const usage = `usage: cli.mjs URL | --from FOLDER [options]
  URL               a server's address with --event or --queue, or the address of a log (…/events/ID/log)
  --from FOLDER     a mirrored log instead: checkpoint, key, tile/… (with --event: events/ID/log/…)
  --event ID        the event
  --queue ID        the standalone queue instead
  --receipt FILE    a receipt (*.tlog-proof); may be repeated
  --checkpoint FILE a checkpoint seen before; may be repeated
  --seen FILE       checkpoints of earlier runs; the new one is added after a run that passes
  --log-key KEY     the log's verifier key, from another source than the server
  --witness KEY     a witness's verifier key; may be repeated
  --quorum N        how many of the witnesses must have signed (default: all)
  --announced TEXT  what was announced as the value of the draw, letter by letter
  --draw KIND       the draw that was promised: none or at_opening
  --beacon BEACON   the beacon that was promised: none, drand:CHAIN:ROUND or announced:TEXT
  --chain FILE      /info of a drand chain other than quicknet
exit code: 0 all checks passed, 1 one failed, 2 the log cannot be read, 3 something is not proven`;

const many = { type: 'string', multiple: true, default: [] };
const one = { type: 'string' };

function read_arguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'from': one,
      'event': one,
      'queue': one,
      'receipt': many,
      'checkpoint': many,
      'seen': one,
      'log-key': one,
      'witness': many,
      'quorum': one,
      'announced': one,
      'draw': one,
      'beacon': one,
      'chain': many,
      'help': { type: 'boolean' },
    },
  });
  if (values.help || positionals.length !== (values.from ? 0 : 1)) throw new Error(usage);
  if (!['none', 'at_opening', undefined].includes(values.draw)) throw new Error(usage);
  if (!/^(none|drand:[0-9a-f]{64}:[1-9]\d*|announced:[^]+)$/.test(values.beacon ?? 'none'))
    throw new Error(usage);
  return { ...values, url: positionals[0] };
}

function reader(args) {
  const place = args.event ? 'events' : 'queues';
  const id = args.event ?? args.queue;
  const below = id ? `${place}/${encodeURIComponent(id)}/log/` : '';
  if (args.from) return (name) => fs.promises.readFile(path.join(args.from, below, name));
  return http_reader(new URL(below, args.url.endsWith('/') ? args.url : `${args.url}/`));
}

/** Texts of a server may have what a terminal would obey. */
const printable = (text) => text.replace(/\p{C}/gu, '?');

/** A note has one empty line within it, so two stand between notes. */
const separator = '\n\n\n';
function notes_in(file) {
  const all = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  // Notes end their last line: the file has more newlines between two than the separator.
  return all
    .split(/\n{3,}/)
    .map((note) => note.trim())
    .filter(Boolean);
}

async function main() {
  const args = read_arguments();
  const text = (file) => fs.readFileSync(file, 'utf8');
  const before = args.seen ? notes_in(args.seen) : [];
  const { findings, result, checkpoint } = await verify(reader(args), {
    receipts: args.receipt.map(text),
    checkpoints: [...before, ...args.checkpoint.map(text)],
    log_key: args['log-key'],
    witnesses: args.witness,
    quorum: args.quorum === undefined ? undefined : Number(args.quorum),
    event: args.event ?? args.queue,
    announced: args.announced,
    promised: { draw: args.draw, beacon: args.beacon },
    patience: args.from ? 0 : 3,
    now: args.from ? undefined : Date.now,
    chains: args.chain.map((file) => JSON.parse(text(file))),
  });
  for (const f of findings) console.log(`${f.result.padEnd(9)} ${f.check.padEnd(12)} ${printable(f.text)}`);
  if (args.seen && result !== 'failed' && !before.includes(checkpoint.trim()))
    fs.writeFileSync(args.seen, [...before, checkpoint].join(separator));
  return { passed: 0, failed: 1, unproven: 3 }[result];
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message === usage ? usage : printable(error.message));
  process.exitCode = 2;
}
