import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { decodeText, MessageAssembler, messageOf } from '@dundun/smpp';
import { Webhook } from 'standardwebhooks';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { SmppClient } from './smpp-client.js';
import { TestGateway } from './test-gateway.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NUMBER = '2348000000099';
const WRITER = '2348012345602';
const LONG = `Да ${'спасибо 🙂 '.repeat(20)}конец`;

describeOneDatabase('inbound SMS over SMPP', (database) => {
  let gateway: TestGateway;
  let port: number;
  let client: SmppClient;
  let later: SmppClient;

  beforeAll(async () => {
    port = await freePort();
    gateway = await new TestGateway({
      DATABASE_URL: database.url,
      SMPP_LISTEN: `127.0.0.1:${port}`,
      CARRIER: 'http',
      CARRIER_URL: 'http://127.0.0.1:9',
      CARRIER_TOKEN: `tok_${'x'.repeat(49)}`,
      CARRIER_CALLBACK_SECRET: SECRET,
    }).start();
    const { accountId } = await gateway.account();
    await gateway.senders.addNumber(accountId, NUMBER);
    const credentials = gateway.running.app.get(SmppCredentials, { strict: false });
    const pairs = [await credentials.add(accountId), await credentials.add(accountId)];
    [client, later] = (await Promise.all(
      pairs.map((pair) => SmppClient.bind(port, pair, 'receiver')),
    )) as [SmppClient, SmppClient];
  });
  afterAll(async () => {
    for (const { session } of [client, later]) await session.unbind();
    await gateway.destroy();
  });

  async function write(id: string, text: string, from = WRITER): Promise<void> {
    const at = new Date();
    const data = { message_id: id, from, to: NUMBER, text };
    const body = JSON.stringify({ type: 'sms.message_received', timestamp: at, data });
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, at, body),
    };
    const path = '/messaging/delivery-reports';
    expect((await gateway.call('POST', path, { raw: body, headers })).status).toBe(204);
  }

  /** Texts that arrived whole, with their addresses. */
  function textsOf({ delivered }: SmppClient): unknown[][] {
    const assembler = new MessageAssembler();
    return delivered.flatMap((pdu) => {
      const { bytes, concatenation } = messageOf(pdu);
      const whole = concatenation ? assembler.add('', concatenation, bytes) : bytes;
      const { source, destination, dataCoding } = pdu;
      const addresses = [source.address, destination.address];
      return whole ? [[...addresses, decodeText(whole, dataCoding)]] : [];
    });
  }

  it("a text to the account's number is a deliver_sm of its oldest pair, a long one in parts, once each", async () => {
    await write('sms-1', 'Grüße für 5 €');
    await write('sms-1', 'Grüße für 5 €');
    await eventually(async () => expect(textsOf(client)).toHaveLength(1));
    await write('sms-2', LONG);
    await eventually(async () =>
      expect(textsOf(client)).toEqual([
        [WRITER, NUMBER, 'Grüße für 5 €'],
        [WRITER, NUMBER, LONG],
      ]),
    );
    expect(client.delivered.every(({ esmClass }) => (esmClass & 0x3c) === 0)).toBe(true);
    expect(later.delivered).toEqual([]);
  });

  it('a text from a short code or a name has it as its source, with Latin-1 letters alone, and delays no other', async () => {
    const before = textsOf(client).length;
    const senders = ['21512', 'Böse & Co', 'МТС 👍', 'A name of more than 20 letters', WRITER];
    for (const [n, from] of senders.entries()) await write(`named-${n}`, 'Code 1', from);
    await eventually(async () =>
      expect(
        textsOf(client)
          .slice(before)
          .map(([from]) => from),
      ).toEqual(['21512', 'Böse & Co', '??? ?', 'A name of more than ', WRITER]),
    );
    const tons = client.delivered.slice(-5).map(({ source }) => source.ton);
    expect(tons).toEqual([3, 5, 5, 5, 1]);
  });
});
