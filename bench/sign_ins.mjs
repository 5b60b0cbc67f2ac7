// SPDX-License-Identifier: Apache-2.0
// Customers sign in by mailed codes at an even rate, against an SMTP server that takes `delay` ms a mail.
// Each comes from an address of its own, reads the mail and enters the code.
// Prints how many signed in, the answers to the others, and p50/p99/max of the time from the request until
// the mail is there.
// Usage: node bench/sign_ins.mjs [per_second=50] [seconds=30] [delay_ms=250]   (after a release build)
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { Server, root, sleep, temporary_folder } from '../tests/blackbox/lib.mjs';

const [per_second = 50, seconds = 30, delay_ms = 250] = process.argv.slice(2).map(Number);
const mailbox = path.join(temporary_folder(), 'mailbox');
const sink = spawn(
  '/usr/bin/python3',
  [path.join(root, 'tests/support/smtp_sink.py'), mailbox, '--delay', String(delay_ms / 1000)],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
const port = String(await once(sink.stdout, 'data')).trim();
const server = await Server.start({
  settings: {
    'mail.mode': 'smtp',
    'mail.smtp_url': `smtp://127.0.0.1:${port}`,
    'mail.smtp_insecure': true,
    'http.trusted_proxies': '127.0.0.1/32',
  },
});

/** By address: when its mail was there, and the code. */
const mails = new Map();
let read = 0;
const look = () => {
  if (!fs.existsSync(mailbox)) return;
  const text = fs.readFileSync(mailbox, 'utf8');
  const end = text.lastIndexOf('\n') + 1;
  for (const line of text.slice(read, end).split('\n').filter(Boolean)) {
    const { to, mail } = JSON.parse(line);
    mails.set(to[0], { at: performance.now(), code: /\b(\d{6})\b/.exec(JSON.stringify(mail))[1] });
  }
  read = end;
};
const looking = setInterval(look, 20);

const waits = [];
const answers = {};
const count = (what) => (answers[what] = (answers[what] ?? 0) + 1);
async function sign_in(n) {
  const email = `fan-${n}@example.org`;
  const headers = { 'X-Forwarded-For': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  const begin = performance.now();
  const asked = await server.post('/auth/customer/otp/request', { body: { email }, headers });
  if (asked.status !== 202)
    return count(`request ${asked.status} Retry-After ${asked.headers['retry-after']}`);
  while (!mails.has(email)) {
    if (performance.now() - begin > 60_000) return count('no mail within a minute');
    await sleep(20);
  }
  const { at, code } = mails.get(email);
  waits.push(at - begin);
  const body = { email, otp: code, handle: asked.json.handle };
  count(`verify ${(await server.post('/auth/customer/otp/verify', { body, headers })).status}`);
}

const all = [];
const begin = performance.now();
for (let n = 0; n < per_second * seconds; ++n) {
  await sleep(Math.max(0, begin + (n * 1000) / per_second - performance.now()));
  all.push(sign_in(n));
}
await Promise.all(all);
clearInterval(looking);
waits.sort((a, b) => a - b);
const at = (share) => Math.round(waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]);
console.log(`${per_second}/s for ${seconds} s, ${delay_ms} ms a mail:`, answers);
console.log(`mail after ms: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`);
await server.stop();
sink.kill();
