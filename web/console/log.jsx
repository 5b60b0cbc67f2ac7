// SPDX-License-Identifier: Apache-2.0
// The public log of an event or queue: its newest checkpoint, and the witnesses that have cosigned it.
import { useRef } from 'preact/hooks';
import { bundles } from '../verify/merkle.mjs';
import {
  parse_checkpoint,
  parse_checkpoints,
  parse_log_key,
  parse_witness_key,
  signed_at,
} from '../verify/note.mjs';
import { parse_bundle, parse_record } from '../verify/records.mjs';
import { get_bytes, public_url } from './api.mjs';
import { number, time } from './format.mjs';
import { Badge, ProblemNote, Table, use_loaded } from './parts.jsx';

const look_every_ms = 5_000;

let witnesses = [];
/** Sets the witnesses of this installation: their verifier keys. Call before the first view. */
export const know_witnesses = (keys) => (witnesses = keys.map(parse_witness_key));

const text_of = (bytes) => new TextDecoder().decode(bytes);

/** Time of the last record below a checkpoint, in ms. */
async function newest_record(read, size) {
  let last;
  for (const bundle of bundles(size)) last = bundle;
  const entries = last ? parse_bundle(await read(last.path)) : [];
  return entries.length > 0 ? parse_record(entries.at(-1)).at : null;
}

/** The last cosignature of each witness: of these checkpoints, the newest first, or seen before. */
const cosigned_after = (checkpoints, before) =>
  witnesses.map((key, i) => {
    const last = checkpoints.find((each) => signed_at(each, key) !== null);
    return last ? { size: last.size, at: signed_at(last, key) * 1000 } : (before?.[i] ?? null);
  });

/** `before`: the last result. Null: the log has not begun. */
async function read_log(path, before, signal) {
  const read = (name) => get_bytes(`${path}/${name}`, { signal });
  const read_if_any = (name) =>
    read(name).catch((problem) => {
      if (problem.status === 404) return null;
      throw problem;
    });
  const note = await read_if_any('checkpoint');
  if (!note) return null;
  const earlier = witnesses.length > 0 ? await read_if_any('checkpoint.cosigned') : null;
  const cosigned = earlier ? parse_checkpoints(text_of(earlier)).sort((a, b) => b.size - a.size) : [];
  const checkpoint = parse_checkpoint(text_of(note));
  const { origin, size } = checkpoint;
  const key = before?.key.name === origin ? before.key : parse_log_key(text_of(await read('key')));
  const is_same = before?.origin === origin && before.size === size;
  return {
    ...{ origin, size, key },
    is_signed: signed_at(checkpoint, key) !== null,
    newest: is_same ? before.newest : await newest_record(read, size),
    cosigned: cosigned_after([checkpoint, ...cosigned], before?.origin === origin ? before.cosigned : null),
  };
}

const state_of = (log, last) => (!last ? 'unsigned' : last.size === log.size ? 'signed' : 'behind');

function Witnesses({ log }) {
  if (witnesses.length === 0)
    return (
      <p>No witness cosigns it (setting witness.urls): people must trust this server not to show two logs.</p>
    );
  return (
    <Table
      label="Witnesses"
      rows={witnesses.map((key, i) => ({ name: key.name, last: log.cosigned[i] }))}
      key_of={(row) => row.name}
      columns={[
        ['Witness', (row) => <span class="id">{row.name}</span>],
        [
          'Checkpoint',
          (row) => (
            <>
              <Badge name={state_of(log, row.last)} />{' '}
              {row.last && <span class="small">{time(row.last.at)}</span>}
            </>
          ),
        ],
      ]}
    />
  );
}

/** `path`: of the event or queue. */
export function LogState({ path, id }) {
  const root = `${path}/log`;
  const latest = useRef(null);
  const { data: log, problem } = use_loaded(
    async (signal) => (latest.current = await read_log(root, latest.current, signal)),
    root,
    look_every_ms,
  );
  return (
    <section class="card" aria-labelledby="log-title">
      <h2 id="log-title">Public log</h2>
      <p class="soft">Everything that decides the order, also your interventions. Anybody can check it.</p>
      <ProblemNote problem={problem} />
      {log === null && <p>It has not begun yet.</p>}
      {log && (
        <>
          {!log.is_signed && <p class="problem">The newest checkpoint is not signed by the log’s key.</p>}
          <dl class="facts">
            <dt>Records</dt>
            <dd>{number(log.size)}</dd>
            <dt>Newest</dt>
            <dd>{time(log.newest)}</dd>
          </dl>
          <Witnesses log={log} />
          <ul class="plain-list">
            {[
              [`/fairness/${id}`, 'Page that checks it'],
              [`${root}/checkpoint`, 'Newest checkpoint'],
              [`${root}/key`, 'Key of the log'],
            ].map(([to, text]) => (
              <li key={to}>
                <a href={public_url(to)} target="_blank" rel="noopener">
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
