import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { describeEachDatabase } from '../../support/databases.js';
import { untilTransactionsWait } from '../../support/lock-waits.js';
import { type Answered, TestGateway } from './test-gateway.js';

const SEND = '/ng/v1/sendsms';
const BODY = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
const KEYS = Array.from({ length: 20 }, (_, index) => `order-${index}`);

describeEachDatabase('two gateways on one database', (database) => {
  let one: TestGateway;
  let other: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    one = await new TestGateway({ DATABASE_URL: database.url }).start();
    account = await one.account();
    other = await new TestGateway({ DATABASE_URL: database.url }).start();
  });
  afterAll(async () => {
    await one.destroy();
    await other.destroy();
  });

  const send = async (
    gateway: TestGateway,
    key: string,
    body: object = BODY,
  ): Promise<Answered> => {
    const headers = { 'idempotency-key': key };
    const answer = await gateway.call('POST', SEND, { token: account.apiToken, body, headers });
    // The other process is still busy with the key: repeat, as the error says.
    return answer.status === 409 ? send(gateway, key, body) : answer;
  };

  it('two gateways that get one idempotency key at the same time create one batch', async () => {
    const answers = await Promise.all(
      KEYS.map((key) => Promise.all([one, other, one, other].map((gateway) => send(gateway, key)))),
    );
    for (const same of answers) {
      expect(same.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(same.map(({ body }) => body['reference_id'])).size).toBe(1);
      const first = same.filter(({ headers }) => headers.get('idempotent-replayed') === null);
      expect(first).toHaveLength(1);
    }
    const list = await other.call('GET', '/ng/v1/sms?limit=100', { token: account.apiToken });
    expect(list.body['data']).toHaveLength(KEYS.length);
    const [key = ''] = KEYS;
    expect((await send(other, key, { ...BODY, body: 'Other' })).body).toMatchObject({
      error: { code: 'idempotency_key_reused' },
    });
  });

  it('of two concurrent token rotations one new token remains', async () => {
    const { accountId } = await one.account('rotated');
    const rotate = () =>
      Promise.all([one, other].map((gateway) => gateway.accounts.rotateToken(accountId)));
    const source = one.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
    let rotated: string[];
    // On SQLite a whole transaction is one turn.
    if (database.kind === 'sqlite') rotated = await rotate();
    else {
      const runner = source.createQueryRunner();
      await runner.startTransaction('READ COMMITTED');
      await runner.query(
        `SELECT id FROM gateway_credential WHERE account_id = '${accountId}' FOR UPDATE`,
      );
      const rotating = rotate();
      await untilTransactionsWait(database.kind, source, 2);
      await runner.commitTransaction();
      await runner.release();
      rotated = await rotating;
    }
    const answers = await Promise.all(
      rotated.map((token) => one.call('GET', '/ng/v1/sms', { token })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  });
});
