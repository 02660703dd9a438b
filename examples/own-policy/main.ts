import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MESSAGING_POLICY,
  type MessagingPolicy,
  MessagingModule,
  type PolicyDecision,
  type PolicyDecisions,
  PolicyError,
  type PolicySlice,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';

/** Customers who excluded themselves from offers of a lottery. An app reads them from a table. */
const EXCLUDED = new Set(['2348012345670']);

/**
 * Is asked when a message is sent, and again before it leaves, so that an exclusion between the two
 * counts. One call decides on many messages: read what you need for all of them in one query.
 */
@Injectable()
class SelfExclusionPolicy implements MessagingPolicy {
  readonly name = 'self-exclusion';
  readonly scope = { channels: ['sms'] };

  async decide({ items }: PolicySlice): Promise<PolicyDecisions> {
    const decisions = new Map<number, PolicyDecision>();
    for (const [index, { recipient }] of items.entries())
      if (EXCLUDED.has(recipient.value))
        decisions.set(index, {
          decision: 'deny',
          code: 'self_excluded',
          reason: 'The customer excluded themselves from offers',
        });
    // Messages without a decision are allowed.
    return decisions;
  }
}

@Injectable()
class Deliveries extends EventEmitter {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status, errorCode }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}${errorCode === null ? '' : ` (${errorCode})`}`);
    this.emit(status);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({ transport: simulator() }),
  ],
  providers: [Deliveries, { provide: MESSAGING_POLICY, useClass: SelfExclusionPolicy }],
})
class AppModule {}

/** One recipient is allowed and one denied; a send to the denied one alone is refused. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const sms = app.get(SmsService);
  const delivered = once(app.get(Deliveries), 'delivered');

  const offer = { from: 'LOTTERY', body: 'Draw on Friday' };
  const { id } = await sms.send({ ...offer, to: ['2348012345678', '2348012345670'] });
  await delivered;
  console.log('counts', (await sms.batch(id)).counts);

  try {
    await sms.send({ ...offer, to: '2348012345670' });
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    console.log(`refused: ${error.code}`);
  }
  await app.close();
}
