import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SmppConnectError } from '@dundun/smpp';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type NewSmppCredential,
  SmppCredentials,
} from '../../../src/smpp/smpp-credentials.service.js';
import { certificates } from '../../support/certificates.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { SmppClient } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

describe('SMPP_LISTEN with a certificate', () => {
  let directory: string;
  let ca: string;
  let port: number;
  let gateway: TestGateway;
  let pair: NewSmppCredential;
  const file = (name: string) => join(directory, name);
  const settings = (cert: string, key: string) => ({
    SMPP_LISTEN: `127.0.0.1:${port}`,
    SMPP_TLS_CERT: file(cert),
    SMPP_TLS_KEY: file(key),
  });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-smpp-tls-'));
    const made = await certificates({ own: { name: '127.0.0.1' }, other: { name: '127.0.0.1' } });
    ({ ca } = made);
    for (const [name, { cert, key }] of Object.entries(made.of)) {
      await writeFile(file(`${name}.crt`), cert);
      await writeFile(file(`${name}.key`), key);
    }
    port = await freePort();
    gateway = await new TestGateway(settings('own.crt', 'own.key')).start();
    const { accountId } = await gateway.account();
    pair = await gateway.running.app.get(SmppCredentials, { strict: false }).add(accountId);
  });
  afterAll(async () => {
    await gateway.destroy();
    await rm(directory, { recursive: true });
  });

  it('a customer that trusts the certificate submits over TLS and gets the receipt', async () => {
    const client = await SmppClient.bind(port, pair, 'transceiver', { tls: { ca } });
    const [answer] = await client.submit('Hello');
    expect(answer).toMatchObject({ status: 0, messageId: expect.stringMatching(/.{36}/) });
    await eventually(async () =>
      expect(client.receipts).toEqual([{ id: answer?.messageId, state: 'delivered' }]),
    );
    await client.session.unbind();
  });

  it('a customer without TLS, or without trust in the certificate, cannot bind, and causes no log line above debug', async () => {
    const plain = SmppClient.bind(port, pair, 'transceiver', { responseTimeout: 2_000 });
    await expect(plain).rejects.toThrow(SmppConnectError);
    const untrusting = SmppClient.bind(port, pair, 'transceiver', { tls: true });
    await expect(untrusting).rejects.toThrow(SmppConnectError);
    await eventually(async () => {
      const failed = gateway.log.filter((line) => line.includes('SMPP connection failed'));
      expect(failed.length).toBeGreaterThanOrEqual(2);
      const levels = failed.map((line) => (JSON.parse(line) as { readonly level: unknown }).level);
      expect(new Set(levels)).toEqual(new Set(['debug']));
    });
  });

  it.each([
    ['SMPP_TLS_CERT', 'missing.crt', 'own.key', 'cannot be read (ENOENT)'],
    ['SMPP_TLS_KEY', 'own.crt', 'missing.key', 'cannot be read (ENOENT)'],
    ['SMPP_TLS_CERT', 'own.key', 'own.key', 'has no certificate in PEM'],
    ['SMPP_TLS_KEY', 'own.crt', 'other.key', 'has no private key of SMPP_TLS_CERT'],
  ])('the boot fails by the name of %s for %s and %s', async (name, cert, key, cause) => {
    const wrong = new TestGateway({ ...settings(cert, key), SMPP_LISTEN: '127.0.0.1:1' });
    const failure = await wrong.start().then(
      () => 'it started',
      (error: Error) => error.message,
    );
    await wrong.destroy();
    expect(failure).toContain(`${name} "`);
    expect(failure).toContain(cause);
    // A worker does not listen.
    if (cert !== 'missing.crt') return;
    const worker = new TestGateway({ ...settings(cert, key), ROLE: 'worker' });
    await worker.start();
    await worker.destroy();
  });
});
