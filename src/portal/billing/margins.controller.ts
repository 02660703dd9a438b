import { Get } from '@nestjs/common';
import { BillingService } from '../../billing/ledger/billing.service.js';
import { Margins } from '../../billing/margins/margins.service.js';
import { amountText } from '../../billing/money.js';
import { ValidQuery } from '../../http/request.decorators.js';
import { MarginsQuery } from '../portal.dto.js';
import type { LowestBalances, MarginsPart } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';

/** Accounts that are listed by what they may spend. */
const MOST_BALANCES = 100;

/** What messages of all accounts bring and cost. */
@PortalController('margins')
@PortalAccess('operator')
export class PortalMarginsController {
  constructor(
    private readonly margins: Margins,
    private readonly billing: BillingService,
  ) {}

  @Get()
  async read(@ValidQuery(MarginsQuery) { month, cursor }: MarginsQuery): Promise<MarginsPart> {
    const { margins, names, read, next } = await this.margins.part(month, cursor);
    return {
      rows: margins.map(({ accountId, price, cost, costCurrency, month: _month, ...row }) => ({
        ...row,
        accountId,
        accountName: names.get(accountId) ?? accountId,
        price: amountText(price),
        costCurrency: costCurrency || null,
        cost: amountText(cost),
      })),
      read,
      nextCursor: next,
    };
  }

  @Get('balances')
  async balances(): Promise<LowestBalances> {
    const { accounts, empty, lowest } = await this.billing.lowest(MOST_BALANCES);
    return {
      accounts,
      empty,
      data: lowest.map(({ available, ...row }) => ({ ...row, available: amountText(available) })),
    };
  }
}
