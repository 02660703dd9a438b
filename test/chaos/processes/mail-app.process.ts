import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailService, MessagingModule } from '../../../libs/messaging/src/index.js';
import { smtp } from '../../../libs/messaging/src/providers/smtp/index.js';
import { chances } from './chance.js';
import { dataSourceOptions } from './data-source-options.js';
import type { MailAppSettings } from './mail-protocol.js';
import { Points, tell } from './points.js';
import { type AppCommand, moment, type Send } from './protocol.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as MailAppSettings;
Math.random = chances(settings.seed);
const { concurrency, relay, onUncertain } = settings;

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(settings.database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      dispatch: { concurrency, lease: '3s', backoff: '50ms' },
      callbackPath: false,
      providers: {
        mail: smtp({ url: relay, tls: 'off', connections: concurrency, onUncertain }),
      },
    }),
  ],
  providers: [Points],
})
class MailAppModule {}

const app = await NestFactory.createApplicationContext(MailAppModule, {
  logger: process.env['CHAOS_LOG'] === undefined ? false : ['error', 'warn'],
});
const email = app.get(EmailService);
const points = app.get(Points);

async function send({ key, tenant, to }: Send): Promise<void> {
  const message = {
    from: 'Shop <orders@shop.example>',
    recipients: to.map((address, index) => ({ email: address, variables: { n: String(index) } })),
    subject: 'Order {{n}}',
    html: '<p>Your order {{n}} is on its way.</p>',
  };
  tell({ event: 'calling', key, at: moment() });
  await email.send(message, { tenant, idempotencyKey: key }).then(
    ({ id }) => tell({ event: 'accepted', key, id, at: moment() }),
    (error: unknown) => tell({ event: 'refused', key, error: String(error) }),
  );
}

process.on('message', (message: AppCommand) => {
  if (message.command === 'send') for (const one of message.sends) void send(one);
  else if (message.command === 'arm') points.arm(message);
});
process.on('disconnect', () => process.exit());
tell({ event: 'ready' });
