import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { failover, MessagingModule, SmsService } from '@dundun/messaging';
import { africasTalking } from '@dundun/messaging/africas-talking';
import { twilio } from '@dundun/messaging/twilio';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { AfricasTalkingServer } from '../../support/providers/africas-talking-server.js';
import { TwilioServer } from '../../support/providers/twilio-server.js';

const REACHED = '2348012340001';
const INVALID = '2348012349901';
const UNROUTABLE = '2348012349905';

describeEachDatabase(
  'a route from one provider over HTTP to another',
  (database) => {
    const first = new AfricasTalkingServer();
    const second = new TwilioServer();
    let app: INestApplicationContext;
    let sms: SmsService;

    beforeAll(async () => {
      await Promise.all([first.listen(), second.listen()]);
      const module = await Test.createTestingModule({
        imports: [
          TypeOrmModule.forRoot(database.options()),
          MessagingModule.forRoot({
            providers: { first: africasTalking(first.options), second: twilio(second.options) },
            routes: [{ use: failover('first', 'second') }],
            callbacks: { insecure: true, provider: 'second' },
          }),
        ],
      }).compile();
      app = await module.init();
      sms = app.get(SmsService);
    });
    afterAll(async () => {
      await app.close();
      await Promise.all([first.close(), second.close()]);
    });
    const counts = async (id: string) => (await sms.batch(id)).counts;
    const bySecond = () => second.taken.map(({ fields }) => fields.get('To'));

    it('recipients of a request that the first provider cannot route leave by the second', async () => {
      const to = [REACHED, INVALID, UNROUTABLE];
      const { id } = await sms.send({ to, from: 'ACME', body: 'Hi' });
      await eventually(async () => expect(await counts(id)).toEqual({ sent: 2, rejected: 1 }));
      expect(first.taken.map((one) => one.to)).toEqual([`+${REACHED}`]);
      expect(bySecond()).toEqual([`+${UNROUTABLE}`]);
    });

    it('a message whose answer the first provider loses never leaves by the second', async () => {
      const before = bySecond();
      first.loseNextAnswer();
      const { id } = await sms.send({ to: REACHED, from: 'ACME', body: 'Hi' });
      await eventually(async () => expect(await counts(id)).toEqual({ unknown: 1 }));
      expect(bySecond()).toEqual(before);
    });
  },
  ['sqlite'],
);
