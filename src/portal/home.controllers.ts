import { type LaneHealth, MessagingService } from '@dundun/messaging';
import { MessageHistory, type OutcomeFigures } from '@dundun/messaging/operations';
import { Get, Inject } from '@nestjs/common';
import { balanceOf } from '../billing/account.dto.js';
import { BillingService } from '../billing/ledger/billing.service.js';
import { amountText } from '../billing/money.js';
import { SenderDomains } from '../channels/email/domains/sender-domains.js';
import { GatewayChannels } from '../channel.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { AccountSenders } from '../senders/account-senders.js';
import { WebhookEndpointsService } from '../webhooks/webhook-endpoints.service.js';
import type { GatewayFigures, HomeFigures, Onboarding, SpendableBalance } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Caller, type InAccount } from './portal-request.js';
import { SetUpLinks } from './sign-in/set-up-links.js';
import { UsersService } from './sign-in/users.service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Parts of an account that its first steps ask for. */
@PortalController('onboarding')
@PortalAccess('viewer')
export class OnboardingController {
  constructor(
    private readonly history: MessageHistory,
    private readonly channels: GatewayChannels,
    private readonly senders: AccountSenders,
    private readonly domains: SenderDomains,
    private readonly endpoints: WebhookEndpointsService,
    private readonly users: UsersService,
    private readonly links: SetUpLinks,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'carriers'>,
  ) {}

  @Get()
  async read(@Caller() { accountId, actor }: InAccount): Promise<Onboarding> {
    const { data } = await this.history.batches({ tenants: [accountId], limit: 1 });
    const members = await this.users.members(accountId, actor.userId ?? '');
    return {
      sender: await this.#hasSender(accountId),
      message: data.length > 0,
      webhook: (await this.endpoints.list(accountId)).some(({ disabledAt }) => disabledAt === null),
      team: members.length > 1 || (await this.links.invitations(accountId)).length > 0,
      live: await this.#isLive(accountId),
    };
  }

  async #hasSender(accountId: string): Promise<boolean> {
    for (const { name, senders } of this.channels.all) {
      if (!senders) continue;
      const all = await this.senders.list(accountId, name);
      if (all.some(({ state }) => state === 'approved')) return true;
    }
    return (await this.domains.firstOf(accountId)) !== undefined;
  }

  async #isLive(accountId: string): Promise<boolean> {
    const real = this.environment.carriers.all.filter(({ traits }) => !traits.isSimulated);
    if (real.length === 0) return false;
    const { groups } = await this.history.outcomes({
      tenants: [accountId],
      since: new Date(Date.now() - 30 * DAY),
      by: 'provider',
    });
    return groups.some(
      ({ name, current }) => current.delivered > 0 && real.some((one) => one.name === name),
    );
  }
}

/** What a person may spend before a send. */
@PortalController('balance')
@PortalAccess('viewer')
export class BalanceController {
  constructor(private readonly billing: BillingService) {}

  @Get()
  async read(@Caller() { accountId }: InAccount): Promise<SpendableBalance> {
    const { mode, available, currency } = balanceOf(await this.billing.account(accountId));
    return { mode, available, currency };
  }
}

/** The gateway at a glance, by counts alone. */
@PortalController('gateway')
@PortalAccess('operator')
export class GatewayController {
  constructor(
    private readonly history: MessageHistory,
    private readonly messaging: MessagingService,
    private readonly billing: BillingService,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'carriers'>,
  ) {}

  @Get()
  async read(): Promise<GatewayFigures> {
    const until = Math.ceil(Date.now() / HOUR) * HOUR;
    const { since, total, groups } = await this.history.outcomes({
      since: new Date(until - DAY),
      until: new Date(until),
      by: 'provider',
    });
    const lanes = await this.messaging.lanes();
    const names = this.environment.carriers.all.map(({ name }) => name);
    const counted = new Map(groups.map(({ name, current }) => [name, current]));
    const carriers = names.map((name) => ({
      name,
      ...figuresOf(counted.get(name)),
      pausedLanes: lanes.filter(({ pauseProvider }) => pauseProvider === name).length,
    }));
    return {
      since: since.toISOString(),
      messages: figuresOf(total.current),
      former: figuresOf(total.former),
      carriers: carriers.toSorted((one, other) => other.accepted - one.accepted),
      lanes: lanesOf(lanes, new Date()),
      balances: await this.#balances(),
    };
  }

  async #balances(): Promise<GatewayFigures['balances']> {
    const { accounts, empty, lowest } = await this.billing.lowest(5);
    return {
      accounts,
      empty,
      lowest: lowest.map(({ available, ...account }) => ({
        ...account,
        available: amountText(available),
      })),
    };
  }
}

function figuresOf(figures: OutcomeFigures | undefined): HomeFigures {
  const { messages = 0, delivered = 0, failed = 0, statuses = {} } = figures ?? {};
  return { accepted: messages, delivered, failed, unknown: statuses['unknown'] ?? 0 };
}

function lanesOf(lanes: readonly LaneHealth[], now: Date): GatewayFigures['lanes'] {
  const held = lanes.filter(({ hold }) => hold !== null);
  const paused = lanes.filter(
    ({ hold, pauseReason, pausedUntil }) =>
      hold === null && pauseReason !== null && pausedUntil !== null && pausedUntil > now,
  );
  const waits = lanes.map(({ waiting }) => Math.round(waiting));
  return {
    waiting: lanes.filter(({ leased, waiting }) => !leased && waiting > 0).length,
    paused: paused.length,
    held: held.length,
    longest: Math.max(0, ...waits),
  };
}
