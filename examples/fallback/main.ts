import {
  ContactsService,
  defineTemplates,
  MessagingModule,
  NotificationService,
  simulator,
} from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { setTimeout as pause } from 'node:timers/promises';
import { exampleDatabase } from '../database.js';

const templates = defineTemplates({
  order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
});

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({
      providers: {
        texts: simulator({ channels: ['sms'] }),
        // Reports no delivery for a long time, as where the recipient's phone is off.
        platform: simulator({ channels: ['whatsapp'], reportDelay: '1h' }),
      },
      routes: [
        { channel: 'whatsapp', use: 'platform' },
        { channel: 'sms', use: 'texts' },
      ],
      whatsapp: { templates },
    }),
  ],
})
class AppModule {}

/** WhatsApp, and SMS where WhatsApp is denied or does not report a delivery in time. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const notifications = app.get(NotificationService);

  const notify = async (to: string): Promise<void> => {
    const { id } = await notifications.send(
      {
        via: ['whatsapp', 'sms'],
        whatsapp: { template: templates.order_update, params: { name: 'Ada', order: '1001' } },
        sms: { from: 'ACME', body: 'Hi Ada, order 1001 is on its way' },
        // `unless: 'delivered'` prefers a message on both channels to none.
        fallback: { after: '1s', unless: 'delivered' },
      },
      to,
    );
    let notification = await notifications.find(id);
    while (notification.status === 'pending') {
      await pause(50);
      notification = await notifications.find(id);
    }
    const steps = notification.steps.map(({ channel, status }) => `${channel} ${status}`);
    console.log(`${to}: ${notification.status} (${steps.join(', ')})`);
  };

  await notify('2348012345671');
  await app
    .get(ContactsService)
    .optIn('2348012345672', { channel: 'whatsapp', source: 'web form' });
  await notify('2348012345672');
  await app.close();
}
