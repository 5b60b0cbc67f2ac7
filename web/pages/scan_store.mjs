// SPDX-License-Identifier: Apache-2.0
// What a scanner keeps in IndexedDB: its token and settings, the tickets of its list, scans that wait for the
// network, and conflicts.

const stores = { settings: null, tickets: null, waiting: 'nonce', conflicts: 'nonce' };

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Resolves once the transaction is on disk. */
const finished = (transaction) =>
  new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });

/** Earlier pages kept a holder who had passed against the rules with `force` only. */
export const as_kept_now = (scan) =>
  scan.force && !scan.refused && !scan.passed ? { ...scan, passed: true } : scan;

export async function open_store() {
  const request = indexedDB.open('fairqueue-scan', 1);
  request.onupgradeneeded = () => {
    for (const [name, key] of Object.entries(stores))
      request.result.createObjectStore(name, key ? { keyPath: key } : {});
  };
  const db = await done(request);
  const read = (name, work) => done(work(db.transaction(name).objectStore(name)));
  const write = (names, work) => {
    const transaction = db.transaction(names, 'readwrite', { durability: 'strict' });
    work(...names.map((name) => transaction.objectStore(name)));
    return finished(transaction);
  };
  return {
    setting: (name) => read('settings', (s) => s.get(name)),
    set: (name, value) => write(['settings'], (s) => s.put(value, name)),
    /** Adds rows of the state and its version in one step. */
    keep_state: (state, rows, is_reset) =>
      write(['settings', 'tickets'], (settings, tickets) => {
        if (is_reset) tickets.clear();
        for (const row of rows) tickets.put(row, row[0]);
        settings.put(state, 'state');
      }),
    tickets: () => read('tickets', (s) => s.getAll()),
    waiting: async () => (await read('waiting', (s) => s.getAll())).map(as_kept_now),
    /** A ticket whose state this phone knows better than the last state of the list. */
    keep_ticket: (row) => write(['tickets'], (s) => s.put(row, row[0])),
    /** `row`: the ticket, if its holder passed. */
    add_waiting: (scan, row) =>
      write(['waiting', 'tickets'], (waiting, tickets) => {
        waiting.put(scan);
        if (row) tickets.put(row, row[0]);
      }),
    /** Sent scans leave; what replaces them enters in the same step. */
    settle: (sent, more, conflicts) =>
      write(['waiting', 'conflicts'], (waiting, known) => {
        for (const nonce of sent) waiting.delete(nonce);
        for (const scan of more) waiting.put(scan);
        for (const conflict of conflicts) known.put(conflict);
      }),
    conflicts: () => read('conflicts', (s) => s.getAll()),
  };
}
