#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Copies a log to a folder, for tools that read files: mirror_log.mjs https://…/events/ID/log FOLDER
import fs from 'node:fs';
import path from 'node:path';
import { http_reader } from '../../web/verify/http.mjs';
import { parse_checkpoint } from '../../web/verify/note.mjs';

const [url, folder] = process.argv.slice(2);
const read = http_reader(url.endsWith('/') ? url : `${url}/`);

async function copy(name) {
  const bytes = await read(name);
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, bytes);
  return bytes;
}

/** The paths of a level's tiles, or of the bundles, as c2sp.org/tlog-tiles has them. */
function* tiles(prefix, hashes) {
  for (let i = 0; i * 256 < hashes; ++i) {
    const digits = String(i).padStart(Math.ceil(String(i).length / 3) * 3, '0');
    const parts = digits.match(/.{3}/g);
    const name = parts.map((part, k) => (k < parts.length - 1 ? `x${part}` : part)).join('/');
    const width = Math.min(256, hashes - i * 256);
    yield `${prefix}/${name}${width < 256 ? `.p/${width}` : ''}`;
  }
}

await copy('key');
await copy('checkpoint.cosigned').catch((error) => {
  if (error.status !== 404) throw error; // no witness has signed
});
const { size } = parse_checkpoint(new TextDecoder().decode(await copy('checkpoint')));
for (const name of tiles('tile/entries', size)) await copy(name);
for (let level = 0, hashes = size; hashes > 0; ++level, hashes = Math.floor(hashes / 256))
  for (const name of tiles(`tile/${level}`, hashes)) await copy(name);
console.log(`${size} records`);
