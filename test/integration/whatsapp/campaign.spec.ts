import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type Clock, ContactsService, WhatsAppService } from '@dundun/messaging';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { GatedTransport } from '../policy/gated.transport.js';
import { bootApp } from '../policy/policy-app.js';

// Sends 2,000 messages.
jest.setTimeout(120_000);

const FROM = '2348000000001';
const [PERSON, OTHER] = ['2348012345601', '2348012345602'];

class LeapingClock implements Clock {
  leap = 0;
  now = () => systemClock.now() + this.leap;
  monotonic = () => systemClock.monotonic() + this.leap;
  id = () => systemClock.id();
}

describeOneDatabase('a STOP in the middle of a WhatsApp campaign', (database) => {
  let app: TestingModule;
  let whatsApp: WhatsAppService;
  let transport: GatedTransport;
  let clock: LeapingClock;
  let written = 0;

  beforeEach(async () => {
    transport = new GatedTransport();
    clock = new LeapingClock();
    const options = {
      transport: () => transport,
      concurrency: 1,
      whatsapp: { from: FROM, templates: 'open' as const },
      inbound: { reply: () => 'You will hear no more from us.' },
    };
    app = await bootApp(database.options(), options, { clock });
    whatsApp = app.get(WhatsAppService);
    await app.get(ContactsService).optIn([PERSON, OTHER], { channel: 'whatsapp', source: 'test' });
  });
  afterEach(() => app.close());

  const write = (from: string, text: string) =>
    app.get(InboundRecorder).record(
      [
        {
          messageId: `wamid.${written++}`,
          channel: 'whatsapp',
          from,
          bsuid: null,
          to: FROM,
          text,
          sentAt: null,
        },
      ],
      { transport: 'gated' },
    );
  const stateOf = async (id: string) => {
    const { status, errorCode } = await whatsApp.message(`${id}-0`);
    return errorCode === null ? status : `${status} ${errorCode}`;
  };

  it.each(['template', 'text'] as const)(
    'a STOP keeps every %s that has not left from being sent',
    async (kind) => {
      if (kind === 'text') for (const from of [PERSON, OTHER]) await write(from, 'Hi');
      let release = (): void => undefined;
      transport.answer = () => new Promise((resolve) => (release = resolve));
      const ids: string[] = [];
      for (let n = 0; n < 20; n++) {
        const to = n % 2 ? OTHER : PERSON;
        const receipt = await (kind === 'text'
          ? whatsApp.sendText({ to, text: `Offer ${n}` })
          : whatsApp.sendTemplate({ to, template: 'offer', language: 'en', params: [`${n}`] }));
        ids.push(receipt.id);
      }
      await eventually(async () => expect(transport.submissions).toHaveLength(1));
      clock.leap += 1;
      await write(PERSON, 'STOP');
      clock.leap += 1_001;
      transport.answer = async () => undefined;
      release();
      for (const [n, id] of ids.entries())
        await eventually(async () =>
          expect(await stateOf(id)).toBe(n === 0 || n % 2 ? 'sent' : 'rejected opted_out'),
        );
      // One left before the STOP, and the answer to it passes.
      await eventually(async () =>
        expect(
          transport.submissions
            .filter(({ recipients }) => recipients[0] === PERSON)
            .map(({ content }) => {
              if (content.kind === 'text') return content.text;
              return content.kind === 'template' ? content.template : undefined;
            }),
        ).toEqual([kind === 'text' ? 'Offer 0' : 'offer', 'You will hear no more from us.']),
      );
      expect(transport.submissions).toHaveLength(12);
    },
  );
});
