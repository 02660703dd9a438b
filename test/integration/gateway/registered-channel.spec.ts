import {
  MESSAGING_POLICY,
  MessagingModule,
  type MessagingPolicy,
  MessagingService,
  type PolicySlice,
  simulator,
  VerificationService,
} from '@dundun/messaging';
import type { ChannelDefinition, Simulation } from '@dundun/messaging/ports';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Webhook } from 'standardwebhooks';
import { AccountsModule } from '../../../src/accounts/accounts.module.js';
import { AccountsService } from '../../../src/accounts/accounts.service.js';
import { ChannelsModule, type GatewayChannel } from '../../../src/channel.js';
import { databaseModule } from '../../../src/config/database.js';
import { EnvironmentModule, readEnvironment } from '../../../src/config/environment.js';
import { StatusEvent } from '../../../src/http/callback.dto.js';
import { MetricsModule } from '../../../src/metrics/metrics.js';
import { openGatewayDatabase } from '../../../src/gateway-database.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { WebhooksModule } from '../../../src/webhooks/webhooks.module.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Receiver } from '../webhooks/receiver.js';

/** One-time codes that letters carried. */
const codes: string[] = [];

/** Exists in this file alone: other statuses, other ranks, other addresses than the built-in channels have. */
const parcel: ChannelDefinition = {
  name: 'parcel',
  title: 'Parcel post',
  addressKinds: ['email', 'platform'],
  statuses: {
    handed_over: { rank: 44, reported: true },
    in_transit: { rank: 46, reported: true },
    lost: { rank: 61, terminal: true, reported: true, failed: true },
    opened: { rank: 99, terminal: true, reported: true },
  },
  accepted: 'handed_over',
  content: {
    'parcel.letter': ({ kind, lines }, errors) => {
      if (!Array.isArray(lines))
        errors.push({ path: 'content.lines', message: 'must be an array' });
      return { content: { kind: kind as `${string}.${string}`, lines } };
    },
  },
  oneTimeCode: ({ code }) => {
    codes.push(code);
    return { kind: 'parcel.letter', lines: [`Code ${code}`] };
  },
  wire: {
    statusEvent: 'parcel.tracking',
    receivedEvent: 'parcel.reply',
  },
};

@Module({})
class ParcelModule {}

const parcelInGateway: GatewayChannel = {
  name: 'parcel',
  definition: parcel,
  module: ParcelModule,
  tag: 'Parcels',
  tagDescription: 'Parcels of a carrier.',
  scopes: [],
  options: () => ({}),
  prices: () => undefined,
  callback: {
    statusEvent: 'parcel.tracking',
    receivedEvent: 'parcel.reply',
    identifiedBy: 'message',
    event: StatusEvent,
  },
  senders: null,
  codes: null,
  notification: null,
  curl: null,
  carriers: {},
  demo: null,
  seed: null,
};

const outcomes = {
  parcel: {
    outcomeOf: ({ value }) =>
      value.startsWith('lost')
        ? { course: 'reported', status: 'lost', rawStatus: 'LOST', errorCode: 'van_stolen' }
        : { course: 'replying', status: 'opened', rawStatus: 'OPENED' },
    underway: { status: 'in_transit', rawStatus: 'TRANSIT' },
    idPrefix: 'pcl-',
    reply: 'Thank you',
  } satisfies Simulation,
};

/** Denies one recipient by the address and the content of the registered channel. */
class NoLetters implements MessagingPolicy {
  readonly name = 'no-letters';
  readonly scope = { channels: ['parcel'] };
  async decide({ items }: PolicySlice) {
    return new Map(
      [...items.entries()].flatMap(([index, { message, recipient }]) =>
        message.content.kind === 'parcel.letter' && recipient.value.startsWith('no-letters@')
          ? [[index, { decision: 'deny', code: 'no_letters', reason: 'wants no letters' }] as const]
          : [],
      ),
    );
  }
}

@Module({ providers: [{ provide: MESSAGING_POLICY, useClass: NoLetters }] })
class PolicyModule {}

describeEachDatabase(
  'a channel that only a test registers',
  (db) => {
    let app: INestApplicationContext;
    let customer: Receiver;
    let account: string;

    beforeAll(async () => {
      const environment = readEnvironment({
        NODE_ENV: 'test',
        DATABASE_URL: db.url,
        WEBHOOK_ALLOW_PRIVATE: 'true',
      });
      const source = await openGatewayDatabase(environment, 'never');
      const module = await Test.createTestingModule({
        imports: [
          EnvironmentModule.for(environment),
          ChannelsModule.for([parcelInGateway]),
          databaseModule(source),
          MessagingModule.forRoot({
            isGlobal: true,
            channels: [parcel],
            transport: simulator({ outcomes, reportDelay: 20, replyDelay: 20 }),
            inbound: { tenant: () => account },
            erasure: { keys: [Buffer.alloc(32, 1).toString('base64')] },
            callbackPath: false,
            store: { migrate: false },
          }),
          MetricsModule,
          AccountsModule,
          WebhooksModule,
          PolicyModule,
        ],
      }).compile();
      app = await module.init();
    });
    afterAll(() => app.close());
    beforeEach(async () => {
      customer = await Receiver.start();
      ({ accountId: account } = await app.get(AccountsService, { strict: false }).create('shop'));
    });
    afterEach(() => customer.close());

    const service = () => app.get(MessagingService, { strict: false }).channel('parcel');
    const letter = { kind: 'parcel.letter', lines: ['Dear Ada,'] };

    it('a registered channel is carried from send to a signed callback, with its own statuses and addresses', async () => {
      const endpoints = app.get(WebhookEndpointsService, { strict: false });
      const { secret } = await endpoints.add(account, customer.url);
      const { id, recipients } = await service().send(
        {
          from: 'Depot 7',
          to: [
            'Ada@EXAMPLE.com',
            'Ada@example.com',
            { kind: 'platform', value: 'locker-12' },
            'lost@example.com',
            'no-letters@example.com',
          ],
          content: letter,
        },
        { tenant: account },
      );
      expect(recipients).toBe(4);

      const received = await customer.first(9);
      const events = received.map(
        ({ body, headers }) => new Webhook(secret).verify(body, headers) as ParcelEvent,
      );
      const statuses = events.filter(({ type }) => type === 'parcel.tracking');
      const of = (to: string) =>
        statuses
          .filter(({ data }) => data.to === to)
          .toSorted((one, other) => one.data.sequence - other.data.sequence)
          .map(({ data }) => [data.status, data.error_code]);
      expect(of('Ada@example.com')).toEqual([
        ['handed_over', null],
        ['opened', null],
      ]);
      expect(of('platform:locker-12')).toEqual([
        ['handed_over', null],
        ['opened', null],
      ]);
      expect(of('lost@example.com')).toEqual([
        ['handed_over', null],
        ['lost', 'van_stolen'],
      ]);
      expect(of('no-letters@example.com')).toEqual([['rejected', 'no_letters']]);
      const ada = statuses.find(({ data }) => data.to === 'Ada@example.com');
      expect(ada?.data).toMatchObject({
        reference_id: expect.stringContaining(id),
        message_id: expect.stringMatching(/^pcl-/),
        from: 'Depot 7',
      });

      const replies = events.filter(({ type }) => type === 'parcel.reply');
      expect(replies.map(({ data }) => [data.text, data.to])).toEqual([
        ['Thank you', 'Depot 7'],
        ['Thank you', 'Depot 7'],
      ]);

      await eventually(async () => {
        const batch = await service().batch(id, { tenant: account });
        expect(batch).toMatchObject({
          channel: 'parcel',
          status: 'completed',
          content: letter,
          counts: { opened: 2, lost: 1, rejected: 1 },
        });
      });
      const reports = await service().reports({ tenant: account, status: 'lost' });
      expect(reports.data).toMatchObject([{ recipient: 'lost@example.com', rawStatus: 'LOST' }]);
    });

    it('a registered channel carries a one-time code to its first kind of address', async () => {
      const verification = app.get(VerificationService, { strict: false });
      const code = { channel: 'parcel', from: 'Depot 7', to: 'Eve@EXAMPLE.com' };
      const { id } = await verification.start(code, { tenant: account });
      await eventually(async () => {
        const { data } = await service().list({ tenant: account });
        expect(data).toMatchObject([{ recipient: 'Eve@example.com', status: 'opened' }]);
      });
      expect(await verification.check(id, codes.at(-1)!, { tenant: account })).toMatchObject({
        status: 'verified',
      });
      const locker = verification.start({ ...code, to: 'platform:locker-12' }, { tenant: account });
      await expect(locker).rejects.toMatchObject({ fields: [{ path: 'to' }] });
    });

    it('a refused send names each wrong field, and a channel that is not registered', async () => {
      await expect(
        service().send({ to: '2348012345678', content: { kind: 'parcel.letter' } }),
      ).rejects.toMatchObject({
        fields: [{ path: 'to[0]' }, { path: 'content.lines' }],
      });
      await expect(
        service().send({ to: 'a@example.com', content: { kind: 'text', text: 'Hello' } }),
      ).rejects.toMatchObject({ fields: [{ path: 'content.kind' }] });
      expect(() => app.get(MessagingService, { strict: false }).channel('telegram')).toThrow(
        /known are sms, whatsapp, email, voice, vas, parcel/,
      );
    });
  },
  ['sqlite', 'postgres'],
);

interface ParcelEvent {
  readonly type: string;
  readonly data: {
    readonly to: string;
    readonly text?: string;
    readonly status: string;
    readonly error_code: string | null;
    readonly sequence: number;
  };
}
