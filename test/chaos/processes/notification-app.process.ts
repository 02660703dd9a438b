import 'reflect-metadata';
import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { appendFileSync } from 'node:fs';
import { MessagingModule, NotificationService } from '../../../libs/messaging/src/index.js';
import { type MessageTransport, PermanentFailure } from '../../../libs/messaging/src/ports.js';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import { dataSourceOptions } from './data-source-options.js';
import { around, Points, tell } from './points.js';
import { type AppCommand, moment, type NotificationAppSettings, type Send } from './protocol.js';

const { database, book } = JSON.parse(process.argv[2] ?? '{}') as NotificationAppSettings;

/** Refuses calls, and writes each SMS that it takes into its book. */
const provider: MessageTransport = {
  name: 'provider',
  capabilities: { maxRecipients: 1, idempotencyWindow: 3_600_000 },
  submit: async ({ id, channel, recipients: [recipient] }) => {
    if (channel === 'voice') throw new PermanentFailure('refused', 'no calls');
    appendFileSync(book, `${recipient} ${id}\n`);
    return { reference: `ref-${id}` };
  },
  fetchReports: async (submissions) =>
    submissions.map(({ submissionId }) => ({
      submissionId,
      reference: null,
      messageId: null,
      recipient: null,
      status: 'delivered',
      rawStatus: 'DELIVRD',
      errorCode: null,
      providerTime: null,
    })),
};

type Batch = { readonly id: string };

function calling(batches: readonly Batch[]): void {
  for (const { id } of batches) tell({ event: 'calling', key: id, at: moment() });
}

function accepted(batches: readonly Batch[]): void {
  for (const { id } of batches) tell({ event: 'accepted', key: id, id, at: moment() });
}

/** Tells when the batches of steps were stored, and has points around the transaction of the next steps. */
@Injectable()
class StepPoints implements OnModuleInit {
  constructor(
    private readonly modules: ModuleRef,
    private readonly points: Points,
  ) {}

  onModuleInit(): void {
    const { newBatches, batches } = this.modules.get(MessageStore, { strict: false });
    const first = newBatches.storeWith.bind(newBatches);
    const storeFirst = async (...args: Parameters<typeof first>) => {
      calling(args[0]);
      await first(...args);
      accepted(args[0]);
    };
    Object.defineProperty(newBatches, 'storeWith', { value: storeFirst });
    let begun: readonly Batch[] = [];
    const within = newBatches.enqueueAllWithin.bind(newBatches);
    const store = (...args: Parameters<typeof within>) => {
      begun = args[1];
      calling(begun);
      if (args[1].length > 0) this.points.pass('before-step');
      return within(...args).then((changes) => {
        if (args[1].length > 0) this.points.pass('inside-step');
        return changes;
      });
    };
    Object.defineProperty(newBatches, 'enqueueAllWithin', { value: store });
    const publish = batches.publish.bind(batches);
    const published = async (...args: Parameters<typeof publish>) => {
      accepted(begun);
      begun = [];
      return publish(...args);
    };
    around(
      batches,
      'publish',
      published,
      () => this.points.pass('after-step'),
      () => undefined,
    );
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(database), retryAttempts: 0 }),
    MessagingModule.forRoot({
      dispatch: { concurrency: 4, lease: '1s', backoff: '50ms' },
      reports: { pollAfter: '1s' },
      callbackPath: false,
      transport: () => provider,
    }),
  ],
  providers: [
    Points,
    {
      provide: StepPoints,
      useFactory: (modules: ModuleRef, points: Points) => new StepPoints(modules, points),
      inject: [ModuleRef, Points],
    },
  ],
})
class NotificationAppModule {}

const app = await NestFactory.createApplicationContext(NotificationAppModule, { logger: false });
const notifications = app.get(NotificationService);
const points = app.get(Points);

async function send({ key, to }: Send): Promise<void> {
  const [number = ''] = to;
  const notification = {
    via: ['voice', 'sms'],
    voice: { from: '2348000000001', text: 'Hi' },
    sms: { from: 'ACME', body: 'Hi' },
  } as const;
  await notifications.send(notification, number, { idempotencyKey: key }).then(
    ({ id }) => tell({ event: 'accepted', key, id }),
    (error: unknown) => tell({ event: 'refused', key, error: String(error) }),
  );
}

process.on('message', (message: AppCommand) => {
  if (message.command === 'send') for (const one of message.sends) void send(one);
  else if (message.command === 'arm') points.arm(message);
});
process.on('disconnect', () => process.exit());
tell({ event: 'ready' });
