import { ChannelRegistry, MessagingService } from '@dundun/messaging';
import { Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { channelCarriers } from '../config/channel-carriers.js';
import type { Rate } from '../config/parsers.js';
import { JsonBody, ValidQuery } from '../http/request.decorators.js';
import { type Actor, Audit } from './audit.js';
import { SenderRules } from './channel-senders.js';
import { listedOf } from './listed.js';
import type {
  AccountRow,
  Carrier,
  Carriers,
  CreatedAccount,
  Listed,
  SenderRequest,
} from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { AccountBody, PortalQuery, ResumeBody, SenderDecisionBody } from './portal.dto.js';
import { PortalAccess } from './portal.guard.js';
import { By } from './portal-request.js';
import { UsersService } from './users.service.js';

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
    private readonly senders: SenderRules,
    private readonly accounts: AccountsService,
    private readonly audit: Audit,
  ) {}

  @Get()
  async list(): Promise<Listed<SenderRequest>> {
    const data: SenderRequest[] = [];
    for (const [channel, { approvals }] of this.senders.ofChannel)
      for (const { accountId, sender } of (await approvals?.pending(MOST_REQUESTS)) ?? []) {
        const { name: accountName } = await this.accounts.find(accountId);
        data.push({ accountId, accountName, channel, sender });
      }
    return { data, nextCursor: null };
  }

  @Post('approve')
  @HttpCode(204)
  async approve(
    @By() actor: Actor,
    @JsonBody(SenderDecisionBody) { accountId, channel, sender }: SenderDecisionBody,
  ): Promise<void> {
    const approvals = this.senders.approvalsOf(channel);
    const also = this.audit.also({ ...actor, accountId }, approvals.audit.approved, sender);
    await approvals.approve(accountId, sender, also);
  }

  @Post('reject')
  @HttpCode(204)
  async reject(
    @By() actor: Actor,
    @JsonBody(SenderDecisionBody) { accountId, channel, sender }: SenderDecisionBody,
  ): Promise<void> {
    const approvals = this.senders.approvalsOf(channel);
    const also = this.audit.also({ ...actor, accountId }, approvals.audit.rejected, sender);
    await approvals.remove(accountId, sender, { only: 'pending', also });
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
    if (this.environment.written) return this.#listOfFile();
    const { CARRIER, CARRIER_RATE_LIMIT } = this.environment;
    const own = channelCarriers(this.environment);
    const names = this.channels.names.filter(
      (name) => !own.some(({ channel }) => channel === name),
    );
    const paused = await this.#pausedByChannel();
    const carriers: [string, readonly string[], Rate | undefined][] = [
      [CARRIER, names, CARRIER_RATE_LIMIT],
      ...own.map(
        ({ channel, carrier }) => [carrier, [channel], undefined] as [string, string[], undefined],
      ),
    ];
    return {
      data: carriers.map(([name, channels, rate]): Carrier => ({
        name,
        channels,
        rateLimit: rate ? rateText(rate) : null,
        pausedLanes: countsOf(channels.flatMap((channel) => paused.get(channel) ?? [])),
      })),
    };
  }

  /** Each carrier of the file with the lanes that it holds up. */
  async #listOfFile(): Promise<Carriers> {
    const [providers, lanes] = await Promise.all([
      this.messaging.providers(),
      this.messaging.lanes(),
    ]);
    return {
      data: providers.map(({ name, channels, rateLimit }) => ({
        name,
        channels: channels ?? this.channels.names,
        rateLimit: rateLimit && rateText(rateLimit),
        pausedLanes: countsOf(
          lanes.flatMap(({ pauseProvider, pauseReason }) =>
            pauseProvider === name && pauseReason !== null ? [pauseReason] : [],
          ),
        ),
      })),
    };
  }

  /** Codes of the pauses of lanes with due work. */
  async #pausedByChannel(): Promise<Map<string, string[]>> {
    const paused = new Map<string, string[]>();
    for (const { lane, pauseReason } of await this.messaging.lanes()) {
      if (pauseReason === null) continue;
      const channel = lane.slice(lane.lastIndexOf(':') + 1);
      paused.set(channel, [...(paused.get(channel) ?? []), pauseReason]);
    }
    return paused;
  }
}

function countsOf(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

function rateText({ max, per }: Rate): string {
  const [length, unit] = UNITS.find(([ms]) => per % ms === 0) ?? [1, 'ms'];
  return `${max}/${per === length ? '' : per / length}${unit}`;
}
