// SPDX-License-Identifier: Apache-2.0
// The requests of bench/lobby.mjs whose latency counts, from a process of their own. The parent sends
// {port, every_ms, targets: [{name, method, path, tokens}]}; a target with several tokens uses each once.
// The parent sends 'end' and gets [{name, at, ms, status}], at: Unix time in ms. A latency begins when its
// request was due. The target 'own timer' is how late this process was itself.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const samples = [];
let [timer, due, round] = [undefined, 0, 0];
const now = () => performance.timeOrigin + performance.now();

function ask(port, { name, method, path, tokens }, began) {
  const token = tokens.length > 1 ? tokens[round] : tokens[0];
  if (token === undefined) return;
  const note = (status) => samples.push({ name, at: began, ms: now() - began, status });
  const request = http.request(
    {
      host: '127.0.0.1',
      port,
      method,
      path,
      agent,
      headers: { Authorization: `Bearer ${token}`, ...(method === 'POST' && { 'Content-Length': 0 }) },
    },
    (answer) => answer.resume().on('end', () => note(answer.statusCode)),
  );
  request.on('error', () => note(0)).end();
}

process.on('message', (message) => {
  if (message === 'end') {
    clearInterval(timer);
    setTimeout(() => process.send(samples, () => process.exit(0)), 500); // answers that are on their way
    return;
  }
  const { port, every_ms, targets } = message;
  due = now();
  timer = setInterval(() => {
    // As many as were due: a busy process leaves none out.
    for (; due <= now(); due += every_ms, ++round) {
      samples.push({ name: 'own timer', at: due, ms: now() - due, status: 200 });
      for (const target of targets) ask(port, target, due);
    }
  }, every_ms / 2);
});
process.on('disconnect', () => process.exit(1)); // the parent has ended
