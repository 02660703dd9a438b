import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import * as fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { SmsService, VoiceService } from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { STATUS_RANK } from '../../../libs/messaging/src/message/status.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { fillUnreported } from '../../support/filled-store.js';
import { bootApp } from '../policy/policy-app.js';

const HOUR = 3_600_000;
const TENANTS = ['acme', 'globex'];
const FROM = { sms: 'ACME', voice: '2348000000001' } as const;
/** The simulator does not reach these. */
const FAILING = '23480100099';

describeEachDatabase('the outcomes of messages', (database) => {
  let app: TestingModule;
  let history: MessageHistory;
  let source: DataSource;

  beforeAll(async () => {
    app = await bootApp(database.options());
    history = app.get(MessageHistory);
    source = await database.open();
    const to = Array.from({ length: 12 }, (_, n) => `23480100000${String(n + 10)}`);
    for (const tenant of TENANTS) {
      const sent = [...to, `${FAILING}01`, `${FAILING}02`, `${FAILING}03`];
      const sms = app.get(SmsService);
      await sms.send({ from: FROM.sms, to: sent, body: 'x' }, { tenant });
      const sendAt = new Date(Date.now() + HOUR);
      await sms.send({ from: FROM.sms, to, body: 'x', sendAt }, { tenant });
      const later = await sms.send({ from: FROM.sms, to, body: 'x', sendAt }, { tenant });
      await sms.cancel(later.id, { tenant });
      await app
        .get(VoiceService)
        .send({ from: FROM.voice, to: [...to, `${FAILING}01`], text: 'x' }, { tenant });
    }
    await eventually(async () => {
      const { data } = await history.messages({ limit: 1_000 });
      const open = data.filter(({ status, sendAt }) => {
        return !sendAt && !/delivered|completed|busy|undelivered|expired|rejected/.test(status);
      });
      if (open.length > 0) throw new Error(`${open.length} messages have no end`);
    });
  });
  afterAll(() => app.close());

  const period = () => ({
    since: new Date(Date.now() - HOUR),
    until: new Date(Date.now() + HOUR),
    interval: 'hour' as const,
  });
  const outcomes = async (filter: { tenants?: readonly string[]; channel?: string } = {}) => {
    const { slots, countedSince } = await history.presentStatuses({ ...period(), ...filter });
    expect(countedSince).toBeNull();
    return slots;
  };

  /** By channel and status, of the messages themselves. */
  const counted = async (tenants: readonly string[], channel?: string) => {
    const counts: Record<string, number> = {};
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await history.messages({ tenants, channel, limit: 1_000, cursor });
      for (const one of page.data) {
        const key = `${one.channel} ${one.status}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      cursor = page.nextCursor;
    }
    return counts;
  };
  const summed = (slots: Awaited<ReturnType<typeof outcomes>>) => {
    const counts: Record<string, number> = {};
    for (const { channel, accepted, outcomes: own } of slots) {
      expect(own.reduce((sum, { messages }) => sum + messages, 0)).toBe(accepted);
      for (const { status, messages } of own) {
        const key = `${channel} ${status}`;
        counts[key] = (counts[key] ?? 0) + messages;
      }
    }
    return counts;
  };

  it('a message counts as sent once a provider accepted it, also where it was not delivered', async () => {
    const { data } = await history.messages({ limit: 1_000 });
    const sent: Record<string, number> = { sms: 0, voice: 0 };
    for (const { id, channel } of data) {
      const { reports } = await history.message(id);
      const isSent = reports.some(
        ({ status, rawStatus }) =>
          status !== null &&
          (['sent', 'initiated', 'delivered', 'completed'].includes(status) ||
            !['submit', 'policy'].includes(rawStatus)),
      );
      if (isSent) sent[channel] = (sent[channel] ?? 0) + 1;
    }
    expect(sent['sms']).toBeGreaterThan(24);
    const slots = await outcomes();
    const sentOf = (channel: string) =>
      slots.filter((one) => one.channel === channel).reduce((sum, one) => sum + one.sent, 0);
    expect({ sms: sentOf('sms'), voice: sentOf('voice') }).toEqual(sent);
  });

  it('the counts are those of the messages, whatever their statuses, for each tenant and channel', async () => {
    const statuses = Object.values(STATUS_RANK).filter((rank) => rank !== STATUS_RANK.queued);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...statuses), { minLength: 15, maxLength: 15 }),
        async (ranks) => {
          for (const [position, rank] of ranks.entries())
            await source.query(
              `UPDATE messaging_message SET status = ${rank} WHERE position = ${position}
             AND batch IN (SELECT id FROM messaging_batch WHERE channel = 'sms')`,
            );
          for (const tenants of [['acme'], TENANTS])
            for (const channel of [undefined, 'sms', 'voice']) {
              const scope = { tenants, ...(channel && { channel }) };
              expect(summed(await outcomes(scope))).toEqual(await counted(tenants, channel));
            }
        },
      ),
      { numRuns: 5 },
    );
  });

  it('the error of a failure is that of its channel', async () => {
    const slots = await outcomes({ tenants: ['acme'] });
    const busy = slots.find(({ channel }) => channel === 'voice')?.outcomes;
    const listed = await history.messages({ tenants: ['acme'], channel: 'voice', status: 'busy' });
    expect(busy).toContainEqual({
      status: 'busy',
      errorCode: listed.data[0]?.errorCode ?? null,
      messages: 1,
    });
  });

  it('a batch of 25,000 recipients is counted in parts', async () => {
    const batch = await fillUnreported(source, database.kind, 'large', 'simulator', 25);
    await source.query(
      `UPDATE messaging_message SET status = 70, error_code = 'gone' WHERE batch = '${batch}' AND position >= 24000`,
    );
    await source.query(
      `INSERT INTO messaging_report (tenant, batch, position, provider, status, raw_status, received_at)
       SELECT 'large', batch, position, 'simulator', ${STATUS_RANK.sent}, 'submit', 1 FROM messaging_message
       WHERE batch = '${batch}' AND position < 24500`,
    );
    const { slots } = await history.presentStatuses({
      ...period(),
      // The id of the batch has an earlier time.
      since: new Date('2024-01-01'),
      interval: 'day',
      tenants: ['large'],
    });
    expect(slots).toMatchObject([{ channel: 'sms', accepted: 25_000, sent: 24_500 }]);
    expect(slots[0]?.outcomes).toEqual([
      { status: 'sent', errorCode: null, messages: 24_000 },
      { status: 'failed', errorCode: 'gone', messages: 1_000 },
    ]);
  });
});
