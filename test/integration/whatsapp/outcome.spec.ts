import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { ContactsService, simulator, WhatsAppService } from '@dundun/messaging';
import { describeOneDatabase } from '../../support/databases.js';
import { whileInUse } from '../../support/while-in-use.js';
import { bootApp } from '../policy/policy-app.js';

const FROM = '2348000000001';

describeOneDatabase('a WhatsApp message that another process dispatches', (database) => {
  let accepting: TestingModule;
  let dispatching: TestingModule;
  let whatsApp: WhatsAppService;
  let next = 0;

  const send = async (digits: string) => {
    const to = `23480${6_000 + next++}${digits}`;
    await accepting.get(ContactsService).optIn(to, { channel: 'whatsapp', source: 'test' });
    return whatsApp.sendTemplate({ to, template: 'hello', language: 'en', category: 'utility' });
  };

  beforeAll(async () => {
    const options = {
      transport: simulator({
        reportDelay: 1,
        rateCard: { currency: 'NGN', whatsapp: { utility: '6.7' } },
      }),
      whatsapp: { from: FROM, templates: 'open' as const },
    };
    accepting = await bootApp(database.options(), { ...options, dispatch: false });
    dispatching = await bootApp(database.options(), options);
    whatsApp = accepting.get(WhatsAppService);
  });
  afterAll(async () => {
    await accepting.close();
    await dispatching.close();
  });

  it('outcome() resolves in the accepting process for all waiters', async () => {
    const receipts = await Promise.all(['0000', '9903', '0000'].map(send));
    const outcomes = await Promise.all(receipts.map((one) => one.outcome({ timeout: '60s' })));
    expect(outcomes.map(({ status }) => status === 'rejected')).toEqual([false, true, false]);
    expect(outcomes[0]).toMatchObject({
      id: `${receipts[0]!.id}-0`,
      providerId: expect.stringMatching(/^wamid\./),
      category: 'utility',
      cost: '6.7',
      currency: 'NGN',
      sender: FROM,
    });
    expect(outcomes[1]).toMatchObject({ errorCode: 'destination_refused', cost: null });
  });

  it('one key sent to two processes is one message with one outcome', async () => {
    const to = `23480${6_000 + next++}0000`;
    await accepting.get(ContactsService).optIn(to, { channel: 'whatsapp', source: 'test' });
    const outcomes = await Promise.all(
      [accepting, dispatching].map(async (app) => {
        const message = { to, template: 'hello', language: 'en' };
        const options = { idempotencyKey: 'both' };
        const service = app.get(WhatsAppService);
        const receipt = await whileInUse(() => service.sendTemplate(message, options));
        const { id, providerId } = await receipt.outcome({ timeout: '60s' });
        return { id, providerId };
      }),
    );
    expect(outcomes[0]?.providerId).toMatch(/^wamid\./);
    expect(outcomes[1]).toEqual(outcomes[0]);
  });
});
