import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ContactsService } from '@dundun/messaging';
import { randomUUID } from 'node:crypto';
import type { Abstract, Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { inboundJob, purgeJob } from '../../../libs/messaging/src/jobs/messaging.jobs.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import { WebhookSender } from '../../../src/webhooks/webhook-sender.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const DAY = 86_400_000;

/** Every time of a row that retention may delete, or must keep. */
const TIMES = {
  messaging_batch: ['created_at', 'completed_at', 'poll_at'],
  messaging_submission: ['first_sent_at', 'finished_at'],
  messaging_report: ['received_at', 'provider_time'],
  messaging_contact: ['created_at'],
  messaging_consent: ['at'],
  messaging_consent_history: ['at', 'recorded_at'],
  messaging_last_inbound: ['last_at'],
  messaging_contact_group: ['created_at'],
  messaging_suppression: ['at'],
  messaging_inbound_message: ['received_at'],
  gateway_webhook_delivery: ['created_at', 'due_at', 'delivered_at'],
  gateway_webhook_attempt: ['started_at'],
  gateway_account: ['created_at'],
  gateway_credential: ['created_at'],
};

/** Tables without a time of their own. */
const OTHERS = ['messaging_batch_chunk', 'messaging_message', 'messaging_group_member'];

describeEachDatabase('retention of a gateway', (db) => {
  const phone = '2348031110000';
  let gateway: TestGateway;
  let account: CreatedAccount;
  let receiver: Receiver;
  let kept: string;

  beforeAll(async () => {
    const settings = { WEBHOOK_ALLOW_PRIVATE: 'true', DATABASE_URL: db.url };
    gateway = await new TestGateway(settings).start();
    account = await gateway.account();
    receiver = await Receiver.start();
    await fill();
  });
  afterAll(async () => {
    await gateway.destroy();
    await receiver.close();
  });

  const get = <T>(token: Type<T> | Abstract<T>): T =>
    gateway.running.app.get<T>(token, { strict: false });
  const query = <T>(sql: string): Promise<T[]> => get(DataSource).query(sql);

  async function counts(): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    for (const table of [...Object.keys(TIMES), ...OTHERS]) {
      const [row] = await query<{ n: string | number }>(`SELECT count(*) AS n FROM ${table}`);
      found[table.replace('messaging_', '')] = Number(row?.n);
    }
    return found;
  }

  /** Two batches that have ended, one that is scheduled, and one row or more of everything else. */
  async function fill(): Promise<void> {
    const { apiToken: token, accountId: tenant } = account;
    const post = (path: string, body: object, headers = {}) =>
      gateway.call('POST', path, { token, body, headers });
    await post('/ng/v1/webhooks', { url: receiver.url });
    const message = { from: 'ACME', body: 'Secret text', delivery_report: 'yes' };
    const send = async (more: object, headers = {}) =>
      String((await post('/ng/v1/sendsms', { ...message, ...more }, headers)).body['reference_id']);
    const contacts = get(ContactsService);
    const group = await contacts.groups.create('Friends', { tenant });
    await contacts.groups.add(group.id, [phone], { tenant });
    await contacts.optIn(phone, { tenant, channel: 'sms', source: 'web form' });
    await contacts.suppress('2348039990000', { tenant, reason: 'complaint' });
    const to = String(await get(AccountSenders).firstOf(tenant, 'whatsapp'));
    const inbound = { channel: 'whatsapp', from: phone, bsuid: null, to, text: 'Hello' };
    await get(InboundRecorder).record([{ ...inbound, messageId: randomUUID(), sentAt: null }], {
      transport: 'simulator',
    });
    const ids = [
      await send({ to: [phone] }, { 'idempotency-key': 'first' }),
      await send({ to: [phone, '2348032220000'] }),
    ];
    kept = await send({ to: [phone], send_at: '2150-01-01T00:00:00Z' });
    for (const [n, id] of ids.entries())
      await eventually(async () => {
        const { body } = await gateway.call('GET', `/ng/v1/sms/${id}`, { token });
        expect(body['counts']).toEqual({ delivered: n + 1 });
      });
    // The receiver gets two statuses for each of three messages, and the inbound message.
    await receiver.first(7);
    const report = { reference: 'of nobody', messageId: null, recipient: phone, errorCode: null };
    await get(MessageStore).reports.record(
      [{ ...report, status: 'delivered', rawStatus: 'DELIVRD', providerTime: null } as never],
      { provider: 'simulator' },
    );
  }

  /** Moves every time back, but not when the scheduled batch is due. */
  async function age(milliseconds: number): Promise<void> {
    for (const [table, columns] of Object.entries(TIMES)) {
      const by = table.startsWith('messaging_') ? milliseconds * 1_000 : milliseconds;
      const moved = (column: string) =>
        column === 'due_at'
          ? `${column} = CASE WHEN ${column} > 0 THEN ${column} - ${by} ELSE ${column} END`
          : `${column} = ${column} - ${by}`;
      await query(`UPDATE ${table} SET ${columns.map(moved).join(', ')}`);
    }
  }

  async function upkeep(): Promise<void> {
    const { signal } = new AbortController();
    const store = get(MessageStore);
    await store.reports.sweep(1_000);
    const webhooks = get(WebhookSender).jobs;
    for (const job of [purgeJob(store), inboundJob(get(InboundRecorder)), ...webhooks])
      await job.run(signal);
  }

  const STAYS = {
    contact: 1,
    consent: 1,
    consent_history: 1,
    last_inbound: 2,
    contact_group: 1,
    group_member: 1,
    suppression: 1,
    gateway_account: 2,
    gateway_credential: 4,
  };

  it('after a month texts, numbers and callbacks are gone, and after a year the batches', async () => {
    expect(await counts()).toEqual({
      ...STAYS,
      batch: 3,
      batch_chunk: 3,
      submission: 2,
      message: 3,
      report: 7,
      inbound_message: 1,
      gateway_webhook_delivery: 7,
      gateway_webhook_attempt: 7,
    });
    await age(31 * DAY);
    await eventually(async () => {
      // A batch whose last poll is due keeps its recipients.
      await upkeep();
      expect(await counts()).toEqual({
        ...STAYS,
        batch: 3,
        batch_chunk: 1,
        submission: 2,
        message: 3,
        report: 6,
        inbound_message: 0,
        gateway_webhook_delivery: 0,
        gateway_webhook_attempt: 0,
      });
    });
    const named = await query<object>(
      `SELECT m.recipient FROM messaging_message m WHERE m.recipient <> ''
       UNION ALL SELECT r.recipient FROM messaging_report r WHERE r.recipient IS NOT NULL
       UNION ALL SELECT b.content FROM messaging_batch b WHERE b.content IS NOT NULL AND b.id <> '${kept}'`,
    );
    expect(named).toEqual([]);

    await age(335 * DAY);
    await upkeep();
    expect(await counts()).toEqual({
      ...STAYS,
      batch: 1,
      batch_chunk: 1,
      submission: 0,
      message: 0,
      report: 0,
      inbound_message: 0,
      gateway_webhook_delivery: 0,
      gateway_webhook_attempt: 0,
    });
    const { body } = await gateway.call('GET', `/ng/v1/sms/${kept}`, { token: account.apiToken });
    expect(body).toMatchObject({ to: [phone], body: 'Secret text', status: 'scheduled' });
  });
});
