import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { http, MessagingModule, SmsService } from '../../../libs/messaging/src/index.js';
import { chances } from './chance.js';
import { dataSourceOptions } from './data-source-options.js';
import { block, Points, tell } from './points.js';
import type { AppCommand, AppSettings, Send } from './protocol.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as AppSettings;
Math.random = chances(settings.seed);
const engine =
  settings.redis === undefined
    ? undefined
    : (await import('../../../libs/messaging/src/engines/bullmq/index.js')).bullMq({
        connection: settings.redis,
      });

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(settings.database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      dispatch: { ...settings.options, ...(engine && { engine }) },
      callbackPath: false,
      transport: http({
        baseUrl: settings.upstream,
        apiToken: 'tok_chaos',
        ...(!settings.honoursKeys && { idempotencyWindow: 0 }),
      }),
    }),
  ],
  providers: [Points],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, {
  logger: process.env['CHAOS_LOG'] === undefined ? false : ['error', 'warn'],
});
app.enableShutdownHooks(['SIGTERM']);
const sms = app.get(SmsService);
const points = app.get(Points);

let tail = Promise.resolve();

/** One after the other, as they come. */
async function send(sends: readonly Send[]): Promise<void> {
  for (const { key, tenant, to } of sends)
    await sms
      .send({ from: 'ACME', to, body: `Chaos ${key}` }, { tenant, idempotencyKey: key })
      .then(
        ({ id }) => tell({ event: 'accepted', key, id }),
        (error: unknown) => tell({ event: 'refused', key, error: String(error) }),
      );
}

process.on('message', (message: AppCommand) => {
  switch (message.command) {
    case 'send':
      tail = tail.then(() => send(message.sends));
      break;
    case 'arm':
      points.arm(message);
      break;
    case 'block':
      block();
      break;
    case 'disarm':
      points.disarm();
      break;
    default:
      message satisfies never;
  }
});
process.on('disconnect', () => process.exit());
tell({ event: 'ready' });
