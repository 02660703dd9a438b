import { SmsService } from '@dundun/messaging';
import { NestFactory } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { exampleDatabase } from '../database.js';
import { AppModule, type ProcessOptions } from './app.module.js';

/**
 * Starts the module three times, as three processes would: one accepts, two send. Needs Redis at
 * `REDIS_URL`. Each process of an app reads its role from its environment.
 */
export async function main(): Promise<void> {
  const options = {
    database: exampleDatabase(),
    redis: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379',
    queue: `example-${randomUUID()}`,
  };
  const start = (role: ProcessOptions['role']) =>
    NestFactory.createApplicationContext(AppModule.register({ ...options, role }), {
      logger: ['error', 'warn'],
    });
  const web = await start('web');
  const workers = [await start('worker'), await start('worker')];

  const sms = web.get(SmsService);
  const message = { from: 'ACME', body: 'Sent by another process' };
  // Each tenant has a lane of its own, so that two workers can send at the same time.
  const sends = await Promise.all([
    sms.send({ ...message, to: '2348012345671' }, { tenant: 'north' }),
    sms.send({ ...message, to: '2348012345672' }, { tenant: 'south' }),
  ]);
  console.log(`web: accepted ${sends.length} messages`);
  for (const [index, tenant] of ['north', 'south'].entries()) {
    const id = sends[index]?.id ?? '';
    while ((await sms.batch(id, { tenant })).counts.delivered !== 1) await pause(20);
    console.log(`web: the message of ${tenant} is delivered`);
  }

  await Promise.all([web, ...workers].map((app) => app.close()));
}
