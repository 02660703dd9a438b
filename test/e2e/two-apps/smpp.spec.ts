import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { SmppCredentials } from '../../../src/smpp/smpp-credentials.service.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { TestGateway } from '../gateway/test-gateway.js';

const LONG = `Привет ${'мир 🙂 '.repeat(40)}конец`;

/** `CARRIER=smpp` of one gateway binds to `SMPP_LISTEN` of the other. */
describeOneDatabase('a gateway that sends over SMPP through another one', (database) => {
  let carrier: TestGateway;
  let gateway: TestGateway;
  let theirs: CreatedAccount;
  let account: CreatedAccount;

  beforeAll(async () => {
    const port = await freePort();
    carrier = new TestGateway({ SMPP_LISTEN: `127.0.0.1:${port}` });
    carrier.databaseUrl = await database.another();
    await carrier.start();
    theirs = await carrier.account('gateway');
    const { systemId, password } = await carrier.running.app
      .get(SmppCredentials, { strict: false })
      .add(theirs.accountId);
    gateway = await new TestGateway({
      DATABASE_URL: database.url,
      CARRIER: 'smpp',
      SMPP_URL: `smpp://${systemId}:${password}@127.0.0.1:${port}`,
    }).start();
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.destroy();
    await carrier.destroy();
  });

  async function send(to: string, fields: object = {}): Promise<string> {
    const body = { from: 'ACME', to: [to], body: 'Hello', ...fields };
    const answer = await gateway.call('POST', '/ng/v1/sendsms', { token: account.apiToken, body });
    expect(answer.status).toBe(200);
    return String(answer.body['reference_id']);
  }
  const expectCounts = (id: string, counts: object): Promise<void> =>
    eventually(async () => {
      const { apiToken: token } = account;
      const { body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
      expect(body['counts']).toEqual(counts);
    });

  it('a short and a long text arrive unchanged, and receipts bring their outcomes back', async () => {
    const delivered = await send('2348012345678', { body: LONG });
    await expectCounts(delivered, { delivered: 1 });
    const { body } = await carrier.call('GET', '/ng/v1/sms?limit=1', { token: theirs.apiToken });
    expect(body['data']).toMatchObject([{ from: 'ACME', body: LONG, counts: { delivered: 1 } }]);
    await expectCounts(await send('2348012349901'), { undelivered: 1 });
    await expectCounts(await send('2348012345679'), { delivered: 1 });
  });

  it('a sender that the other gateway does not know is rejected', async () => {
    const { accountId } = account;
    await gateway.senders.add({ accountId, channel: 'sms', sender: 'OTHER' });
    const id = await send('2348012345678', { from: 'OTHER' });
    await eventually(async () => {
      const { apiToken: token } = account;
      const { body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
      expect(Object.keys(body['counts'] as object)).toEqual([
        expect.stringMatching(/^(failed|rejected)$/),
      ]);
    });
  });
});
