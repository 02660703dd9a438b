import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { COMMAND_STATUS, type PduInput, type SessionClosed } from '@dundun/smpp';
import { getDataSourceToken } from '@nestjs/typeorm';
import { once } from 'node:events';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import {
  type NewSmppCredential,
  SmppCredentials,
} from '../../../src/smpp/smpp-credentials.service.js';
import { SmppDeliveryStore } from '../../../src/smpp/smpp-delivery.store.js';
import { SmppDelivery, SmppPart } from '../../../src/smpp/smpp.tables.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { ScriptedPeer } from '../../support/smpp/scripted-peer.js';
import { SmppClient, TO } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const submit = (sequence: number): PduInput<'submit_sm'> => ({
  command: 'submit_sm',
  sequence,
  source: { ton: 5, npi: 0, address: 'ACME' },
  destination: { ton: 1, npi: 1, address: TO },
  shortMessage: Buffer.from(`Hello ${sequence}`),
});

describe('limits of a bind', () => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let pair: NewSmppCredential;
  let port: number;
  /** Answers no `enquire_link`. */
  let idle: ScriptedPeer;

  async function scripted(): Promise<ScriptedPeer> {
    const peer = await ScriptedPeer.connect(port);
    peer.write({ command: 'bind_transceiver', sequence: 1, ...pair, interfaceVersion: 0x34 });
    expect((await peer.first('bind_transceiver_resp')).status).toBe(0);
    return peer;
  }

  const added = (): Promise<NewSmppCredential> =>
    gateway.running.app.get(SmppCredentials, { strict: false }).add(account.accountId);

  beforeAll(async () => {
    port = await freePort();
    gateway = await new TestGateway({
      SMPP_LISTEN: `127.0.0.1:${port}`,
      SMPP_LISTEN_WINDOW: '10',
      // Scripted peers answer none, and those of the other tests end within this time.
      SMPP_LISTEN_ENQUIRE: '5s',
      MAX_PENDING_SENDS: '10',
    }).start();
    account = await gateway.account();
    pair = await added();
    idle = await scripted();
  });
  afterAll(() => gateway.destroy());

  it('at most SMPP_LISTEN_WINDOW of 600 submits in one write are in the intake at a time, and each is answered', async () => {
    const peer = await scripted();
    const submits = Array.from({ length: 600 }, (_, index) => submit(index + 2));
    peer.socket.pause();
    peer.write(...submits);
    // Requests of others are answered meanwhile.
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
    peer.socket.resume();
    const answers = await peer.all('submit_sm_resp', 600);
    // More than ten at a time would be refused: MAX_PENDING_SENDS.
    expect(answers.filter(({ status }) => status !== 0)).toEqual([]);
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(600);
    peer.socket.destroy();
  });

  it('an unreadable PDU gets generic_nack, a wrong length ends the bind, and other binds go on', async () => {
    const [broken, other] = [await scripted(), await SmppClient.bind(port, pair)];
    const unknown = Buffer.alloc(16);
    for (const [index, value] of [16, 0x0000_0bad, 0, 7].entries())
      unknown.writeUInt32BE(value, index * 4);
    broken.socket.write(unknown);
    expect(await broken.first('generic_nack')).toMatchObject({
      sequence: 7,
      status: COMMAND_STATUS.ESME_RINVCMDID,
    });
    broken.write(submit(8));
    expect(await broken.first('submit_sm_resp')).toMatchObject({ sequence: 8, status: 0 });
    broken.socket.write(Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n'));
    await broken.ended();
    expect((await other.submit('Hello'))[0]?.status).toBe(0);
    await other.session.unbind();
  });

  it('a bind that answers no enquire_link is closed', async () => {
    await idle.first('enquire_link');
    await idle.ended();
    expect(gateway.log.join('')).toContain('enquire_link_timeout');
  });

  it('a stop waits a few seconds for a client that answers nothing, whose receipt is sent again later', async () => {
    const own = await added();
    const client = await SmppClient.bind(port, own);
    client.silent = true;
    const [answer] = await client.submit('Hello');
    await eventually(async () => expect(client.receipts).toHaveLength(1));
    await gateway.stop();
    expect(client.session.isClosed).toBe(true);
    await gateway.start();
    const next = await SmppClient.bind(port, own);
    await eventually(async () =>
      expect(next.receipts.map(({ id }) => id)).toEqual([answer?.messageId]),
    );
    await next.session.unbind();
  });

  it('a stop answers the submits that it took, unbinds, and every answered one is stored', async () => {
    const client = await SmppClient.bind(port, pair, 'transmitter');
    const end = once(client.session, 'close') as Promise<[SessionClosed]>;
    const list = async (): Promise<string[]> => {
      const token = account.apiToken;
      const { body } = await gateway.call('GET', '/ng/v1/sms?limit=100', { token });
      return (body['data'] as { reference_id: string }[]).map((one) => one.reference_id);
    };
    const first = await client.submit('Hello');
    const submits = Array.from({ length: 30 }, () =>
      client.submit('Hello').catch(() => [{ status: -1, messageId: '' }]),
    );
    await gateway.stop();
    expect((await end)[0]).toMatchObject({ reason: 'peer_unbound' });
    const answered = (await Promise.all(submits))
      .flat()
      .filter(({ status }) => status === 0)
      .map(({ messageId }) => messageId);
    await gateway.start();
    expect(await list()).toEqual(expect.arrayContaining([first[0]?.messageId, ...answered]));
  });
});

describeOneDatabase('the purge of SMPP', (database) => {
  const HOUR = 3_600_000;
  let gateway: TestGateway;
  let systemId: string;
  let source: DataSource;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: database.url }).start();
    const { app } = gateway.running;
    const { accountId } = await gateway.account();
    ({ systemId } = await app.get(SmppCredentials, { strict: false }).add(accountId));
    source = app.get<DataSource>(getDataSourceToken(), { strict: false });
  });
  afterAll(() => gateway.destroy());

  const purge = () =>
    gateway.running.app
      .get(SmppDeliveryStore, { strict: false })
      .purge(new AbortController().signal);
  const at = (age: number) => new Date(Date.now() - age);

  it('the purge deletes receipts after 72 hours, and turns parts that wait for an hour into receipts', async () => {
    const common = { systemId, source: TO, destination: 'ACME', state: 'delivered' as const };
    const rows = [71, 73].map((age) => ({
      ...common,
      messageId: `${age} hours`,
      submittedAt: at(age * HOUR),
      doneAt: at(age * HOUR),
      createdAt: at(age * HOUR),
    }));
    await source.manager.insert(SmppDelivery, rows);
    const part = { systemId, messageKey: 'key', sender: 'ACME', recipient: TO, body: 'AA==' };
    const messageId = '01a1f91d-94f5-779e-8c4f-a4ea0dc430dd';
    const parts = [
      { ...part, part: 1, messageId, receipts: 1, createdAt: at(1.1 * HOUR) },
      { ...part, part: 2, messageId, receipts: 0, createdAt: at(1.1 * HOUR) },
      { ...part, part: 3, messageId, receipts: 1, createdAt: at(0.9 * HOUR) },
    ];
    await source.manager.insert(SmppPart, parts);
    await purge();
    const left = await source.manager.find(SmppDelivery, { order: { position: 'ASC' } });
    expect(left.map((one) => [one.messageId, one.state])).toEqual([
      ['71 hours', 'delivered'],
      [`${messageId}-1`, 'expired'],
    ]);
    expect((await source.manager.find(SmppPart)).map((one) => one.part)).toEqual([3]);
  });

  it('the purge keeps the newest 100,000 receipts of a pair', async () => {
    await source.manager.clear(SmppDelivery);
    const digits = `(${Array.from({ length: 10 }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')})`;
    const hundred = `(SELECT a.n FROM ${digits} a CROSS JOIN ${digits} b)`;
    const now = Date.now();
    await source.query(
      `INSERT INTO gateway_smpp_delivery (system_id, message_id, state, error, source, destination,
          submitted_at, done_at, created_at)
        SELECT '${systemId}', 'old', 'delivered', '000', '${TO}', 'ACME', ${now}, ${now}, ${now}
        FROM ${hundred} a CROSS JOIN ${hundred} b CROSS JOIN ${digits} c`,
    );
    const newest = { systemId, state: 'delivered' as const, source: TO, destination: 'ACME' };
    const times = { submittedAt: at(0), doneAt: at(0), createdAt: at(0) };
    await source.manager.insert(SmppDelivery, { ...newest, ...times, messageId: 'newest' });
    await purge();
    expect(await source.manager.count(SmppDelivery)).toBe(100_000);
    expect(await source.manager.countBy(SmppDelivery, { messageId: 'newest' })).toBe(1);
  });
});
