import { MessageHistory, type OutcomeFigures, type Outcomes } from '@dundun/messaging/operations';
import { Get } from '@nestjs/common';
import { invalidFields } from '../http/api-error.js';
import { ValidQuery } from '../http/request.decorators.js';
import { InsightsQuery } from './portal.dto.js';
import type { Insights, InsightsDoubt, InsightsPeriod } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Current } from './portal-request.js';
import type { SignedIn } from './sign-in/sessions.service.js';

const HOUR = 3_600_000;
const LENGTHS: Readonly<Record<InsightsPeriod, number>> = {
  '24h': 24 * HOUR,
  '7d': 7 * 24 * HOUR,
  '30d': 30 * 24 * HOUR,
};

/** Outcomes of the chosen account; of all accounts for an operator who has chosen none. */
@PortalController('insights')
@PortalAccess('viewer of any')
export class InsightsController {
  constructor(private readonly history: MessageHistory) {}

  @Get()
  async read(
    @Current() { account, user }: SignedIn,
    @ValidQuery(InsightsQuery) { period = '24h', by = 'provider', ...where }: InsightsQuery,
  ): Promise<Insights> {
    if (account && by === 'tenant')
      throw invalidFields([{ path: 'by', message: 'tenant is for all accounts together' }]);
    const until = Math.ceil(Date.now() / HOUR) * HOUR;
    const { channel, provider, country, sender, tag, category } = where;
    const read = await this.history.outcomes({
      tenants: account ? [account.id] : 'all',
      since: new Date(until - LENGTHS[period]),
      until: new Date(until),
      by,
      where: { channel, provider, country, sender, tag, category },
    });
    const shown = user.isOperator ? (of: Outcomes['total']) => of : withoutCosts;
    return {
      ...read,
      total: shown(read.total),
      groups: read.groups.map(({ name, ...of }) => ({ name, ...shown(of) })),
      since: read.since.toISOString(),
      until: read.until.toISOString(),
      formerSince: read.formerSince.toISOString(),
      by,
      slots: read.slots.map((slot) => ({ ...slot, start: slot.start.toISOString() })),
      doubts: account ? [] : await this.#doubts(),
    };
  }

  async #doubts(): Promise<readonly InsightsDoubt[]> {
    const found = await this.history.doubtfulReceipts();
    return found.map(({ provider, channel, country, reason }) => ({
      provider,
      channel,
      country,
      reason,
    }));
  }
}

/** What a carrier costs is for operators. */
function withoutCosts({ current, former }: Outcomes['total']): Outcomes['total'] {
  const without = (figures: OutcomeFigures): OutcomeFigures => ({ ...figures, costs: [] });
  return { current: without(current), former: without(former) };
}
