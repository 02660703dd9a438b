import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  EmailService,
  MessagingModule,
  NotificationService,
  simulator,
  SmsService,
  VasService,
  VerificationService,
} from '@dundun/messaging';
import { MessageHistory } from '@dundun/messaging/operations';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InboundRecorder } from '../../../libs/messaging/src/contacts/inbound.js';
import { VAS } from '../../../libs/messaging/src/providers/simulator/outcomes/vas.js';
import { describeEachEncoding } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const TEXT = 'Café 👍 年 عربي';
const tenant = 'demo';
const products = VAS.products!.map((product) => ({ ...product, network: TEXT }));

describeEachEncoding('texts of the library', (database) => {
  let app: TestingModule;

  beforeAll(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator({ outcomes: { vas: { ...VAS, products } } }),
          inbound: { tenant: () => tenant },
          erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
          callbackPath: false,
        }),
      ],
    }).compile();
    app.useLogger(false);
    await app.init();
  });
  afterAll(() => app.close());

  it('an inbound text and the name of its sender keep every letter', async () => {
    const message = {
      messageId: 'in-1',
      channel: 'sms',
      from: TEXT,
      bsuid: null,
      to: '20880',
      text: TEXT,
      sentAt: null,
    };
    const record = () => app.get(InboundRecorder).record([message], { transport: 'simulator' });
    await record();
    await record();
    const received = await app.get(MessageHistory).inbound({ tenants: [tenant] });
    expect(received).toMatchObject([{ from: TEXT, to: '20880', text: TEXT }]);
  });

  it('the texts of a notification keep every letter', async () => {
    const notifications = app.get(NotificationService);
    const { id } = await notifications.send(
      {
        via: ['sms', 'email'],
        sms: { from: 'ACME', body: TEXT },
        email: { from: 'a@example.com', subject: TEXT, text: TEXT },
        tags: ['vip'],
        metadata: { note: TEXT },
      },
      { phone: '2348012345678', email: 'ada@example.com' },
      { tenant },
    );
    await eventually(async () =>
      expect(await notifications.find(id, { tenant })).toMatchObject({ status: 'delivered' }),
    );
    const [message] = (await app.get(SmsService).list({ tenant })).data;
    expect(await app.get(SmsService).batch(message!.batchId, { tenant })).toMatchObject({
      content: { text: TEXT },
      metadata: { note: TEXT },
    });
  });

  it('an order keeps every letter of its network', async () => {
    const vas = app.get(VasService);
    await vas.allow({ currency: 'NGN', daily: '1000', perNumber: '500' }, { tenant });
    const order = {
      to: '2348012345678',
      product: 'airtime-ng',
      amount: '100',
      clientReference: 'one',
      network: TEXT,
    };
    const { id } = await vas.order(order, { tenant });
    expect(await vas.find(id, { tenant })).toMatchObject({ network: TEXT });
    expect((await vas.order(order, { tenant })).replayed).toBe(true);
  });

  it('a one-time code goes to an address with every letter', async () => {
    const codes = app.get(VerificationService);
    const to = '年ñ👍@example.com';
    const from = `${TEXT} <a@example.com>`;
    const { id } = await codes.start({ to, channel: 'email', from }, { tenant });
    expect(await codes.find(id, { tenant })).toMatchObject({ id, status: 'pending' });
    const { data } = await app.get(EmailService).list({ tenant });
    expect(data.map(({ recipient }) => recipient)).toContain(to);
    await expect(codes.start({ to, channel: 'email', from }, { tenant })).rejects.toMatchObject({
      scope: 'recipient',
    });
  });
});
