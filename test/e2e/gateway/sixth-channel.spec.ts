import { MessagingService, simulator } from '@dundun/messaging';
import type { ChannelDefinition, Simulation } from '@dundun/messaging/ports';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Module, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { AccountsModule } from '../../../src/accounts/accounts.module.js';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { AccountId, Auth } from '../../../src/accounts/auth.guard.js';
import { carrierType } from '../../../src/carriers/carrier-type.js';
import type { CallbackData, GatewayChannel, NotificationReader } from '../../../src/channel.js';
import { CHANNELS } from '../../../src/channels/index.js';
import { invalidField } from '../../../src/http/api-error.js';
import { CallbackEvent, StatusEventData } from '../../../src/http/callback.dto.js';
import { Field, numberRemedy, Text, Uuid, WholeNumber } from '../../../src/http/fields.js';
import { Operation } from '../../../src/http/operation.decorator.js';
import { JsonBody } from '../../../src/http/request.decorators.js';
import { AccountSenders } from '../../../src/senders/account-senders.js';
import { visible } from '../../../src/settings/parsers.js';
import { eventually } from '../../support/eventually.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { signedIn } from '../portal/portal-client.js';
import { TestGateway } from './test-gateway.js';

/** The library's part of a channel that exists in this file alone. */
const definition: ChannelDefinition = {
  name: 'pager',
  title: 'Pagers',
  addressKinds: ['phone'],
  statuses: {
    transmitted: { rank: 44, reported: true },
    beeped: { rank: 99, terminal: true, reported: true },
  },
  accepted: 'transmitted',
  content: {
    'pager.note': ({ text }, errors) => {
      if (typeof text !== 'string' || text.length > 80)
        errors.push({ path: 'content.text', message: 'must be a text of at most 80 characters' });
      return { content: { kind: 'pager.note', text } };
    },
  },
};

const outcomes: Readonly<Record<string, Simulation>> = {
  pager: {
    outcomeOf: () => ({ course: 'reported', status: 'beeped', rawStatus: 'BEEP' }),
    underway: { status: 'transmitted', rawStatus: 'SENT' },
  },
};

class PageSomebody {
  @Text({ examples: ['2340000000007'] }) readonly from!: string;
  @Text({ examples: ['2348012345678'] }) readonly to!: string;
  @Text({ maxLength: 80, examples: ['Call the ward'] }) readonly text!: string;
}

class PagerPage {
  @Uuid() readonly reference_id!: string;
}

class PagerEventData extends StatusEventData {
  @Text({ examples: ['beep'] }) readonly sound!: string;
}

class PagerEvent extends CallbackEvent {
  @Field({ type: PagerEventData }) readonly data!: PagerEventData;
}

@Controller('ng/v1/pages')
@ApiTags('Pagers')
class PagersController {
  constructor(
    @Inject(MessagingService) private readonly messaging: MessagingService,
    @Inject(AccountSenders) private readonly senders: AccountSenders,
  ) {}

  @Post()
  @Auth('api_key', 'pager:send')
  @Operation('Page a person', { answer: PagerPage, success: 'The page is on its way.' })
  async sendPage(
    @AccountId() tenant: string,
    @JsonBody(PageSomebody) { from, to, text }: PageSomebody,
  ): Promise<PagerPage> {
    if (!(await this.senders.isApproved(tenant, 'pager', from)))
      throw invalidField('from', 'must be a pager number of this account');
    const content = { kind: 'pager.note', text } as const;
    const { id } = await this.messaging.channel('pager').send({ from, to, content }, { tenant });
    return { reference_id: id };
  }
}

@Module({ imports: [AccountsModule], controllers: [PagersController] })
class PagersModule {}

class NotificationPage {
  @Text({ examples: ['2340000000007'] }) readonly from!: string;
  @Text({ maxLength: 80, examples: ['Call the ward'] }) readonly text!: string;
}

class PageEstimate {
  @WholeNumber({ minimum: 0, examples: [13] }) readonly characters!: number;
}

@Injectable()
class PageReader implements NotificationReader {
  constructor(@Inject(AccountSenders) private readonly senders: AccountSenders) {}

  async read({ from, text }: NotificationPage, accountId: string) {
    const refusal = await this.senders.refusalOf(accountId, 'pager', from);
    return { message: { from, content: { kind: 'pager.note', text } }, fields: {}, refusal };
  }

  async estimate({ content }: { readonly content: { readonly text: string } }) {
    return { characters: content.text.length };
  }
}

class PagerCallbackData implements CallbackData {
  of() {
    return ({ status }: { status: string }) => ({ sound: status === 'beeped' ? 'beep' : 'none' });
  }
}

/** The place that the carrier was made with. */
const made: string[] = [];

const pager = {
  name: 'pager',
  definition,
  module: PagersModule,
  tag: 'Pagers',
  tagDescription: 'Pages to pagers.',
  scopes: ['pager:send'],
  options: () => ({}),
  prices: () => undefined,
  callback: {
    statusEvent: 'pager.*',
    identifiedBy: 'batch',
    event: PagerEvent,
    data: PagerCallbackData,
  },
  senders: {
    noun: 'pager number',
    allowed: 'a pager number',
    field: 'number',
    remedy: numberRemedy,
    error: 'sender_not_registered',
    drop: 'remove',
    first: 'oldest',
    isExclusive: true,
    words: { icon: 'call', many: 'Pager numbers', hint: 'digits', empty: 'None yet.' },
    actions: null,
  },
  codes: null,
  notification: {
    message: NotificationPage,
    example: { from: '2340000000007', text: 'Call the ward' },
    estimate: PageEstimate,
    reader: PageReader,
    scope: 'pager:send',
    takesToken: false,
  },
  curl: {
    token: 'API_KEY',
    send: { path: 'ng/v1/pages' },
    list: null,
    message: 'ng/v1/pages/{message}',
    batch: 'ng/v1/pages/{batch}',
  },
  carriers: {
    'pager-network': carrierType(
      { network: { parse: visible } },
      {
        channels: ['pager'],
        make: ({ network }) => {
          made.push(network);
          return { transport: simulator({ outcomes, channels: ['pager'], reportDelay: 20 }) };
        },
      },
    ),
  },
  demo: null,
  seed: null,
} satisfies GatewayChannel;

describe('a sixth channel that only this file has', () => {
  let directory: string;
  let gateway: TestGateway;
  let account: CreatedAccount;
  let customer: Receiver;
  const from = '2340000000007';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-sixth-'));
    const CARRIERS_FILE = join(directory, 'carriers.json');
    const carriers = {
      main: { type: 'simulator' },
      pagers: { type: 'pager-network', network: 'north' },
    };
    const routes = [{ channel: 'pager', use: 'pagers' }, { use: 'main' }];
    await writeFile(CARRIERS_FILE, JSON.stringify({ carriers, routes }));
    const settings = { CARRIERS_FILE, WEBHOOK_ALLOW_PRIVATE: 'true' };
    gateway = await new TestGateway(settings, [...CHANNELS, pager]).start();
    account = await gateway.account('hospital');
    const { accountId } = account;
    await gateway.senders.add({ accountId, channel: 'pager', sender: from });
    customer = await Receiver.start();
  });
  afterAll(async () => {
    await customer.close();
    await gateway.destroy();
    await rm(directory, { recursive: true });
  });

  it('is sent from the HTTP request to a signed callback, and the portal lists it', async () => {
    expect(made).toContain('north');
    const { body: webhook } = await gateway.call('POST', '/ng/v1/webhooks', {
      token: account.apiToken,
      body: { url: customer.url, events: ['pager.beeped'] },
    });
    const { status, body } = await gateway.call('POST', '/ng/v1/pages', {
      token: account.apiKey,
      body: { from, to: '2348012345678', text: 'Call the ward' },
    });
    expect([status, body]).toEqual([200, { reference_id: expect.any(String) }]);

    const [received] = await customer.first(1);
    if (!received) throw new Error('no callback arrived');
    expect(
      new Webhook(String(webhook['secret'])).verify(received.body, received.headers),
    ).toMatchObject({
      type: 'pager.beeped',
      data: { reference_id: body['reference_id'], to: '2348012345678', from, sound: 'beep' },
    });

    const admin = await signedIn(gateway, 'admin', account.accountId);
    await eventually(async () => {
      const { data } = await admin.ok<{ readonly data: readonly object[] }>(
        'GET',
        'messages?channel=pager',
      );
      expect(data).toMatchObject([{ channel: 'pager', status: 'beeped' }]);
    });
    expect(await admin.ok('GET', 'session')).toMatchObject({ curls: { pager: pager.curl } });
    expect(await admin.ok('GET', 'webhooks')).toMatchObject({
      kinds: expect.arrayContaining(['pager.transmitted', 'pager.beeped']),
    });
    expect(await admin.ok('GET', 'keys')).toMatchObject({
      scopes: expect.arrayContaining(['pager:send']),
    });
    expect(await admin.ok('GET', 'senders')).toMatchObject({
      kinds: expect.arrayContaining([
        expect.objectContaining({ channel: 'pager', one: 'pager number' }),
      ]),
      ofChannels: { pager: [from] },
    });
  });

  it('is a channel of notifications and of their estimates', async () => {
    const page = { from, text: 'Call the ward' };
    const call = {
      token: account.apiKey,
      body: { to: '2348012345678', via: ['pager'], pager: page },
    };
    const sent = await gateway.call('POST', '/ng/v1/notifications', call);
    expect([sent.status, sent.body]).toMatchObject([200, { channel: 'pager' }]);
    const path = `/ng/v1/notifications/${String(sent.body['notification_id'])}`;
    await eventually(async () =>
      expect((await gateway.call('GET', path, { token: account.apiKey })).body).toMatchObject({
        status: 'delivered',
        delivered_by: ['pager'],
      }),
    );
    const estimate = await gateway.call('POST', '/ng/v1/notifications/estimate', call);
    expect(estimate.body).toEqual({ pager: { characters: 13 } });
    const body = { ...call.body, pager: { ...page, from: '2340000000008' } };
    const refused = await gateway.call('POST', '/ng/v1/notifications', { ...call, body });
    expect(refused.body).toMatchObject({
      error: { code: 'sender_not_registered', details: [{ path: 'pager.from' }] },
    });
  });

  it('is in the OpenAPI document with its tag, route, scope and callbacks', async () => {
    const answer = await fetch(`${gateway.url}/openapi.json`);
    expect(await answer.json()).toMatchObject({
      tags: expect.arrayContaining([{ name: 'Pagers', description: 'Pages to pagers.' }]),
      paths: {
        '/ng/v1/pages': {
          post: { tags: ['Pagers'], security: [{ api_key: [] }], 'x-scope': 'pager:send' },
        },
      },
      webhooks: { 'pager.transmitted': {}, 'pager.beeped': {} },
      components: {
        schemas: {
          PagerBeepedEvent: { examples: [{ type: 'pager.beeped', data: { sound: 'beep' } }] },
        },
      },
    });
  });
});
