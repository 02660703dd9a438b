import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type CommandStatusName,
  commandStatusName,
  encodeGsm7,
  encodeLatin1,
  encodeText,
  encodeUcs2,
  splitMessage,
} from '@dundun/smpp';
import { randomUUID } from 'node:crypto';
import { ContactsService } from '@dundun/messaging';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { BillingService } from '../../../src/billing/ledger/billing.service.js';
import { RateCards } from '../../../src/billing/rate-cards/rate-cards.service.js';
import {
  type NewSmppCredential,
  SmppCredentials,
} from '../../../src/smpp/smpp-credentials.service.js';
import { SmppPart } from '../../../src/smpp/smpp.tables.js';
import { describeOneDatabase } from '../../support/databases.js';
import { freePort } from '../../support/free-port.js';
import { SmppClient, TO } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const LONG = `Grüße ${'für 5 € und mehr '.repeat(20)}Ende`;
const LONG_UCS2 = `Привет ${'мир 🙂 '.repeat(40)}конец`;
const source = { ton: 5, npi: 0, address: 'ACME' };
const destination = { ton: 1, npi: 1, address: TO };

async function credential(gateway: TestGateway, account: CreatedAccount) {
  return gateway.running.app.get(SmppCredentials, { strict: false }).add(account.accountId);
}

describeOneDatabase('submit_sm', (database) => {
  let port: number;
  let gateway: TestGateway;
  let account: CreatedAccount;
  let pair: NewSmppCredential;
  let client: SmppClient;

  beforeAll(async () => {
    port = await freePort();
    const settings = { DATABASE_URL: database.url, SMPP_LISTEN: `127.0.0.1:${port}` };
    gateway = await new TestGateway(settings).start();
    account = await gateway.account();
    pair = await credential(gateway, account);
    client = await SmppClient.bind(port, pair);
  });
  afterAll(async () => {
    await client.session.unbind();
    await gateway.destroy();
  });

  async function batch(id: string | undefined): Promise<Record<string, unknown>> {
    const { apiToken: token } = account;
    const { status, body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
    expect(status).toBe(200);
    return body;
  }
  const batches = async (): Promise<number> => {
    const { apiToken: token } = account;
    const { body } = await gateway.call('GET', '/ng/v1/sms?limit=100', { token });
    return (body['data'] as unknown[]).length;
  };
  async function submitted(fields: object, to = destination): Promise<[CommandStatusName, string]> {
    const answer = await client.session.request('submit_sm', {
      source,
      destination: to,
      shortMessage: Buffer.from('Hello'),
      ...fields,
    });
    const id = 'messageId' in answer ? answer.messageId : '';
    return [commandStatusName(answer.status) as CommandStatusName, id];
  }

  it.each([
    ['GSM-7', 0, encodeGsm7('5 € für @home')],
    ['ASCII', 1, Buffer.from('5 EUR for home')],
    ['Latin-1', 3, encodeLatin1('Grüße, für £5')],
    ['UCS-2', 8, encodeUcs2('Привет 🙂')],
  ])(
    'a text in %s is accepted unchanged, under the id of the answer',
    async (_name, dataCoding, shortMessage) => {
      const [status, id] = await submitted({ dataCoding, shortMessage, registeredDelivery: 1 });
      expect(status).toBe('ESME_ROK');
      const texts = ['5 € für @home', '5 EUR for home', 'Grüße, für £5', 'Привет 🙂'];
      expect(texts).toContain((await batch(id))['body']);
      expect(await batch(id)).toMatchObject({ from: 'ACME', to: [TO], delivery_report: 'yes' });
    },
  );

  it.each([
    ['a header of 8 bits', LONG, { method: 'udh' }],
    ['a header of 16 bits', LONG_UCS2, { method: 'udh', referenceBits: 16, reference: 4_711 }],
    ['sar_*', LONG_UCS2, { method: 'sar' }],
    ['message_payload', LONG, { method: 'payload' }],
  ] as const)('a long text by %s becomes one batch', async (_name, text, options) => {
    const before = await batches();
    const answers = await client.submit(text, { registeredDelivery: 0, ...options });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([0]));
    expect(new Set(answers.map(({ messageId }) => messageId)).size).toBe(answers.length);
    expect(await batches()).toBe(before + 1);
    const { apiToken: token } = account;
    const list = await gateway.call('GET', '/ng/v1/sms?limit=1', { token });
    const [{ body, delivery_report }] = list.body['data'] as [Record<string, unknown>];
    expect([body, delivery_report]).toEqual([text, 'none']);
  });

  it('parts in any order, repeated and over two binds become one batch, whose id the last part gets', async () => {
    const other = await SmppClient.bind(port, pair, 'transmitter');
    const parts = splitMessage(encodeText(LONG), { reference: 99 });
    const [first, second, third] = parts as [object, object, object];
    const send = async (bind: SmppClient, part: object): Promise<string> => {
      const answer = await bind.session.request('submit_sm', { source, destination, ...part });
      expect(answer.status).toBe(0);
      return 'messageId' in answer ? answer.messageId : '';
    };
    const ids = [await send(client, third), await send(other, first)];
    expect(await send(client, first)).toBe(ids[1]);
    const id = await send(client, second);
    expect((await batch(id))['body']).toBe(LONG);
    await other.session.unbind();
  });

  it('parts of one message that come at once over two binds become one batch', async () => {
    const before = await batches();
    const other = await SmppClient.bind(port, pair, 'transmitter');
    const parts = splitMessage(encodeText(LONG), { reference: 17 });
    await Promise.all(
      parts.map((part, index) =>
        (index % 2 ? other : client).session.request('submit_sm', { source, destination, ...part }),
      ),
    );
    expect(await batches()).toBe(before + 1);
    await other.session.unbind();
  });

  it.each<[CommandStatusName, string, object]>([
    [
      'ESME_RINVSRCADR',
      'a sender that is not registered',
      { source: { ...source, address: 'OTHER' } },
    ],
    ['ESME_RINVSRCADR', 'no sender', { source: { ...source, address: '' } }],
    [
      'ESME_RINVDSTADR',
      'a recipient that is no number',
      { destination: { ...destination, address: '12' } },
    ],
    [
      'ESME_RINVDSTADR',
      'a recipient with a trunk zero',
      { destination: { ...destination, address: '4402079460958' } },
    ],
    ['ESME_RINVMSGLEN', 'an empty text', { shortMessage: Buffer.alloc(0) }],
    [
      'ESME_RINVMSGLEN',
      'more parts than MAX_PARTS',
      { shortMessage: Buffer.alloc(0), tlvs: { messagePayload: Buffer.alloc(2_000, 'a') } },
    ],
    ['ESME_RSUBMITFAIL', 'bytes', { dataCoding: 4 }],
    ['ESME_RINVDCS', 'a tab', { dataCoding: 8, shortMessage: encodeUcs2('a\tb') }],
    ['ESME_RINVDCS', 'a NUL', { dataCoding: 3, shortMessage: Buffer.from('a\0b') }],
    [
      'ESME_RINVDCS',
      'Windows-1252 as Latin-1',
      { dataCoding: 3, shortMessage: Buffer.from([0x35, 0x20, 0x80]) },
    ],
    ['ESME_RINVDCS', 'a page break', { dataCoding: 0, shortMessage: Buffer.from([0x1b, 0x0a]) }],
    [
      'ESME_RINVDCS',
      'UTF-8 as GSM 03.38',
      { dataCoding: 0, shortMessage: Buffer.from('Grüße', 'utf8') },
    ],
    ['ESME_RINVESMCLASS', 'a receipt', { esmClass: 0x04 }],
    ['ESME_RINVSCHED', 'a wrong time', { scheduleDeliveryTime: '991399000000000+' }],
    ['ESME_RINVEXPIRY', 'a validity that is over', { validityPeriod: '200101000000000+' }],
  ])('%s answers %s, and nothing is stored', async (status, _name, fields) => {
    const before = await batches();
    expect(await submitted(fields)).toEqual([status, '']);
    expect(await batches()).toBe(before);
  });

  it('a recipient that opted out is refused, also at the last part of a long text, whose parts are deleted', async () => {
    const to = '2348012340055';
    const { accountId: tenant } = account;
    const contacts = gateway.running.app.get(ContactsService, { strict: false });
    await contacts.optOut(to, { tenant, channel: 'sms', source: 'call' });
    const named = async (text: string) =>
      (await client.submit(text, { to })).map(({ status }) => commandStatusName(status)).toSorted();
    expect(await named('Hello')).toEqual(['ESME_RSUBMITFAIL']);
    expect(await named(LONG)).toEqual(['ESME_ROK', 'ESME_ROK', 'ESME_RSUBMITFAIL']);
    const source = gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
    expect(await source.manager.countBy(SmppPart, { recipient: to })).toBe(0);
  });

  it('up to 2,000 parts of a pair may wait for others, and a part has up to 255 bytes', async () => {
    const { app } = gateway.running;
    const own = await credential(gateway, account);
    const bind = await SmppClient.bind(port, own);
    const { manager } = app.get<DataSource>(getDataSourceToken(), { strict: false });
    const row = { systemId: own.systemId, messageId: randomUUID(), sender: 'ACME', recipient: TO };
    const rest = { receipts: 0, body: 'AA==', createdAt: new Date(), part: 1 };
    const keys = Array.from({ length: 1_999 }, (_, n) => `key-${n}`);
    await manager.insert(
      SmppPart,
      keys.map((messageKey) => ({ ...row, ...rest, messageKey })),
    );
    const part = async (sarMsgRefNum: number, bytes = 10) => {
      const sar = { sarMsgRefNum, sarTotalSegments: 2, sarSegmentSeqnum: 1 };
      const tlvs = { ...sar, messagePayload: Buffer.alloc(bytes, 'a') };
      const answer = await bind.session.request('submit_sm', { source, destination, tlvs });
      return commandStatusName(answer.status);
    };
    expect(await part(1, 256)).toBe('ESME_RINVMSGLEN');
    expect([await part(1, 255), await part(1, 255), await part(2)]).toEqual([
      'ESME_ROK',
      'ESME_ROK',
      'ESME_RMSGQFUL',
    ]);
    await bind.session.unbind();
  });

  it.each([
    [undefined, 1, '£ $ @ é €, 50 % [auto]'],
    [undefined, 1, '@'],
    [{ dataCoding1: 'gsm7' }, 1, 'Köln [gsm7]'],
    [{ dataCoding0: 'latin1' }, 0, 'Grüße {latin1}\r\n'],
    [{ dataCoding1: 'ascii' }, 1, 'K|ln ~ `'],
  ] as const)(
    'a pair with %j reads data_coding %i as its client writes %j',
    async (alphabets, dataCoding, text) => {
      const { accountId } = account;
      const credentials = gateway.running.app.get(SmppCredentials, { strict: false });
      const bind = await SmppClient.bind(
        port,
        await credentials.add(accountId, undefined, alphabets),
      );
      const isGsm7 = alphabets === undefined || Object.values(alphabets).includes('gsm7');
      const shortMessage = isGsm7 ? encodeGsm7(text) : encodeLatin1(text);
      const fields = { source, destination, dataCoding, shortMessage };
      const answer = await bind.session.request('submit_sm', fields);
      expect(commandStatusName(answer.status)).toBe('ESME_ROK');
      expect((await batch('messageId' in answer ? answer.messageId : ''))['body']).toBe(text);
      await bind.session.unbind();
    },
  );

  it('a long text in GSM 03.38 with data_coding 1 is read as a whole', async () => {
    const text = `${'Ö'.repeat(200)}@`;
    const parts = splitMessage(encodeText(text), { reference: 61 });
    const answers: [string, string][] = [];
    for (const part of parts) answers.push(await submitted({ ...part, dataCoding: 1 }));
    expect(answers.map(([status]) => status)).toEqual(['ESME_ROK', 'ESME_ROK']);
    expect((await batch(answers[1]?.[1]))['body']).toBe(text);
  });

  it('a schedule is kept, and a leading plus is no part of the number', async () => {
    const scheduleDeliveryTime = '400131090000000+';
    const to = { ...destination, address: `+${TO}` };
    const [, id] = await submitted({ scheduleDeliveryTime }, to);
    expect(await batch(id)).toMatchObject({
      send_at: '2040-01-31T09:00:00.000Z',
      to: [TO],
      status: 'scheduled',
    });
  });

  it('the TLV of an idempotency key makes a repeated submit one message', async () => {
    const tlvs = (key: string) => ({
      tlvs: { unknown: [{ tag: 0x1501, value: Buffer.from(key) }] },
    });
    const [, id] = await submitted(tlvs('order-1'));
    expect(await submitted(tlvs('order-1\0'))).toEqual(['ESME_ROK', id]);
    const [other] = await submitted({ ...tlvs('order-1'), shortMessage: Buffer.from('Other') });
    expect(other).toBe('ESME_RINVOPTPARAMVAL');
  });

  it('a receiver may not submit', async () => {
    const receiver = await SmppClient.bind(port, pair, 'receiver');
    const sent = receiver.session.request('submit_sm', { source, destination });
    await expect(sent).rejects.toMatchObject({ reason: 'wrong_bind' });
    await receiver.session.unbind();
  });

  it('without credit is ESME_RSUBMITFAIL, and stores nothing', async () => {
    const { accountId } = account;
    const billing = gateway.running.app.get(BillingService, { strict: false });
    const cards = gateway.running.app.get(RateCards, { strict: false });
    const nothing = () => Promise.resolve();
    const before = await batches();
    await billing.setMode(accountId, { mode: 'prepaid', card: 'demo' }, nothing);
    await cards.reread();
    expect((await submitted({}))[0]).toBe('ESME_RSUBMITFAIL');
    expect(await batches()).toBe(before);
    await billing.topUp(accountId, { amount: '4.5', reference: 'T', userId: null }, nothing);
    expect((await submitted({}))[0]).toBe('ESME_ROK');
    expect((await submitted({}))[0]).toBe('ESME_RSUBMITFAIL');
    await billing.setMode(accountId, { mode: 'off' }, nothing);
    await cards.reread();
  });
});

describe('limits of submit_sm', () => {
  it('more requests than REQUEST_LIMIT are answered with ESME_RTHROTTLED', async () => {
    const port = await freePort();
    const gateway = new TestGateway({ SMPP_LISTEN: `127.0.0.1:${port}`, REQUEST_LIMIT: '3/h' });
    await gateway.start();
    const pair = await credential(gateway, await gateway.account());
    const client = await SmppClient.bind(port, pair);
    const answers = await Promise.all([1, 2, 3, 4].map(() => client.submit('Hello')));
    expect(answers.flat().map(({ status }) => commandStatusName(status))).toEqual([
      'ESME_ROK',
      'ESME_ROK',
      'ESME_ROK',
      'ESME_RTHROTTLED',
    ]);
    await client.session.unbind();
    await gateway.destroy();
  });
});
