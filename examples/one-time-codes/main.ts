import {
  MessagingModule,
  simulator,
  SmsService,
  type TransportFactory,
  VerificationService,
} from '@dundun/messaging';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';

/** The phone of the recipient: the only place, beside the message, where a code can be read. */
const phone = new EventEmitter();

const simulatedPhone: TransportFactory = (context) => {
  const transport = simulator()(context);
  const submit = transport.submit.bind(transport);
  transport.submit = async (submission, signal) => {
    const accepted = await submit(submission, signal);
    if (submission.content.kind === 'text')
      for (const recipient of submission.recipients) phone.emit(recipient, submission.content.text);
    return accepted;
  };
  return transport;
};

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({
      transport: simulatedPhone,
      dispatch: { rateLimit: { max: 10, per: '1s' } },
      // Codes are stored as digests under this key. An app reads it from its environment.
      erasure: { keys: [randomBytes(32).toString('base64')] },
      // And their messages, until they are erased, encrypted under this one.
      verification: { keys: [randomBytes(32).toString('base64')] },
    }),
  ],
})
class AppModule {}

/** A code overtakes a newsletter that the rate limit holds back, and is checked. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const sms = app.get(SmsService);
  const verification = app.get(VerificationService);

  const to = Array.from({ length: 200 }, (_, n) => `23480${30_000_000 + n}`);
  const newsletter = await sms.send({ from: 'ACME', to, body: 'News of the week' });

  const received = once(phone, '2348012345678') as Promise<[string]>;
  const { id } = await verification.start({ to: '2348012345678', channel: 'sms', from: 'ACME' });
  const [text] = await received;
  const { counts } = await sms.cancel(newsletter.id);
  console.log(`the code arrived before ${counts.cancelled} messages of the newsletter`);

  const code = /^\d{6}/.exec(text)?.[0] ?? '';
  const wrong = code === '000000' ? '000001' : '000000';
  console.log(`wrong code: ${(await verification.check(id, wrong)).status}`);
  console.log(`right code: ${(await verification.check(id, code)).status}`);
  console.log(`the same code again: ${(await verification.check(id, code)).status}`);
  await app.close();
}
