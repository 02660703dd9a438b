import { MessagingService } from '@dundun/messaging';
import { ChannelRegistry } from '@dundun/messaging/ports';
import { Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { GatewayChannels } from '../channel.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { rateText } from '../settings/parsers.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { AccountSenders } from '../senders/account-senders.js';
import { SendersService } from '../senders/senders.service.js';
import { type Actor, Audit } from './audit.js';
import {
  AccountBody,
  listedOf,
  PortalQuery,
  ResumeBody,
  SenderDecisionBody,
} from './portal.dto.js';
import type {
  AccountRow,
  Carrier,
  Carriers,
  CreatedAccount,
  Listed,
  SenderRequest,
} from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { By } from './portal-request.js';
import { askedSender } from './sending/senders.controllers.js';
import { UsersService } from './sign-in/users.service.js';

@PortalController('accounts')
@PortalAccess('operator')
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly users: UsersService,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(@ValidQuery(PortalQuery) { cursor }: PortalQuery): Promise<Listed<AccountRow>> {
    const { accounts, nextCursor } = await this.accounts.list(cursor);
    return listedOf(
      { data: accounts, nextCursor: nextCursor ?? null },
      ({ accountId, name, status, createdAt }) => ({
        id: accountId,
        name,
        status,
        createdAt: createdAt.toISOString(),
      }),
    );
  }

  @Post()
  async create(
    @By() actor: Actor,
    @JsonBody(AccountBody) { name }: AccountBody,
  ): Promise<CreatedAccount> {
    const { accountId, apiToken, apiKey } = await this.accounts.create(name, (manager, id = '') =>
      this.audit.record(manager, { ...actor, accountId: id }, 'account.created', id),
    );
    return { id: accountId, name: name.trim(), apiToken, apiKey };
  }

  @Post(':id/suspend')
  @HttpCode(204)
  async suspend(@By() actor: Actor, @Param('id') id: string): Promise<void> {
    await this.users.suspend(id, actor);
  }

  @Post(':id/resume')
  @HttpCode(204)
  async resume(
    @By() actor: Actor,
    @Param('id') id: string,
    @JsonBody(ResumeBody) { waiting }: ResumeBody,
  ): Promise<void> {
    const also = this.audit.also({ ...actor, accountId: id }, 'account.resumed', waiting);
    await this.accounts.resume(id, waiting, also);
  }
}

/** Most senders of a channel that are listed at once. */
const MOST_REQUESTS = 100;

/** Senders that wait for approval. */
@PortalController('sender-requests')
@PortalAccess('operator')
export class SenderRequestsController {
  constructor(
    private readonly reader: AccountSenders,
    private readonly senders: SendersService,
    private readonly accounts: AccountsService,
    private readonly channels: GatewayChannels,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(): Promise<Listed<SenderRequest>> {
    const data: SenderRequest[] = [];
    for (const { name: channel, senders: kind } of this.channels.all) {
      if (!kind?.actions) continue;
      for (const { accountId, sender } of await this.reader.pending(channel, MOST_REQUESTS)) {
        const { name: accountName } = await this.accounts.find(accountId);
        data.push({ accountId, accountName, channel, as: kind.noun, sender });
      }
    }
    return { data, nextCursor: null };
  }

  @Post('approve')
  @HttpCode(204)
  async approve(
    @By() actor: Actor,
    @JsonBody(SenderDecisionBody) { accountId, ...asked }: SenderDecisionBody,
  ): Promise<void> {
    const { of, actions } = askedSender(this.channels, accountId, asked);
    const also = this.audit.also({ ...actor, accountId }, actions.approved, of.sender);
    await this.senders.approve(of, also);
  }

  @Post('reject')
  @HttpCode(204)
  async reject(
    @By() actor: Actor,
    @JsonBody(SenderDecisionBody) { accountId, ...asked }: SenderDecisionBody,
  ): Promise<void> {
    const { of, actions } = askedSender(this.channels, accountId, asked);
    const also = this.audit.also({ ...actor, accountId }, actions.rejected, of.sender);
    await this.senders.remove(of, also, 'pending');
  }
}

/** The gateway's ways out, as its settings choose them. */
@PortalController('carriers')
@PortalAccess('operator')
export class CarriersController {
  constructor(
    private readonly messaging: MessagingService,
    private readonly channels: ChannelRegistry,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {}

  @Get()
  async list(): Promise<Carriers> {
    const { carriers } = this.environment;
    const lanes = await this.messaging.lanes();
    return {
      data: carriers.all.map(({ name, rateLimit }): Carrier => ({
        name,
        channels: this.channels.names.filter((channel) =>
          carriers.of(channel).some((one) => one.name === name),
        ),
        rateLimit: rateLimit ? rateText(rateLimit) : null,
        pausedLanes: countsOf(
          lanes.flatMap(({ pauseProvider, pauseReason }) =>
            pauseProvider === name && pauseReason !== null ? [pauseReason] : [],
          ),
        ),
      })),
    };
  }
}

function countsOf(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
