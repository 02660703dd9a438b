import {
  ContactsService,
  defineTemplates,
  INBOUND_RECEIVED,
  type InboundReceived,
  MESSAGE_STATUS_CHANGED,
  type MessageStatusChanged,
  MessagingModule,
  PolicyError,
  simulator,
  WhatsAppService,
} from '@dundun/messaging';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventEmitter, once } from 'node:events';
import { exampleDatabase } from '../database.js';

/** The templates that your provider has approved. The compiler checks their parameters. */
const templates = defineTemplates({
  order_update: { language: 'en', category: 'utility', params: ['name', 'order'] },
});

@Injectable()
class Conversation extends EventEmitter {
  constructor(private readonly whatsApp: WhatsAppService) {
    super();
  }

  /** The customer's message opens a window of 24 hours in which free text is allowed. */
  @OnEvent(INBOUND_RECEIVED)
  async onInbound({ from, text }: InboundReceived): Promise<void> {
    if (from === null) return;
    console.log(`${from} writes: ${text}`);
    await this.whatsApp.sendText({
      to: from,
      text: 'Thank you. We answer within the hour.',
      tags: ['reply'],
    });
  }

  @OnEvent(MESSAGE_STATUS_CHANGED)
  onStatus({ recipient, status, tags }: MessageStatusChanged): void {
    console.log(`${recipient} is ${status}`);
    if (tags?.includes('reply') && status === 'read') this.emit('answered');
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(exampleDatabase()),
    MessagingModule.forRoot({
      transport: simulator({ replyDelay: '50ms' }),
      whatsapp: { from: '2348000000001', templates },
    }),
  ],
  providers: [Conversation],
})
class AppModule {}

/** Opt-in, a template, the customer's reply, and a free text in the open window. */
export async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  const contacts = app.get(ContactsService);
  const whatsApp = app.get(WhatsAppService);
  // The simulated customer of a number that ends in 9910 replies.
  const to = '2348012349910';

  await refused(() => whatsApp.sendText({ to, text: 'Hello' }));
  await contacts.optIn(to, { channel: 'whatsapp', source: 'web form' });
  await refused(() => whatsApp.sendText({ to, text: 'Hello' }));

  const answered = once(app.get(Conversation), 'answered');
  const receipt = await whatsApp.sendTemplate({
    to,
    template: templates.order_update,
    params: { name: 'Ada', order: '1001' },
  });
  const { category } = await receipt.outcome();
  console.log(`the template is a ${category} message`);

  await answered;
  await app.close();
}

async function refused(send: () => Promise<unknown>): Promise<void> {
  try {
    await send();
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    console.log(`refused: ${error.code}`);
  }
}
