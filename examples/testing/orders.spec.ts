import {
  type MessagingMatchers,
  messagingMatchers,
  MessagingTester,
  MessagingTestingModule,
} from '@dundun/messaging/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { OrdersModule, OrdersService } from './orders.service.js';

// Both are done by the set-up file `@dundun/messaging/testing/jest` in the option
// `setupFilesAfterEnv` of an app's Jest.
declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends MessagingMatchers<R> {}
}
expect.extend(messagingMatchers);

describe('orders', () => {
  let app: TestingModule;
  let orders: OrdersService;
  let messaging: MessagingTester;

  beforeEach(async () => {
    // No database server and no provider: messages stay in memory.
    app = await Test.createTestingModule({
      imports: [MessagingTestingModule.forRoot(), OrdersModule],
    }).compile();
    await app.init();
    orders = app.get(OrdersService);
    messaging = app.get(MessagingTester);
  });

  afterEach(() => app.close());

  it('a shipped order is announced, and its delivery is heard', async () => {
    const id = await orders.ship('+234 801 234 5678', messaging.clock.now());
    await messaging.idle();
    expect(messaging).toHaveSent({ to: '2348012345678', body: 'Your order is on its way' });
    expect(messaging).not.toHaveSent({ body: 'How was it?' });
    await messaging.deliver(id);
    expect(orders.delivered).toEqual([id]);
  });

  it('the rating is asked for an hour later', async () => {
    await orders.ship('+234 801 234 5678', messaging.clock.now());
    await messaging.clock.advance('1h');
    expect(messaging).toHaveSent({ body: 'How was it?' });
  });

  it('a failed announcement is not heard as delivered', async () => {
    const id = await orders.ship('+234 801 234 5678', messaging.clock.now());
    await messaging.fail(id, 'absent_subscriber');
    expect(orders.delivered).toEqual([]);
  });
});
