// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made by the openssl program: an authority and the certificates that it signs, as
// files for a server.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const openssl = (args, { shifted } = {}) => {
  const [file, ...all] = [...(shifted ? ['faketime', shifted] : []), 'openssl', ...args];
  execFileSync(file, all, { stdio: ['ignore', 'ignore', 'pipe'] });
};

export class Authority {
  constructor(folder) {
    this.folder = folder;
    this.file = path.join(folder, 'ca.pem');
    this.key_file = path.join(folder, 'ca.key');
    openssl([
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '30',
      '-subj',
      '/CN=Tests of FairQueue',
      '-keyout',
      this.key_file,
      '-out',
      this.file,
    ]);
  }

  get pem() {
    return fs.readFileSync(this.file);
  }

  /**
   * A certificate for localhost and 127.0.0.1, or for `names`: {certificate, key} files. `shifted`: issued at
   * another time, in the form of faketime.
   */
  issue(
    name,
    {
      days = 90,
      shifted,
      folder = this.folder,
      algorithm = 'ec',
      names = ['DNS:localhost', 'IP:127.0.0.1'],
    } = {},
  ) {
    const file = (ending) => path.join(folder, `${name}.${ending}`);
    const key = {
      ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      rsa: ['-newkey', 'rsa:2048'],
    };
    openssl([
      'req',
      '-new',
      ...key[algorithm],
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file('key'),
      '-out',
      file('csr'),
    ]);
    fs.writeFileSync(
      file('ext'),
      `subjectAltName = ${names.join(', ')}\nextendedKeyUsage = serverAuth\nkeyUsage = digitalSignature\nbasicConstraints = CA:FALSE\n`,
    );
    openssl(
      [
        'x509',
        '-req',
        '-in',
        file('csr'),
        '-CA',
        this.file,
        '-CAkey',
        this.key_file,
        '-set_serial',
        `0x${Buffer.from(name).toString('hex')}`,
        '-days',
        String(days),
        '-extfile',
        file('ext'),
        '-out',
        file('pem'),
      ],
      { shifted },
    );
    const chain = Buffer.concat([fs.readFileSync(file('pem')), this.pem]);
    fs.writeFileSync(file('pem'), chain);
    return { certificate: file('pem'), key: file('key') };
  }
}

/** Replaces files by renaming, like renewal tools. */
export function install({ certificate, key }, to) {
  for (const [from, name] of [
    [certificate, to.certificate],
    [key, to.key],
  ]) {
    fs.copyFileSync(from, `${name}.new`);
    fs.renameSync(`${name}.new`, name);
  }
  assert.ok(fs.existsSync(to.certificate));
}
