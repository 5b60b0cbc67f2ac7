// SPDX-License-Identifier: Apache-2.0
// FCM and APNs (push_standins.mjs) as a process beside a real server, with keys, a certificate of its own
// authority, and the options that direct a server there.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Authority } from './certificates.mjs';

const program = fileURLToPath(new URL('push_standins.mjs', import.meta.url));
const google = {
  kid: 'g-key-1',
  email: 'push@fairqueue-tests.iam.gserviceaccount.com',
  project: 'fairqueue-tests',
};
const hosts = [
  'fcm.googleapis.com',
  'oauth2.googleapis.com',
  'api.push.apple.com',
  'api.sandbox.push.apple.com',
];

const running = new Set();
process.on('exit', () => {
  for (const it of running) it.end();
});

export class PushProvider {
  /** `nice`: of the process, for measurements; a real provider runs on another machine. */
  static async start({ nice = 0 } = {}) {
    const it = new PushProvider();
    it.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fq-push-'));
    running.add(it);
    const file = (name, text) => {
      fs.writeFileSync(path.join(it.folder, name), text);
      return path.join(it.folder, name);
    };
    const pem = {
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    };
    const rsa = crypto.generateKeyPairSync('rsa', { modulusLength: 2048, ...pem });
    const ec = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem });
    const authority = new Authority(it.folder);
    const own = authority.issue('push', { names: hosts.map((host) => `DNS:${host}`) });
    it.ca_file = authority.file;
    it.account_file = file(
      'account.json',
      JSON.stringify({
        type: 'service_account',
        project_id: google.project,
        private_key_id: google.kid,
        private_key: rsa.privateKey,
        client_email: google.email,
        client_id: '1',
        token_uri: 'https://oauth2.googleapis.com/token',
      }),
    );
    const args = {
      'certificate': own.certificate,
      'key': own.key,
      'google-key': file('google.pub', rsa.publicKey),
      'google-kid': google.kid,
      'google-email': google.email,
      'google-project': google.project,
      'apple-key': file('apple.pub', ec.publicKey),
      'apple-kid': 'APPLEKEY01',
      'apple-team': 'APPLETEAM1',
      'apple-topic': 'com.example.tickets',
      'version': '2',
    };
    it.child = spawn(
      process.execPath,
      [program, ...Object.entries(args).flatMap(([name, value]) => [`--${name}`, value])],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const line = await new Promise((resolve, reject) => {
      readline.createInterface({ input: it.child.stdout }).once('line', resolve);
      it.child.once('exit', () => reject(new Error('the push stand-ins did not start')));
    });
    Object.assign(it, JSON.parse(line)); // ports and control
    if (nice) execFileSync('renice', ['-n', String(nice), '-p', String(it.child.pid)], { stdio: 'ignore' });
    return it;
  }

  /** Options of a server that sends its pushes here by FCM. */
  get settings() {
    const ways = Object.entries(this.ports).map(([host, port]) => `${host}:443:127.0.0.1:${port}`);
    return {
      'push.fcm_service_account': this.account_file,
      'push.ca_file': this.ca_file,
      'push.connect_to': ways.join(','),
    };
  }

  ask(target, body) {
    return new Promise((resolve, reject) => {
      const request = http.request(
        { host: '127.0.0.1', port: this.control, path: target, method: body ? 'POST' : 'GET' },
        (response) => {
          const parts = [];
          response
            .on('data', (part) => parts.push(part))
            .on('error', reject)
            .on('end', () => resolve(JSON.parse(Buffer.concat(parts))));
        },
      );
      request.on('error', reject).end(body && JSON.stringify(body));
    });
  }
  script(devices) {
    return this.ask('/script', devices);
  }
  weather(how) {
    return this.ask('/weather', how);
  }
  tally() {
    return this.ask('/tally');
  }

  end() {
    this.child?.kill('SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
  stop() {
    if (running.delete(this)) this.end();
  }
}
