// SPDX-License-Identifier: Apache-2.0
// Every fault of the campaign and the tests that inject it. Each run of a row is one of its tests, in turn,
// with a seed of its own.

/** How often a row runs: a fault of the ledger or of leases, and any other one. */
const ledger_times = 20;
const times = 5;

/** Tests of a file in tests/blackbox, by name or by a part of it. '': all. */
const blackbox = (file, ...names) => names.map((name) => ({ file, name }));
/** The same on hosts of their own (tests/blackbox/hosts.mjs). */
const on_hosts = (file, ...names) => names.map((name) => ({ file, name, hosts: true }));
/** They measure what others would disturb. */
const alone = (tests) => tests.map((test) => ({ ...test, alone: true }));
/** With the long outage of FAIRQUEUE_LONG=1. */
const long = (tests) => tests.map((test) => ({ ...test, long: true }));
/** Suites of build/release/tests/<program>/test_<program>. */
const suites = (program, ...names) => names.map((name) => ({ program, name }));

export const rows = [
  {
    id: 'F01',
    fault: 'kill -9 after the commit, before Redis or the client hears of it',
    times: ledger_times,
    tests: [
      ...blackbox('faults_redis', 'kill -9 after the commit and before the cache write'),
      ...blackbox('faults_postgres', 'kill -9 after the commit and before anybody heard of it'),
    ],
  },
  {
    id: 'F02',
    fault: 'Redis says that less is left than there is (Redis is only written after the commit)',
    times,
    tests: blackbox('faults_redis', 'the mirror says that nothing is left'),
  },
  {
    id: 'F03',
    fault: 'kill -9 after the payment is stored, before the gateway has the call',
    times,
    tests: blackbox(
      'gateways_crash',
      'stripe: while the call for a page is under way',
      'paystack: while the call for a page is under way',
      'stripe: before a refund has reached the gateway',
      'paystack: before a refund has reached the gateway',
    ),
  },
  {
    id: 'F04',
    fault: 'kill -9 after the call to the gateway, before its answer is stored',
    times,
    tests: blackbox(
      'gateways_crash',
      'stripe: when the gateway has the page',
      'paystack: when the gateway has the page',
      'stripe: when the page of which we have no answer is paid',
      'paystack: when the page of which we have no answer is paid',
      'stripe: when the gateway has refunded',
      'paystack: when the gateway has refunded',
      'while the page is being closed',
    ),
  },
  {
    id: 'F05',
    fault: 'kill -9 between the commit of a webhook and its 200',
    times,
    tests: blackbox(
      'gateways_crash',
      'stripe: between the commit of a webhook and its 200',
      'paystack: between the commit of a webhook and its 200',
    ),
  },
  {
    id: 'F06',
    fault: 'kill -9 at 200 random moments of sales on Postgres, 8 in each run',
    times: 25,
    tests: blackbox('faults_postgres', 'kill -9 at random moments, 8 times'),
  },
  {
    id: 'F06a',
    fault: 'kill -9 in a loop, often before the server is ready, 10 in each run',
    times: ledger_times,
    tests: blackbox('faults_postgres', 'kill -9 in a loop'),
  },
  {
    id: 'F07',
    fault: 'COMMIT is sent, and the connection ends before or after it is done, unheard',
    times: ledger_times,
    tests: blackbox(
      'faults_postgres',
      'connections are cut before or after a COMMIT',
      'latency, then connections cut anywhere',
      'half-open connections',
    ),
  },
  {
    id: 'F08',
    fault: 'Postgres restarts, fast or immediate, or is away for a minute',
    times: ledger_times,
    tests: [
      ...blackbox('faults_postgres', 'Postgres restarts, fast', 'Postgres restarts, immediate'),
      ...long(blackbox('faults_postgres', 'Postgres is away')),
    ],
  },
  {
    id: 'F09',
    fault: 'Postgres fails over to its synchronous standby, 5 times in each run',
    times: 4,
    tests: alone(on_hosts('postgres_ha', 'the primary ends five times in a sale of 3,000')),
  },
  {
    id: 'F10',
    fault: 'Postgres fails over to an asynchronous standby that lacks commits',
    times: ledger_times,
    tests: alone(on_hosts('postgres_ha', 'a failover that loses commits stops the event')),
  },
  {
    id: 'F11',
    fault: 'storms of serialization failures and deadlocks',
    times: ledger_times,
    tests: blackbox('faults_postgres', 'a storm of serialization failures and deadlocks'),
  },
  {
    id: 'F12',
    fault: 'a pool of one connection, and a lock on the row of one event',
    times: ledger_times,
    tests: blackbox('faults_postgres', 'somebody holds one event, others are served'),
  },
  {
    id: 'F13',
    fault: 'FLUSHALL at random instants',
    times,
    tests: blackbox('faults_redis', 'FLUSHALL at random instants'),
  },
  {
    id: 'F14',
    fault: 'Redis is down, read-only, out of memory, stalls for 5 s, or forgets its scripts',
    times,
    tests: [
      ...blackbox(
        'faults_redis',
        'Redis is stopped, and comes back empty',
        'Redis refuses to write',
        'Redis is out of memory',
        'Redis stalls for 5 s',
        'Redis forgets its scripts',
        'a start without Redis',
        'connections to Redis hang, then break',
      ),
      ...blackbox('two_nodes', 'Redis stalls, with the owner', 'Redis is killed: the owner continues'),
    ],
  },
  {
    id: 'F15',
    fault: 'Redis restarts from an old RDB',
    times,
    tests: blackbox('faults_redis', 'Redis restarts from an old RDB'),
  },
  {
    id: 'F16',
    fault: 'a failover of Redis that loses writes, and back',
    times,
    tests: blackbox('faults_redis', 'two primaries'),
  },
  {
    id: 'F17',
    fault: 'a webhook 50 times in parallel',
    times,
    tests: blackbox(
      'gateways',
      'stripe: fifty copies at once, shuffled',
      'paystack: fifty copies at once, shuffled',
    ),
  },
  {
    id: 'F18',
    fault: 'webhooks out of order',
    times,
    tests: blackbox(
      'gateways',
      'news of an expired session that come after its payment',
      'stripe: a slow payment method',
      'stripe: fifty copies at once, shuffled',
      'paystack: fifty copies at once, shuffled',
    ),
  },
  {
    id: 'F19',
    fault: 'a webhook before the answer to our own call is stored',
    times,
    tests: blackbox(
      'gateways',
      'stripe: paid and told before our own call is answered',
      'paystack: paid and told before our own call is answered',
    ),
  },
  {
    id: 'F20',
    fault: 'money after the hold has ended, and after the ticket was sold to another',
    times,
    tests: blackbox(
      'gateways',
      'stripe: money after the last ticket was sold to another',
      'paystack: money after the last ticket was sold to another',
      'stripe: money after the hold buys',
      'paystack: money after the hold buys',
      'money for an order that was given up',
      'money for a page of before',
    ),
  },
  {
    id: 'F21',
    fault: 'the webhook never arrives',
    times,
    tests: blackbox(
      'gateways',
      'stripe: paid in the last moment and nobody tells',
      'paystack: paid in the last moment and nobody tells',
    ),
  },
  {
    id: 'F22',
    fault: 'forged and edited webhooks, of another tenant, amount or currency',
    times,
    tests: [
      ...blackbox(
        'gateways',
        'stripe: what is not signed',
        'paystack: what is not signed',
        'waits for a person, who sends it back',
        'a report that the gateway itself does not confirm',
      ),
      ...blackbox('sale', 'webhooks: repeats have one effect'),
    ],
  },
  {
    id: 'F23',
    fault: 'a gateway hangs, refuses, answers garbage or cuts the connection',
    times,
    tests: blackbox(
      'gateways_faults',
      'stripe: a call for a page that',
      'paystack: a call for a page that',
      'stripe: what is lost on the way to the end',
      'paystack: what is lost on the way to the end',
      'a gateway that is away',
    ),
  },
  {
    id: 'F24',
    fault: 'the wall clock jumps by an hour and by two days, or is 90 s ahead on one node',
    times,
    tests: [
      ...blackbox(
        'clock',
        'a sale: nothing expires',
        'a waiting room: sessions stay accepted',
        'a start with a clock an hour slow',
      ),
      ...on_hosts('cluster_hosts', 'the wall clock of the owner is 90 s ahead'),
    ],
  },
  {
    id: 'F25',
    fault: 'SIGSTOP of the owner beyond its lease, then SIGCONT',
    times: ledger_times,
    tests: [
      ...blackbox('faults_postgres', 'SIGSTOP beyond the lease'),
      ...on_hosts('cluster_hosts', 'the owner stands still beyond its lease'),
      ...blackbox('two_nodes', 'the owner is frozen'),
    ],
  },
  {
    id: 'F26',
    fault: 'cuts between nodes, Postgres and Redis, in both directions and in one',
    times: ledger_times,
    tests: [
      ...on_hosts(
        'cluster_hosts',
        'two nodes are cut from each other (drop)',
        'two nodes are cut from each other (reset)',
        'one node does not hear another',
        'the owner is cut from Postgres (drop)',
        'the owner is cut from Postgres (reset)',
        'the owner does not hear Postgres',
        'the owner is cut from Redis',
        'the owner is killed',
      ),
      ...blackbox(
        'two_nodes',
        'the owner cannot reach Redis',
        'the owner admits while it cannot reach Redis',
      ),
    ],
  },
  {
    id: 'F27',
    fault: 'slow WebSockets: some read a byte a second, some nothing',
    times,
    tests: on_hosts('faults_clients', 'slow WebSockets'),
  },
  {
    id: 'F28',
    fault: 'all sockets are dropped at once and reconnect, with and without jitter',
    times,
    tests: [
      ...alone(on_hosts('faults_clients', 'all sockets are dropped at once')),
      ...alone(blackbox('cluster', 'a node is killed under 3,000 sockets')),
    ],
  },
  {
    id: 'F29',
    fault: 'all join in the first second',
    times,
    tests: alone(on_hosts('faults_clients', 'all join in the first second')),
  },
  {
    id: 'F30',
    fault: 'the disk of the log, of SQLite or of Postgres is full',
    times: ledger_times,
    tests: on_hosts(
      'faults_machine',
      'the disk of SQLite is full',
      'the disk of Postgres is full',
      'the disk of the log is full',
    ),
  },
  {
    id: 'F31',
    fault: 'no descriptor, or no local port, is left',
    times,
    tests: on_hosts('faults_machine', 'no descriptor is left', 'no local port is left'),
  },
  {
    id: 'F32',
    fault: 'the OOM killer ends the process',
    times,
    tests: on_hosts('faults_machine', 'the OOM killer'),
  },
  {
    id: 'F33',
    fault: 'SIGTERM under load',
    times,
    tests: [
      ...blackbox(
        'drain',
        'SIGTERM in the middle of a busy sale',
        'SIGTERM: not ready while it drains',
        'sockets get draining, then 1012',
        'a current request is answered',
      ),
      ...alone(blackbox('cluster', 'a rolling restart')),
    ],
  },
  {
    id: 'F34',
    fault: 'a rolling upgrade, old and new program on one ledger',
    times: ledger_times,
    tests: on_hosts(
      'cluster_hosts',
      'a rolling upgrade to a release',
      'a rolling restart',
      'from one node to three to two',
    ),
  },
  {
    id: 'F35',
    fault: 'NATS and a push provider away for ten minutes, mail servers for one',
    times,
    tests: [
      ...long(blackbox('events', 'NATS away for longer than it knows duplicates')),
      ...blackbox('events', 'NATS killed and away while a sale goes on'),
      ...long(blackbox('mail_outage', 'after an outage the mail server', 'after an outage NATS')),
      ...long(blackbox('push', 'FCM is down')),
      ...blackbox('push', 'every admission is told once'),
    ],
  },
  {
    id: 'F36',
    fault: 'unreadable rows of the outbox; requests that are no JSON, too large or invalid UTF-8',
    times,
    tests: [
      ...blackbox('faults_postgres', 'rows of the outbox that nobody can read'),
      ...blackbox('bad_input', ''), // all of it: its last test ends its server
    ],
  },
  {
    id: 'F37',
    fault: 'concurrency below the active sessions, stock below what is sold, in a running sale',
    times,
    tests: [
      ...on_hosts('faults_clients', 'the organizer lowers'),
      ...blackbox('waiting_room', 'settings change during operation', 'sessions survive kill -9'),
    ],
  },
  {
    id: 'F38',
    fault: 'kill -9 at 200 random moments of sales on SQLite, 8 in each run',
    times: 25,
    tests: blackbox('crash', 'a sale, killed 8 times'),
  },
  {
    id: 'F38a',
    fault: 'SQLite: a second process opens the file; power fails or the disk errs at any call',
    times: ledger_times,
    tests: [
      ...blackbox('cli', 'a second server on the same data folder is refused'),
      ...suites('store', 'store_sqlite_kill', 'store_sqlite_power', 'store_sqlite_power_random'),
    ],
  },
  {
    id: 'F38b',
    fault: 'kill -9 in a sale of reserved seats, on SQLite 4 times and on Postgres 8 times in each run',
    times: ledger_times,
    tests: [
      ...blackbox('load', 'seats by checkout with required questions'),
      ...blackbox('faults_postgres', 'kill -9 at random moments of a sale of seats'),
    ],
  },
];
