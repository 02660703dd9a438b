import {
  ContactsService,
  defineTemplates,
  MESSAGING_CLOCK,
  MessagingModule,
  type MessagingOptions,
  NOTIFICATION_DOUBLED,
  NOTIFICATION_ENDED,
  NOTIFICATION_FELL_BACK,
  type NewNotification,
  NotificationService,
  type NotificationSendOptions,
  type NotificationView,
} from '@dundun/messaging';
import type {
  DeliveryReport,
  MessageTransport,
  Submission,
  SubmissionAccepted,
} from '@dundun/messaging/ports';
import { randomInt } from 'node:crypto';
import { Injectable, type Provider } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessageStore } from '../../../libs/messaging/src/store/message-store.js';
import type { TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ForwardClock } from '../dispatch/dispatch-fixture.js';

/** A provider that accepts what its script does not refuse. */
class ScriptedTransport implements MessageTransport {
  readonly name = 'scripted';
  readonly capabilities = { maxRecipients: 1, idempotencyWindow: 3_600_000 };
  readonly submissions: Submission[] = [];
  script: (submission: Submission) => Promise<void> | void = () => undefined;

  async submit(submission: Submission): Promise<SubmissionAccepted> {
    this.submissions.push(submission);
    await this.script(submission);
    return { reference: `ref-${submission.id}` };
  }
}

export const MINUTE = 60_000;

const templates = defineTemplates({
  order: { language: 'en', category: 'utility', params: ['name'] },
});

interface HeardEvent {
  readonly name: string;
  readonly of: object;
}

@Injectable()
class Heard {
  events: HeardEvent[] = [];

  @OnEvent(NOTIFICATION_FELL_BACK)
  fellBack(of: object): void {
    this.events.push({ name: 'fell-back', of });
  }

  @OnEvent(NOTIFICATION_ENDED)
  ended(of: object): void {
    this.events.push({ name: 'ended', of });
  }

  @OnEvent(NOTIFICATION_DOUBLED)
  doubled(of: object): void {
    this.events.push({ name: 'doubled', of });
  }
}

/** An app whose notifications are looked at when the test says so. */
export class NotificationApp {
  readonly clock = new ForwardClock();
  readonly transport = new ScriptedTransport();
  readonly events: HeardEvent[] = [];
  /** Tenant of the sends of a test, so that its lanes are its own. */
  tenant = '';
  #app!: TestingModule;

  static async start(
    database: TestDatabase,
    options: Partial<MessagingOptions> = {},
    ...providers: readonly Provider[]
  ): Promise<NotificationApp> {
    const one = new NotificationApp();
    one.#app = await Test.createTestingModule({
      imports: [
        ScheduleModule.forRoot(),
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: () => one.transport,
          erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
          callbackPath: false,
          whatsapp: { templates },
          overrides: [{ provide: MESSAGING_CLOCK, useValue: one.clock }],
          ...options,
        }),
      ],
      providers: [Heard, ...providers],
    }).compile();
    one.#app.useLogger(false);
    await one.#app.init();
    one.#app.get(Heard).events = one.events;
    // Deadlines by the test's clock only.
    const registry = one.#app.get(SchedulerRegistry);
    if (registry.doesExist('interval', 'messaging.notifications'))
      registry.deleteInterval('messaging.notifications');
    return one;
  }

  get notifications(): NotificationService {
    return this.#app.get(NotificationService);
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.#app.get(type, { strict: false });
  }

  get store(): MessageStore {
    return this.#app.get(MessageStore, { strict: false });
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  /** A number of its own, which takes WhatsApp messages. */
  async person({ optIn = true } = {}): Promise<string> {
    const to = `23480${randomInt(10 ** 8)
      .toString()
      .padStart(8, '0')}`;
    if (optIn)
      await this.get(ContactsService).optIn(to, {
        channel: 'whatsapp',
        source: 'test',
        tenant: this.tenant,
      });
    return to;
  }

  notification(changes: Partial<NewNotification> = {}): NewNotification {
    return {
      via: ['whatsapp', 'sms'],
      whatsapp: { template: templates.order, params: ['Ada'] },
      sms: { from: 'ACME', body: 'Hi Ada' },
      fallback: { after: '2m' },
      ...changes,
    };
  }

  async send(
    to: string,
    changes: Partial<NewNotification> = {},
    options?: NotificationSendOptions,
  ): Promise<string> {
    const { tenant } = this;
    const notification = this.notification(changes);
    return (await this.notifications.send(notification, to, { tenant, ...options })).id;
  }

  /** Requests to a person by channel. */
  sent(to: string): string[] {
    return this.transport.submissions
      .filter(({ recipients }) => recipients[0] === to)
      .map(({ channel }) => channel);
  }

  /** Advances the clock, and runs the due notifications. */
  async advance(milliseconds: number): Promise<void> {
    this.clock.ahead += milliseconds;
    await this.notifications.run();
  }

  find(id: string): Promise<NotificationView> {
    return this.notifications.find(id, { tenant: this.tenant });
  }

  /** Waits until the notification has this status. */
  async untilIt(id: string, status: string): Promise<NotificationView> {
    let view!: NotificationView;
    await eventually(async () => {
      view = await this.find(id);
      if (view.status !== status) throw new Error(`it is ${view.status}`);
    });
    return view;
  }

  /** Waits until the first steps have these statuses. */
  async until(id: string, ...statuses: readonly string[]): Promise<NotificationView> {
    let view!: NotificationView;
    await eventually(async () => {
      view = await this.find(id);
      const own = view.steps.slice(0, statuses.length).map(({ status }) => status);
      if (own.join() !== statuses.join()) throw new Error(`the steps are ${own.join()}`);
    });
    return view;
  }

  /** Reports a status of a step's message, as its provider does. */
  async report(id: string, step: number, status: string, errorCode?: string): Promise<void> {
    const { steps } = await this.find(id);
    const batch = steps[step]!.messageId!.slice(0, -2);
    const report: DeliveryReport = {
      submissionId: `${batch}-s0`,
      reference: null,
      messageId: null,
      recipient: null,
      status,
      rawStatus: status,
      errorCode: errorCode ?? null,
      providerTime: null,
    };
    await this.store.reports.record([report], { provider: this.transport.name });
  }

  /** The events of a notification, once there are so many. */
  async heard(id: string, count: number): Promise<[name: string, of: object][]> {
    await eventually(async () => {
      const { length } = this.eventsOf(id);
      if (length < count) throw new Error(`only ${length} events`);
    });
    return this.eventsOf(id);
  }

  eventsOf(id: string): [name: string, of: object][] {
    return this.events
      .filter(({ of }) => (of as { notificationId: string }).notificationId === id)
      .map(({ name, of }) => [name, of]);
  }
}
