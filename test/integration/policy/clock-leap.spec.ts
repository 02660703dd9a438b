import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type Clock, ContactsService, SmsService } from '@dundun/messaging';
import { InboundListeners } from '../../../libs/messaging/src/ports/listeners.js';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import { bootApp } from './policy-app.js';

const HOUR = 3_600_000;
const message = (to: string) => ({ from: 'ACME', to, body: 'Hello' });

class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic();
  id = () => systemClock.id();
}

describeOneDatabase('a clock that went an hour ahead and is put right', (database) => {
  let app: TestingModule;
  let contacts: ContactsService;
  const clock = new LeapingClock();
  const heard: unknown[] = [];

  beforeAll(async () => {
    app = await bootApp(database.options(), {}, { clock });
    contacts = app.get(ContactsService);
    app.get(InboundListeners).add({
      onInbound: async (all) => void heard.push(...all.map(({ consent }) => consent)),
    });
  });
  afterAll(() => app.close());

  const saidIn = { channel: 'sms', source: 'web form' } as const;
  const stops = {
    'by the app': (from: string) => contacts.optOut(from, { channel: 'sms', source: 'letter' }),
    'by their STOP': async (from: string) => {
      const to = '2348000000001';
      const stop = {
        messageId: from,
        channel: 'sms',
        from,
        bsuid: null,
        to,
        text: 'Stop',
      } as const;
      await app
        .get(InboundRecorder)
        .record([{ ...stop, sentAt: null }], { transport: 'simulator' });
      expect(heard).toEqual(['opted_out']);
    },
  };

  it.each(Object.entries(stops))(
    'a refusal from the time of a wrong clock counts after the correction, %s',
    async (by, stop) => {
      const phone = by === 'by the app' ? '2348041000000' : '2348041000010';
      clock.leap = HOUR;
      await contacts.optIn(phone, saidIn);
      clock.leap = 0;
      await stop(phone);
      await expect(app.get(SmsService).send(message(phone))).rejects.toMatchObject({
        code: 'opted_out',
      });
      // A later opt-in counts.
      clock.leap = 1_000;
      await contacts.optIn(phone, saidIn);
      expect((await app.get(SmsService).send(message(phone))).recipients).toBe(1);
    },
  );
});
