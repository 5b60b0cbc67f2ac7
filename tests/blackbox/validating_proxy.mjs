// SPDX-License-Identifier: Apache-2.0
// Prism between a test and the server. With FAIRQUEUE_TEST_PRISM set, requests go through it, and it compares
// every request and answer with docs/openapi.yaml. Built from parts of prism-cli in this process, because a
// process for each server would take a second each.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

/** Whether this run uses Prism. */
export const is_on = Boolean(process.env.FAIRQUEUE_TEST_PRISM);

/**
 * Prism rewrites bodies. Requests that it would change bypass it, as do HEAD, OPTIONS and raw connections of
 * tests.
 */
export function can_carry({ method, target, bytes, admin, agent }) {
  if (!is_on || admin || agent || method === 'HEAD' || method === 'OPTIONS') return false;
  if (target.startsWith('//')) return false; // Prism reads a host there
  if (bytes === undefined) return true;
  try {
    const value = JSON.parse(bytes);
    return value instanceof Object && Buffer.from(JSON.stringify(value)).equals(Buffer.from(bytes));
  } catch {
    return false;
  }
}

const quiet = Object.fromEntries(
  ['trace', 'debug', 'info', 'success', 'start', 'warn', 'error', 'fatal'].map((level) => [level, () => {}]),
);
quiet.child = () => quiet;

let operations;

export class ValidatingProxy {
  /** Listens on `port` for the server at `upstream`, like `prism proxy`. */
  static async start(description, upstream, port) {
    const require_of_prism = createRequire(createRequire(import.meta.url).resolve('@stoplight/prism-cli'));
    const { createServer } = require_of_prism('@stoplight/prism-http-server');
    const { getHttpOperationsFromSpec } = require_of_prism('@stoplight/prism-http');
    operations ??= getHttpOperationsFromSpec(description);
    const proxy = new ValidatingProxy();
    proxy.server = createServer(await operations, {
      cors: false,
      components: { logger: quiet },
      config: {
        isProxy: true,
        upstream: new URL(upstream),
        validateRequest: true,
        validateResponse: true,
        checkSecurity: true,
        errors: false,
        mock: { dynamic: false },
      },
    });
    await proxy.server.listen(port, '127.0.0.1');
    proxy.port = port;
    return proxy;
  }

  /** Fails if an answer differs from the description, or if a request differs and was not refused. */
  check(about, answer) {
    const text = answer.headers['sl-violations'];
    if (text === undefined) return;
    // Warnings are undocumented statuses and content types.
    const violations = text.startsWith('[')
      ? JSON.parse(text)
      : [{ location: ['response'], severity: 'Error', message: text }];
    const errors = violations.filter(({ location, severity }) =>
      location[0] === 'response'
        ? severity === 'Error' || severity === 'Warning'
        : severity === 'Error' && answer.status < 400,
    );
    assert.deepEqual(errors, [], `${about}: not as docs/openapi.yaml says`);
  }

  close() {
    return this.server.close();
  }
}
