// SPDX-License-Identifier: Apache-2.0
// A receiver's check of webhooks with the library of Standard Webhooks. Reads the named file, a JSON array of
// {secret, headers, body}, and prints a line for each: "verified", or the reason why not.
import fs from 'node:fs';
import { createRequire } from 'node:module';

const { Webhook, WebhookVerificationError } = createRequire(
  new URL('../blackbox/package.json', import.meta.url),
)('standardwebhooks');

for (const { secret, headers, body } of JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))) {
  try {
    new Webhook(secret).verify(body, headers);
    console.log('verified');
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(error.message);
  }
}
