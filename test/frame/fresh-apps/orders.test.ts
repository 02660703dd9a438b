import { SmsService } from '@dundun/messaging';
import {
  inMemoryDatabase,
  MessagingTester,
  MessagingTestingModule,
} from '@dundun/messaging/testing';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AppModule } from './app.module.js';
import { Order } from './order.entity.js';
import { DECLINED, OrdersModule, OrdersService } from './orders.module.js';

describe('orders', () => {
  let app: TestingModule;
  let messaging: MessagingTester;
  let orders: OrdersService;

  beforeEach(async () => {
    app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...inMemoryDatabase(), entities: [Order], synchronize: true }),
        EventEmitterModule.forRoot(),
        MessagingTestingModule.forRoot({ dataSource: 'default' }),
        OrdersModule,
      ],
    }).compile();
    await app.init();
    messaging = app.get(MessagingTester);
    orders = app.get(OrdersService);
  });

  afterEach(() => app.close());

  it('a shipped order is announced, and its delivery is heard', async () => {
    const id = await orders.ship('+234 801 234 5678');
    await messaging.idle();
    expect(messaging).toHaveSent({
      channel: 'sms',
      to: '2348012345678',
      body: expect.stringContaining('on its way'),
    });
    await messaging.deliver(id);
    expect(orders.delivered).toEqual([id]);
  });

  it('an order is placed with its message, and a declined one has neither', async () => {
    await orders.place('+234 801 234 5679');
    await expect(orders.place(DECLINED)).rejects.toThrow('declined');
    await messaging.idle();
    expect(messaging).toHaveSent({ to: '2348012345679', body: 'Thank you' });
    expect(messaging).not.toHaveSent({ to: DECLINED });
    expect(await orders.stored()).toEqual({ orders: 1, messages: 1 });
  });

  it('a scheduled message leaves when the clock advances', async () => {
    const sms = app.get(SmsService, { strict: false });
    const sendAt = new Date(messaging.clock.now().getTime() + 3_600_000);
    const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'Rate us', sendAt });
    await messaging.idle();
    expect(messaging).toHaveSentNothing();
    await messaging.clock.advance('1h');
    expect(messaging).toHaveSent({ body: 'Rate us' });
    await messaging.fail(id, 'absent_subscriber');
    expect((await sms.batch(id)).counts).toEqual({ failed: 1 });
  });

  it('a failed expectation says what was sent', async () => {
    await orders.ship('2348012345678');
    await messaging.idle();
    expect(() => expect(messaging).toHaveSent({ body: 'Hello' })).toThrow('on its way');
    expect(() => expect(messaging).toHaveSentNothing()).toThrow('on its way');
  });
});

it('the whole app boots in a test, with its dashboard', async () => {
  const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
  await app.init();
  expect(app.get(OrdersService, { strict: false }).delivered).toEqual([]);
  await app.close();
});
