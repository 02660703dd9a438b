import {
  type Channel,
  MessageValidationError,
  type Notifiable,
  Notification,
  Notifier,
} from '@dundun/messaging';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { describeOneDatabase } from '../../support/databases.js';
import { NotificationApp } from './notification-app.js';

class Customer implements Notifiable {
  constructor(
    readonly name: string,
    private readonly routes: Readonly<Record<string, string>>,
    readonly locale: string | null = null,
  ) {}

  routeFor(channel: Channel): string | undefined {
    return this.routes[channel];
  }
}

class OrderShipped extends Notification<Customer> {
  constructor(private readonly order: string) {
    super();
  }

  via() {
    return ['whatsapp', 'sms', 'email'] as const;
  }

  whatsapp({ name }: Customer) {
    return { template: 'order', language: 'en', params: [name] };
  }

  async sms({ name }: Customer, locale = 'en') {
    const hello = locale === 'fr' ? 'Bonjour' : 'Hi';
    return { from: 'ACME', body: `${hello} ${name}, ${this.order}` };
  }

  override fallback() {
    return { after: '2m' } as const;
  }

  override labels() {
    return { tags: ['orders'] };
  }
}

describeOneDatabase('notifications as classes', (database) => {
  let app: NotificationApp;
  let notifier: Notifier;
  beforeAll(async () => {
    app = await NotificationApp.start(database);
    notifier = app.get(Notifier);
  });
  afterAll(() => app.close());
  beforeEach(() => {
    app.tenant = randomUUID();
  });

  const viewOf = (id: string) => app.notifications.find(id, { tenant: app.tenant });

  it('each channel has the message of its method, and those without a route or a message are left out', async () => {
    const to = await app.person();
    const ada = new Customer('Ada', { whatsapp: to, sms: to, email: 'ada@example.com' });
    const { id } = await notifier.send(ada, new OrderShipped('#17'), { tenant: app.tenant });
    expect((await viewOf(id)).steps).toMatchObject([
      { channel: 'whatsapp' },
      { channel: 'sms', status: 'waiting' },
    ]);
    await app.until(id, 'sent', 'waiting');
    const sent = app.transport.submissions.filter(({ recipients }) => recipients[0] === to);
    expect(sent).toMatchObject([
      { channel: 'whatsapp', content: { template: 'order', params: ['Ada'] } },
    ]);
  });

  it('the locale is that of the send, else that of the entity', async () => {
    const bodies: unknown[] = [];
    for (const locale of [undefined, 'fr']) {
      const to = await app.person();
      const bola = new Customer('Bola', { sms: to }, locale === undefined ? 'fr' : 'en');
      const options = { tenant: app.tenant, ...(locale !== undefined && { locale }) };
      const { id } = await notifier.send(bola, new OrderShipped('#17'), options);
      await app.until(id, 'sent');
      bodies.push(
        app.transport.submissions.find(({ recipients }) => recipients[0] === to)?.content,
      );
    }
    expect(bodies).toMatchObject(
      Array.from({ length: 2 }, () => ({ kind: 'text', text: 'Bonjour Bola, #17' })),
    );
  });

  it('a rolled-back transaction takes the notification with it', async () => {
    const to = await app.person();
    const rolledBack = app.get(DataSource).transaction(async (manager) => {
      const options = { tenant: app.tenant, manager };
      await notifier.send(new Customer('Ada', { sms: to }), new OrderShipped('#17'), options);
      throw new Error('no order');
    });
    await expect(rolledBack).rejects.toThrow('no order');
    expect(app.sent(to)).toEqual([]);
  });

  it.each([
    ['no route', {}, 'via'],
    ['two numbers', { whatsapp: '2348012345678', sms: '2348012345679' }, 'routeFor.sms'],
    ['a wrong number', { sms: '12' }, 'to'],
  ])('an entity with %s is refused by the name of the field', async (_title, routes, path) => {
    const send = notifier.send(new Customer('Ada', routes), new OrderShipped('#17'));
    const error = await send.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MessageValidationError);
    expect((error as MessageValidationError).fields).toMatchObject([{ path }]);
  });
});
