import {
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  simulator,
  SmsService,
} from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';

const DAY = 24 * 60 * 60 * 1_000;

@Injectable()
class Campaigns extends EventEmitter {
  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status, tags, metadata }: MessageStatusChanged): void {
    console.log(`${tags?.join()} ${metadata?.['wave']}: ${recipient} is ${status}`);
    this.emit(`${recipient} ${status}`);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({
      transport: simulator(),
      rateCard: { currency: 'USD', sms: '0.0125' },
    }),
  ],
  providers: [Campaigns],
})
class AppModule {}

/** A campaign in two waves with a text for each recipient; the second one is cancelled by its tag. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const sms = app.get(SmsService);

  const body = 'Hi {{name}}, drums are {{discount}} off this week';
  const to = [
    { to: '2348012345671', variables: { name: 'Ada', discount: '10%' } },
    { to: '2348012345672', variables: { name: 'Ọlá', discount: '20%' } },
  ];
  const { recipients, cost, currency } = await sms.estimate({ to, body });
  for (const one of recipients) console.log(`${one.to}: ${one.parts} part, ${one.encoding}`);
  console.log(`price: ${cost} ${currency}`);

  const delivered = Promise.all(to.map((one) => once(app.get(Campaigns), `${one.to} delivered`)));
  const tags = ['drum-sale'];
  const first = await sms.send({ from: 'ACME', to, body, tags, metadata: { wave: 'first' } });
  await sms.send({
    from: 'ACME',
    to: ['2348012345673', '2348012345674'],
    body: 'Last day of the sale',
    sendAt: new Date(Date.now() + DAY),
    tags,
    metadata: { wave: 'second' },
  });
  await delivered;

  const { batches, messages } = await sms.cancel({ tag: 'drum-sale' });
  console.log(`cancelled: ${messages} messages of ${batches} batch`);
  console.log('first wave:', (await sms.batch(first.id)).counts);
  await app.close();
}
