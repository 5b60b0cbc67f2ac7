// SPDX-License-Identifier: Apache-2.0
// Codes of event tickets, made from the installation's key as docs/design/tickets.md describes.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function base45(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += 2) {
    const is_pair = at + 1 < bytes.length;
    let n = is_pair ? bytes[at] * 256 + bytes[at + 1] : bytes[at];
    for (let digits = is_pair ? 3 : 2; digits > 0; digits -= 1, n = Math.floor(n / 45))
      text += alphabet[n % 45];
  }
  return text;
}

const id_bytes = (id) => Buffer.from(id.replaceAll('-', ''), 'hex');
const number_bytes = (n) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n);
  return bytes;
};

/** `code(ticket, generation)` under a private key. */
export function code_with(event, key) {
  return (ticket, generation = 1) => {
    const claims = Buffer.concat([
      Buffer.from([1]),
      id_bytes(event),
      id_bytes(ticket),
      number_bytes(generation),
    ]);
    const signature = crypto.sign(null, Buffer.concat([Buffer.from('fairqueue event ticket'), claims]), key);
    return base45(Buffer.concat([claims, signature]));
  };
}

/** `code(ticket, generation)` of the tickets of an event. */
export function ticket_codes(server, event, key_number = 0) {
  const stored = Buffer.from(
    fs.readFileSync(path.join(server.data_dir, 'keys/stored.key'), 'utf8').trim(),
    'hex',
  );
  const derive = (key, salt, info) => Buffer.from(crypto.hkdfSync('sha256', key, salt, info, 32));
  const event_key = derive(
    stored,
    'fairqueue event tickets',
    Buffer.concat([id_bytes(event), number_bytes(key_number)]),
  );
  const seed = derive(event_key, '', 'signature');
  const key = crypto.createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  return code_with(event, key);
}
