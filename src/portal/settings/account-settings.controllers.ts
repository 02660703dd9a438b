import { MessagingService, VasService } from '@dundun/messaging';
import { CONSENT_WORDS } from '@dundun/messaging/values';
import { Delete, Get, HttpCode, Inject, Param, Patch, Post } from '@nestjs/common';
import { changedGuard } from '../../accounts/account-guard.js';
import { AccountsService } from '../../accounts/accounts.service.js';
import type { AccountWords } from '../../accounts/accounts.tables.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { Choice, List, Text } from '../../http/fields.js';
import { JsonBody } from '../../http/request.decorators.js';
import { rateText } from '../../settings/parsers.js';
import { SmppCredentials } from '../../smpp/smpp-credentials.service.js';
import { type Actor, Audit } from '../audit.js';
import { GuardBody, guardFormOf, writtenGuardOf } from './guard-form.js';
import {
  type AccountSettings,
  type AccountWordsChange,
  DATA_CODINGS_0,
  DATA_CODINGS_1,
  type GuardForm,
  type OrderCaps,
  type RateChange,
  type SmppAlphabets,
  type SmppPair,
  type SmppSettings,
} from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { By, Caller, type InAccount } from '../portal-request.js';

const MOST_WORDS = 50;
const LONGEST_REPLY = 1_000;

/** The service checks each word. */
const Words = (): PropertyDecorator =>
  List({
    items: { type: 'string' },
    maxItems: MOST_WORDS,
    entry: (word) => (typeof word === 'string' ? undefined : 'must be a word'),
    message: `must be a list of up to ${MOST_WORDS} words`,
  });

class WordsBody implements AccountWordsChange {
  @Words() readonly stop!: readonly string[];
  @Words() readonly start!: readonly string[];
  @Text({ maxLength: LONGEST_REPLY }) readonly stopReply!: string;
  @Text({ maxLength: LONGEST_REPLY }) readonly startReply!: string;
}

class RateBody implements RateChange {
  @Text({ maxLength: 32 }) readonly rate!: string;
}

class OrderCapsBody implements OrderCaps {
  @Text({ maxLength: 3 }) readonly currency!: string;
  @Text({ maxLength: 32 }) readonly daily!: string;
  @Text({ maxLength: 32 }) readonly perNumber!: string;
}

class AlphabetsBody implements SmppAlphabets {
  @Choice(DATA_CODINGS_0) readonly dataCoding0!: SmppAlphabets['dataCoding0'];
  @Choice(DATA_CODINGS_1) readonly dataCoding1!: SmppAlphabets['dataCoding1'];
}

/** Settings of the account that its admins read; they change its words. */
@PortalController('account-settings')
@PortalAccess('admin')
export class AccountSettingsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly vas: VasService,
    private readonly audit: Audit,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'RATE_LIMIT'>,
  ) {}

  @Get()
  async settings(@Caller() { accountId: tenant }: Pick<InAccount, 'accountId'>) {
    const { rate, consentWords } = await this.accounts.find(tenant);
    const { stop = [], start = [], stopReply = '', startReply = '' } = consentWords ?? {};
    const answer: AccountSettings = {
      rate,
      defaultRate: rateText(this.environment.RATE_LIMIT),
      words: { stop, start, stopReply, startReply },
      defaultWords: DEFAULT_WORDS,
      orders: (await this.vas.allowance({ tenant })) ?? null,
    };
    return answer;
  }

  @Patch()
  async changeWords(
    @Caller() { accountId: id, actor }: InAccount,
    @JsonBody(WordsBody) change: WordsBody,
  ): Promise<AccountSettings> {
    const words = wordsOf(change);
    const consentWords = Object.keys(words).length === 0 ? null : words;
    const also = this.audit.also(
      actor,
      'account.words_changed',
      consentWords === null ? 'default' : 'own',
    );
    await this.accounts.change(id, { consentWords }, also);
    return this.settings({ accountId: id });
  }
}

const DEFAULT_WORDS = {
  stop: Object.values(CONSENT_WORDS).flatMap(({ stop }) => stop),
  start: Object.values(CONSENT_WORDS).flatMap(({ start }) => start),
};

/** An empty list or text is the default. */
function wordsOf({ stop, start, stopReply, startReply }: AccountWordsChange): AccountWords {
  return {
    ...(stop.length > 0 && { stop }),
    ...(start.length > 0 && { start }),
    ...(stopReply !== '' && { stopReply }),
    ...(startReply !== '' && { startReply }),
  };
}

/** Settings of an account that operators change alone. */
@PortalController('accounts')
@PortalAccess('operator')
export class OperatedSettingsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly messaging: MessagingService,
    private readonly vas: VasService,
    private readonly audit: Audit,
  ) {}

  @Patch(':id/rate')
  @HttpCode(204)
  async changeRate(
    @By() by: Actor,
    @Param('id') accountId: string,
    @JsonBody(RateBody) { rate }: RateBody,
  ): Promise<void> {
    const actor = { ...by, accountId };
    const also = this.audit.also(actor, 'account.rate_changed', rate || 'default');
    await this.accounts.change(accountId, { rate: rate || null }, also);
  }

  @Get(':id/guard')
  async guard(@Param('id') accountId: string): Promise<GuardForm> {
    return guardFormOf((await this.accounts.find(accountId)).guard);
  }

  @Patch(':id/guard')
  @HttpCode(204)
  async changeGuard(
    @By() by: Actor,
    @Param('id') accountId: string,
    @JsonBody(GuardBody) form: GuardBody,
  ): Promise<void> {
    const guard = changedGuard({}, writtenGuardOf(form));
    const actor = { ...by, accountId };
    const also = this.audit.also(actor, 'account.guard_changed', guard ? 'own' : 'default');
    await this.accounts.change(accountId, { guard }, also);
  }

  @Post(':id/orders')
  @HttpCode(204)
  async allowOrders(
    @By() by: Actor,
    @Param('id') tenant: string,
    @JsonBody(OrderCapsBody) caps: OrderCapsBody,
  ): Promise<void> {
    await this.accounts.find(tenant);
    await this.messaging.transaction(async (manager) => {
      await this.vas.allow(caps, { tenant, manager });
      const target = `${caps.daily} ${caps.currency} a day`;
      await this.audit.record(manager, { ...by, accountId: tenant }, 'orders.allowed', target);
    });
  }

  @Delete(':id/orders')
  @HttpCode(204)
  async forbidOrders(@By() by: Actor, @Param('id') tenant: string): Promise<void> {
    await this.accounts.find(tenant);
    await this.messaging.transaction(async (manager) => {
      await this.vas.forbid({ tenant, manager });
      await this.audit.record(manager, { ...by, accountId: tenant }, 'orders.forbidden');
    });
  }
}

/** The pairs with which the account binds over SMPP. */
@PortalController('smpp')
@PortalAccess('admin')
export class PortalSmppController {
  constructor(
    private readonly credentials: SmppCredentials,
    private readonly audit: Audit,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'SMPP_LISTEN'>,
  ) {}

  @Get()
  async list(@Caller() { accountId }: InAccount): Promise<SmppSettings> {
    const found = await this.credentials.list(accountId);
    return {
      listens: this.environment.SMPP_LISTEN !== undefined,
      data: found.map(({ systemId, createdAt, lastBoundAt, dataCoding0, dataCoding1 }) => ({
        systemId,
        createdAt: createdAt.toISOString(),
        lastBoundAt: lastBoundAt?.toISOString() ?? null,
        dataCoding0,
        dataCoding1,
      })),
    };
  }

  @Post()
  add(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(AlphabetsBody) { dataCoding0, dataCoding1 }: AlphabetsBody,
  ): Promise<SmppPair> {
    const also = this.audit.also(actor, 'smpp.added');
    return this.credentials.add(accountId, also, { dataCoding0, dataCoding1 });
  }

  @Patch(':systemId')
  @HttpCode(204)
  async change(
    @Caller() { accountId, actor }: InAccount,
    @Param('systemId') systemId: string,
    @JsonBody(AlphabetsBody) { dataCoding0, dataCoding1 }: AlphabetsBody,
  ): Promise<void> {
    const also = this.audit.also(actor, 'smpp.changed', systemId);
    await this.credentials.change(accountId, systemId, { dataCoding0, dataCoding1 }, also);
  }

  @Post(':systemId/rotate')
  @HttpCode(200)
  rotate(
    @Caller() { accountId, actor }: InAccount,
    @Param('systemId') systemId: string,
  ): Promise<SmppPair> {
    return this.credentials.rotate(
      accountId,
      systemId,
      this.audit.also(actor, 'smpp.rotated', systemId),
    );
  }

  @Delete(':systemId')
  @HttpCode(204)
  async remove(
    @Caller() { accountId, actor }: InAccount,
    @Param('systemId') systemId: string,
  ): Promise<void> {
    await this.credentials.remove(
      accountId,
      systemId,
      this.audit.also(actor, 'smpp.removed', systemId),
    );
  }
}
