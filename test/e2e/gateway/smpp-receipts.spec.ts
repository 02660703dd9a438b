import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { COMMAND_STATUS, formatAbsoluteTime, MESSAGE_STATE, readReceipt } from '@dundun/smpp';
import { ContactsService } from '@dundun/messaging';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import {
  type NewSmppCredential,
  SmppCredentials,
} from '../../../src/smpp/smpp-credentials.service.js';
import { SmppDelivery } from '../../../src/smpp/smpp.tables.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { SmppClient, TO } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const LONG = `Grüße ${'für 5 € und mehr '.repeat(20)}Ende`;
/** Numbers whose messages the simulator does not deliver. */
const UNDELIVERED = '2348012349901';
const REFUSED = '2348012349903';

describeOneDatabase('receipts over SMPP', (database) => {
  const ports: number[] = [];
  const gateways: TestGateway[] = [];
  let account: CreatedAccount;
  let pair: NewSmppCredential;
  const clients: SmppClient[] = [];

  const start = async (): Promise<void> => {
    const port = await freePort();
    const settings = { DATABASE_URL: database.url, SMPP_LISTEN: `127.0.0.1:${port}` };
    gateways.push(await new TestGateway(settings).start());
    ports.push(port);
  };
  beforeAll(async () => {
    await start();
    await start();
    account = await gateways[0]!.account();
  });
  // A pair of its own for each test: nothing is left of the one before.
  beforeEach(async () => {
    for (const { session } of clients.splice(0)) session.close();
    const { app } = gateways[0]!.running;
    pair = await app.get(SmppCredentials, { strict: false }).add(account.accountId);
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.destroy();
  });

  async function bound(
    mode: 'transmitter' | 'receiver' | 'transceiver' = 'transceiver',
    replica = 0,
  ): Promise<SmppClient> {
    const client = await SmppClient.bind(ports[replica]!, pair, mode);
    clients.push(client);
    return client;
  }
  const source = () =>
    gateways[0]!.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  const waiting = () =>
    source().manager.find(SmppDelivery, {
      where: { systemId: pair.systemId },
      order: { position: 'ASC' },
    });
  const expectWaiting = (count: number): Promise<void> =>
    eventually(async () => expect(await waiting()).toHaveLength(count));
  const expectReceipts = (client: SmppClient, count: number): Promise<void> =>
    eventually(async () => expect(client.receipts).toHaveLength(count));

  it('a receipt has the id of the answer and the outcome in its text and TLVs, and no text of the message', async () => {
    const client = await bound();
    const [answer] = await client.submit('my secret');
    const id = answer?.messageId ?? '';
    await expectReceipts(client, 1);
    const [pdu] = client.delivered;
    expect(pdu).toMatchObject({
      esmClass: 0x04,
      source: { address: TO },
      destination: { address: 'ACME' },
      tlvs: { receiptedMessageId: id, messageState: MESSAGE_STATE.delivered },
    });
    expect(pdu?.shortMessage.toString('latin1')).toMatch(
      new RegExp(
        `^id:${id} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:$`,
      ),
    );
    const { submitDate } = readReceipt(pdu!)!;
    expect(Math.abs(submitDate!.getTime() - Date.now())).toBeLessThan(3_600_000);
    await expectWaiting(0);
  });

  it('registered_delivery 0 asks for no receipt, and 2 only for receipts of failures', async () => {
    const client = await bound();
    await client.submit('Hello', { registeredDelivery: 0, to: UNDELIVERED });
    await client.submit('Hello', { registeredDelivery: 2 });
    const [undelivered] = await client.submit('Hello', { registeredDelivery: 2, to: UNDELIVERED });
    const [refused] = await client.submit('Hello', { registeredDelivery: 2, to: REFUSED });
    await expectReceipts(client, 2);
    expect(new Map(client.receipts.map(({ id, state }) => [id, state]))).toEqual(
      new Map([
        [undelivered?.messageId, 'undeliverable'],
        [refused?.messageId, 'rejected'],
      ]),
    );
    // A receipt of all outcomes that was asked for later comes, and none of the first two.
    const [last] = await client.submit('Hello');
    await eventually(async () => expect(client.receipts.at(-1)?.id).toBe(last?.messageId));
    expect(client.receipts).toHaveLength(3);
  });

  it('each part of a long text has its receipt, and a message that a policy refuses has them for the parts before', async () => {
    const client = await bound();
    const delivered = await client.submit(LONG);
    await expectReceipts(client, 3);
    expect(client.receipts.map(({ id }) => String(id)).toSorted()).toEqual(
      delivered.map(({ messageId }) => messageId).toSorted(),
    );
    const to = '2348012340056';
    const { accountId: tenant } = account;
    const contacts = gateways[0]!.running.app.get(ContactsService, { strict: false });
    await contacts.optOut(to, { tenant, channel: 'sms', source: 'call' });
    const refused = await client.submit(LONG, { to });
    await expectReceipts(client, 5);
    const states = new Map(client.receipts.map(({ id, state }) => [id, state]));
    const accepted = refused.filter(({ status }) => status === 0);
    expect(accepted.map(({ messageId }) => states.get(messageId))).toEqual([
      'rejected',
      'rejected',
    ]);
  });

  it('messages that are cancelled before they left have their receipts, which wait for a bind', async () => {
    const transmitter = await bound('transmitter');
    const scheduleDeliveryTime = formatAbsoluteTime(new Date(Date.now() + 3_600_000));
    const [first] = await transmitter.submit('Hello', { scheduleDeliveryTime });
    const long = await transmitter.submit(LONG, { scheduleDeliveryTime, registeredDelivery: 2 });
    await transmitter.submit('Hello', { scheduleDeliveryTime, registeredDelivery: 0 });
    const answer = await transmitter.session.request('cancel_sm', {
      messageId: first!.messageId,
      source: { ton: 5, npi: 0, address: 'ACME' },
      destination: { ton: 1, npi: 1, address: TO },
    });
    expect(answer.status).toBe(COMMAND_STATUS.ESME_ROK);
    await expectWaiting(1);
    const { apiToken: token } = account;
    const list = await gateways[1]!.call('GET', '/ng/v1/sms?limit=2', { token });
    for (const { reference_id: id } of list.body['data'] as { readonly reference_id: string }[])
      await gateways[1]!.call('DELETE', `/ng/v1/sms/${id}`, { token });
    await expectWaiting(1 + long.length);
    const receiver = await bound('receiver');
    await expectReceipts(receiver, 1 + long.length);
    expect(receiver.receipts[0]).toEqual({ id: first?.messageId, state: 'deleted' });
    expect(receiver.receipts.map(({ id, state }) => `${id} ${state}`).toSorted()).toEqual(
      [first!, ...long].map(({ messageId }) => `${messageId} deleted`).toSorted(),
    );
    await expectWaiting(0);
  });

  it('receipts wait in order while no receiver is bound', async () => {
    const transmitter = await bound('transmitter');
    const ids: (string | undefined)[] = [];
    for (let count = 1; count <= 12; count++) {
      const [answer] = await transmitter.submit(`Hello ${count}`);
      ids.push(answer?.messageId);
      await expectWaiting(count);
    }
    expect((await waiting()).map(({ messageId }) => messageId)).toEqual(ids);
    const warned = jest.fn();
    process.on('warning', warned);
    const receiver = await bound('receiver');
    await expectReceipts(receiver, 12);
    expect(receiver.receipts.map(({ id }) => id)).toEqual(ids);
    expect(transmitter.delivered).toEqual([]);
    await expectWaiting(0);
    process.off('warning', warned);
    expect(warned.mock.calls).toEqual([]);
  });

  it('a receipt is repeated until it is answered with 0', async () => {
    const client = await bound();
    client.status = COMMAND_STATUS.ESME_RX_T_APPN;
    const [answer] = await client.submit('Hello');
    await eventually(async () => expect(client.receipts.length).toBeGreaterThanOrEqual(2));
    expect(await waiting()).toHaveLength(1);
    client.status = COMMAND_STATUS.ESME_ROK;
    await expectWaiting(0);
    expect(new Set(client.receipts.map(({ id }) => id))).toEqual(new Set([answer?.messageId]));
  });

  it('a receipt without an answer is repeated over the next bind', async () => {
    const client = await bound();
    client.silent = true;
    await client.submit('Hello');
    await expectReceipts(client, 1);
    client.session.close();
    const next = await bound();
    await expectReceipts(next, 1);
    await expectWaiting(0);
  });

  it('a receipt goes out once, over a bind of the replica that has one', async () => {
    const transmitter = await bound('transmitter', 0);
    const receiver = await bound('receiver', 1);
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, n) => transmitter.submit(`Hello ${n}`)),
    );
    await expectReceipts(receiver, 20);
    const other = await bound('receiver', 0);
    await expectWaiting(0);
    const [last] = await transmitter.submit('last');
    await eventually(async () =>
      expect([...receiver.receipts, ...other.receipts].at(-1)?.id).toBe(last?.messageId),
    );
    const ids = [...receiver.receipts, ...other.receipts].map(({ id }) => String(id));
    expect(ids.toSorted()).toEqual(
      [...sent.flat(), last].map((answer) => String(answer?.messageId)).toSorted(),
    );
  });

  it('metadata of a send over HTTP brings no receipts to the pair of another account', async () => {
    const client = await bound();
    const { apiToken: token } = await gateways[0]!.account('other');
    const metadata = { smpp_system_id: pair.systemId, smpp_receipts: '1' };
    const body = { from: 'ACME', to: [TO], body: 'Hello', delivery_report: 'yes', metadata };
    const forged = await gateways[0]!.call('POST', '/ng/v1/sendsms', { token, body });
    const id = String(forged.body['reference_id']);
    await eventually(async () => {
      const read = await gateways[0]!.call('GET', `/ng/v1/sms/${id}`, { token });
      expect(read.body['counts']).toEqual({ delivered: 1 });
    });
    const [own] = await client.submit('Hello');
    await expectReceipts(client, 1);
    expect(client.receipts).toEqual([{ id: own?.messageId, state: 'delivered' }]);
  });

  it('an erasure removes the number from waiting receipts', async () => {
    const to = '2348012340057';
    const transmitter = await bound('transmitter');
    await transmitter.submit('Hello', { to });
    await expectWaiting(1);
    const contacts = gateways[0]!.running.app.get(ContactsService, { strict: false });
    await contacts.erase(to, { tenant: account.accountId });
    await eventually(async () => expect((await waiting())[0]?.source).toBe(''));
    const receiver = await bound('receiver');
    await expectReceipts(receiver, 1);
    expect(receiver.delivered[0]?.source.address).toBe('');
  });

  it('removing a pair deletes its waiting deliveries', async () => {
    const transmitter = await bound('transmitter');
    await transmitter.submit('Hello');
    await expectWaiting(1);
    const credentials = gateways[0]!.running.app.get(SmppCredentials, { strict: false });
    await credentials.remove(account.accountId, pair.systemId);
    expect(await waiting()).toEqual([]);
  });
});
