import { Get, HttpCode, Inject, Post, Put, StreamableFile } from '@nestjs/common';
import { balanceOf, budgetOf, StatementQuery } from '../../billing/account.dto.js';
import { BudgetsService } from '../../billing/budgets/budgets.service.js';
import { BillingService } from '../../billing/ledger/billing.service.js';
import { entriesFile } from '../../billing/ledger/entries-file.js';
import type { Entry } from '../../billing/ledger/ledger.store.js';
import { amountText } from '../../billing/money.js';
import {
  type Statement,
  statementFile,
  StatementsService,
} from '../../billing/statements/statements.service.js';
import { ThresholdsService } from '../../billing/thresholds/thresholds.service.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';
import { JsonBody, ValidQuery } from '../../http/request.decorators.js';
import { Audit } from '../audit.js';
import {
  BalanceNoticesBody,
  BudgetBody,
  BudgetNameBody,
  listedOf,
  PortalQuery,
} from '../portal.dto.js';
import type { Billing, LedgerEntry, Listed, MonthStatement, SpentToday } from '../portal-api.js';
import { PortalController } from '../portal-controller.js';
import { PortalAccess } from '../portal.guard.js';
import { Caller, type InAccount } from '../portal-request.js';

/** The money of the account. */
@PortalController('billing')
@PortalAccess('viewer')
export class PortalBillingController {
  constructor(
    private readonly billing: BillingService,
    private readonly budgets: BudgetsService,
    private readonly thresholds: ThresholdsService,
    private readonly statements: StatementsService,
    private readonly audit: Audit,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'BILLING_EMAIL_FROM'>,
  ) {}

  @Get()
  async read(@Caller() { accountId }: InAccount): Promise<Billing> {
    const [money, budgets, notices] = await Promise.all([
      this.billing.account(accountId),
      this.budgets.list(accountId),
      this.thresholds.find(accountId),
    ]);
    const { credit_limit: creditLimit, ...balance } = balanceOf(money);
    return {
      ...balance,
      creditLimit,
      budgets: budgets.map((budget) => {
        const { key, period, limit, spent, resets_at: resetsAt } = budgetOf(budget);
        return { key, period, limit, spent, resetsAt };
      }),
      notices: { thresholds: notices.thresholds.map(amountText), emails: notices.emails },
      canMail: this.environment.BILLING_EMAIL_FROM !== undefined,
    };
  }

  @Get('today')
  async today(@Caller() { accountId }: InAccount): Promise<SpentToday> {
    return { spent: amountText(await this.billing.spentToday(accountId)) };
  }

  @Get('entries')
  async entries(
    @Caller() { accountId }: InAccount,
    @ValidQuery(PortalQuery) query: PortalQuery,
  ): Promise<Listed<LedgerEntry>> {
    return listedOf(await this.billing.entries(accountId, query), shownEntry);
  }

  @Get('entries.csv')
  exportEntries(@Caller() { accountId }: InAccount): StreamableFile {
    return entriesFile(this.billing, accountId);
  }

  @Get('statement')
  async statement(
    @Caller() { accountId }: InAccount,
    @ValidQuery(StatementQuery) { month }: StatementQuery,
  ): Promise<MonthStatement> {
    return shownStatement(await this.statements.statement(accountId, month));
  }

  @Get('statement.csv')
  async exportStatement(
    @Caller() { accountId }: InAccount,
    @ValidQuery(StatementQuery) { month }: StatementQuery,
  ): Promise<StreamableFile> {
    return statementFile(await this.statements.statement(accountId, month));
  }

  @Put('notices')
  @HttpCode(204)
  @PortalAccess('admin')
  async setNotices(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(BalanceNoticesBody) notices: BalanceNoticesBody,
  ): Promise<void> {
    const also = this.audit.also(actor, 'billing.thresholds_set');
    await this.thresholds.set(accountId, notices, also);
  }

  @Post('budgets')
  @HttpCode(204)
  @PortalAccess('admin')
  async setBudget(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(BudgetBody) budget: BudgetBody,
  ): Promise<void> {
    const also = this.audit.also(actor, 'billing.budget_set', targetOf(budget));
    await this.budgets.set(accountId, budget, also);
  }

  @Post('budgets/remove')
  @HttpCode(204)
  @PortalAccess('admin')
  removeBudget(
    @Caller() { accountId, actor }: InAccount,
    @JsonBody(BudgetNameBody) budget: BudgetNameBody,
  ): Promise<void> {
    const also = this.audit.also(actor, 'billing.budget_removed', targetOf(budget));
    return this.budgets.remove(accountId, budget, also);
  }
}

function targetOf({ key = 'account', period }: BudgetNameBody): string {
  return `${key} ${period}`;
}

function shownEntry(entry: Entry): LedgerEntry {
  const { sequence, kind, amount, balanceAfter, reference, note, createdAt } = entry;
  return {
    id: sequence.toString(),
    kind,
    amount: amountText(amount),
    balanceAfter: amountText(balanceAfter),
    reference,
    note,
    createdAt: createdAt.toISOString(),
  };
}

function shownStatement(statement: Statement): MonthStatement {
  const { opening, closing, entries, channels, keys, ...rest } = statement;
  const shown = <T extends { readonly amount: bigint }>({ amount, ...line }: T) => ({
    ...line,
    amount: amountText(amount),
  });
  return {
    ...rest,
    opening: amountText(opening),
    closing: amountText(closing),
    entries: entries.map(shown),
    channels: channels.map(shown),
    keys: keys.map(shown),
  };
}
