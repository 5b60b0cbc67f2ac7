// SPDX-License-Identifier: Apache-2.0
// How long web/verify takes for a log: `node bench/verify.mjs [entries]`, a million by default, all drawn and
// admitted.
import { Log } from '../tests/fair/log_maker.mjs';
import { verify } from '../web/verify/verify.mjs';

const count = Number(process.argv[2] ?? 1_000_000);
const log = new Log().begin().lobby();
log.step = 30 / count; // all join before the opening
for (let n = 1; n <= count; ++n) log.join(n);
log.close().draw();
log.step = 1;
for (let i = 0; i < count; i += 1000) log.admit(log.order.slice(i, i + 1000));
const read = log.reader();
const begin = process.hrtime.bigint();
const before = process.cpuUsage();
const { result } = await verify(read, { receipts: [] });
const ms = Number((process.hrtime.bigint() - begin) / 1_000_000n);
const { user, system } = process.cpuUsage(before);
const cpu = ((user + system) / 1e6).toFixed(1);
console.log(`${count} entries, ${log.records.length} records: ${result} in ${ms / 1000} s, ${cpu} s of CPU`);
