// SPDX-License-Identifier: Apache-2.0
// A server with a TLS listener and a certificate of the tests' own authority.
import https from 'node:https';
import path from 'node:path';
import { Authority, install } from '../support/certificates.mjs';
import { free_port, server_for, temporary_folder } from './lib.mjs';

/** A server with TLS, the authority that its certificate is of, and the files that it reads. */
export async function tls_server(t, { settings = {}, ...options } = {}) {
  const folder = temporary_folder();
  const authority = new Authority(folder);
  const files = { certificate: path.join(folder, 'chain.pem'), key: path.join(folder, 'key.pem') };
  install(authority.issue('first'), files);
  const port = await free_port();
  const server = await server_for(t, {
    ...options,
    settings: {
      'tls.listen': `127.0.0.1:${port}`,
      'tls.certificate': files.certificate,
      'tls.key': files.key,
      ...settings,
    },
  });
  const agent = new https.Agent({ ca: authority.pem, keepAlive: true, maxSockets: 64 });
  t.after(() => agent.destroy());
  return { server, authority, files, port, agent, ca: authority.pem };
}
