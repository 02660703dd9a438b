import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import type { DataSource } from 'typeorm';
import { Processes, type RunningGateway } from '../../e2e/gateway/built-gateway.js';
import { buildGateway } from '../../support/builds.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { answer, Receiver } from './receiver.js';

const RECIPIENTS = 120;

describeEachDatabase('webhooks of a gateway that is killed', (db) => {
  let customer: Receiver;
  const processes = new Processes();
  let gateway: RunningGateway;
  let token: string;
  let source: DataSource;
  const environment = () => ({
    DATABASE_URL: db.url,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    LEASE: '1s',
    RATE_LIMIT: '1000/s',
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([method, path, response.ok]).toEqual([method, path, true]);
    return (await response.json()) as Record<string, unknown>;
  };

  beforeAll(async () => {
    await buildGateway();
    gateway = await processes.gateway(environment());
    await eventually(async () => {
      token = /\b(tok_\w+)\n/.exec(gateway.output)?.[1] ?? '';
      if (token === '') throw new Error('it has not shown its token yet');
    });
    source = await db.open();
  });
  afterAll(() => processes.destroy());
  beforeEach(async () => {
    customer = await Receiver.start();
    await call('POST', '/ng/v1/webhooks', { url: customer.url });
  });
  afterEach(() => customer.close());

  const send = () =>
    call('POST', '/ng/v1/sendsms', {
      from: 'ACME',
      to: Array.from({ length: RECIPIENTS }, (_, n) => `234801234${String(n).padStart(4, '0')}`),
      body: 'Good morning',
      delivery_report: 'yes',
    });
  const killAndRestart = async () => {
    await gateway.stop('SIGKILL');
    gateway = await processes.gateway(environment());
  };
  /** Every status change was called back, and repeated callbacks have the same id. */
  const expectAllOf = async (reference: unknown) => {
    const idsByChange = new Map<string, Set<string>>();
    await eventually(async () => {
      const messages: { position: number; status: number; sequence: number }[] = await source.query(
        `SELECT position, status, sequence FROM messaging_message WHERE batch = '${String(reference)}'`,
      );
      expect(messages.filter(({ status }) => status >= STATUS_RANK.sent)).toHaveLength(RECIPIENTS);
      idsByChange.clear();
      for (const { id, data } of customer.received) {
        const change = `${data.message_id} ${data.sequence}`;
        idsByChange.set(change, (idsByChange.get(change) ?? new Set()).add(id));
      }
      const changes = messages.flatMap(({ position, sequence }) =>
        Array.from({ length: sequence }, (_, n) => `${String(reference)}-${position} ${n + 1}`),
      );
      expect(new Set(idsByChange.keys())).toEqual(new Set(changes));
    }, 45_000);
    for (const ids of idsByChange.values()) expect(ids.size).toBe(1);
    const first = new Map<string, number>();
    for (const { data } of customer.received) {
      const seen = first.get(data.message_id) ?? 0;
      // A repeated callback or the next in order, never a later one.
      expect(data.sequence).toBeLessThanOrEqual(seen + 1);
      first.set(data.message_id, Math.max(seen, data.sequence));
    }
  };

  it('no callback is missed by a kill between status and callback', async () => {
    customer.respond = () => undefined;
    const { reference_id: reference } = await send();
    await eventually(async () => {
      const batch = await call('GET', `/ng/v1/sms/${String(reference)}`);
      expect(batch['counts']).toEqual({ delivered: RECIPIENTS });
    });
    await customer.first(1);
    await gateway.stop('SIGKILL');
    customer.respond = answer(200);
    gateway = await processes.gateway(environment());
    await expectAllOf(reference);
  });

  it('no callback is missed by repeated kills', async () => {
    const { reference_id: reference } = await send();
    for (const part of [20, 100]) {
      await customer.first(part);
      await killAndRestart();
    }
    await expectAllOf(reference);
  });
});
