import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { http, MessagingModule, VasService } from '../../../libs/messaging/src/index.js';
import { dataSourceOptions } from './data-source-options.js';
import { Points, tell } from './points.js';
import { type AppCommand, moment, type OrderAppSettings, type Send } from './protocol.js';

const { database, operator } = JSON.parse(process.argv[2] ?? '{}') as OrderAppSettings;

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      dispatch: { concurrency: 4, lease: '3s', backoff: '50ms' },
      reports: { pollAfter: '1s' },
      callbackPath: false,
      providers: {
        operator: http({ baseUrl: operator, apiToken: 'tok_x', idempotencyWindow: 0 }),
      },
    }),
  ],
  providers: [Points],
})
class OrderAppModule {}

const app = await NestFactory.createApplicationContext(OrderAppModule, { logger: false });
const vas = app.get(VasService);
const points = app.get(Points);
await vas.allow({ currency: 'NGN', daily: '1000000', perNumber: '1000000' });

async function order({ key, to }: Send): Promise<void> {
  const [number = ''] = to;
  tell({ event: 'calling', key, at: moment() });
  await vas.order({ to: number, product: 'airtime', amount: '100', clientReference: key }).then(
    ({ id }) => {
      points.pass('after-accept');
      tell({ event: 'accepted', key, id, at: moment() });
    },
    (error: unknown) => tell({ event: 'refused', key, error: String(error) }),
  );
}

process.on('message', (message: AppCommand) => {
  if (message.command === 'send') for (const one of message.sends) void order(one);
  else if (message.command === 'arm') points.arm(message);
});
process.on('disconnect', () => process.exit());
tell({ event: 'ready' });
