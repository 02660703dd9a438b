import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  failover,
  http,
  MessagingModule,
  SmsService,
  VoiceService,
} from '../../../libs/messaging/src/index.js';
import { MESSAGING_SPEND_GUARD } from '../../../libs/messaging/src/ports.js';
import { CreditsGuard } from '../../../examples/prepaid-credits/credits.guard.js';
import { CreditAccount, CreditBatch } from '../../../examples/prepaid-credits/credits.tables.js';
import { chances } from './chance.js';
import { dataSourceOptions } from './data-source-options.js';
import { block, Points, tell } from './points.js';
import { type AppCommand, type AppSettings, moment, type Send } from './protocol.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as AppSettings;
Math.random = chances(settings.seed);
const engine =
  settings.redis === undefined
    ? undefined
    : (await import('../../../libs/messaging/src/engines/bullmq/index.js')).bullMq({
        connection: settings.redis,
      });

function providerAt(baseUrl: string) {
  const keys = !settings.honoursKeys && { idempotencyWindow: 0 };
  return http({ baseUrl, apiToken: 'tok_chaos', ...keys });
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      ...dataSourceOptions(settings.database),
      entities: settings.pays ? [CreditAccount, CreditBatch] : [],
      retryAttempts: 0,
    }),
    MessagingModule.forRoot({
      dispatch: { ...settings.options, ...(engine && { engine }) },
      callbackPath: false,
      ...(settings.redials && { reports: { pollAfter: '1s' } }),
      ...(settings.next === undefined
        ? { transport: providerAt(settings.upstream) }
        : {
            providers: { first: providerAt(settings.upstream), next: providerAt(settings.next) },
            routes: [{ use: failover('first', 'next') }],
          }),
    }),
  ],
  providers: [
    Points,
    ...(settings.pays ? [{ provide: MESSAGING_SPEND_GUARD, useClass: CreditsGuard }] : []),
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, {
  logger: process.env['CHAOS_LOG'] === undefined ? false : ['error', 'warn'],
});
app.enableShutdownHooks(['SIGTERM']);
const sms = app.get(SmsService);
const voice = app.get(VoiceService);
const points = app.get(Points);

let tail = Promise.resolve();

function accept(
  to: readonly string[],
  text: string,
  options: { readonly tenant: string; readonly idempotencyKey: string },
) {
  return settings.channel === 'voice'
    ? voice.send({ from: '2348000000001', to, text, redial: { times: 3, after: '1s' } }, options)
    : sms.send({ from: 'ACME', to, body: text }, options);
}

/** One after the other, as they come. */
async function send(sends: readonly Send[]): Promise<void> {
  for (const { key, tenant, to } of sends) {
    tell({ event: 'calling', key, at: moment() });
    await accept(to, `Chaos ${key}`, { tenant, idempotencyKey: key }).then(
      ({ id }) => tell({ event: 'accepted', key, id, at: moment() }),
      (error: unknown) => tell({ event: 'refused', key, error: String(error) }),
    );
  }
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
