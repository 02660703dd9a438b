import { Controller, Get, StreamableFile } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { AccountId, Auth, Reads } from '../accounts/auth.guard.js';
import { BILLING_SCOPE } from '../channel.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery, pageOf } from '../http/page.dto.js';
import { ValidQuery } from '../http/request.decorators.js';
import {
  AccountBalance,
  AccountBudgetList,
  AccountEntryPage,
  AccountStatement,
  balanceOf,
  budgetOf,
  entryOf,
  StatementQuery,
  statementOf,
} from './account.dto.js';
import { statementFile, StatementsService } from './statements/statements.service.js';
import { BudgetsService } from './budgets/budgets.service.js';
import { BillingService } from './ledger/billing.service.js';
import { entriesFile } from './ledger/entries-file.js';

/** What the account of the credential has; a key needs the scope `billing:read`. */
@Controller('ng/v1/account')
@Auth('any', BILLING_SCOPE)
@ApiTags('Billing')
export class AccountController {
  constructor(
    private readonly billing: BillingService,
    private readonly budgets: BudgetsService,
    private readonly statements: StatementsService,
  ) {}

  @Get('balance')
  @Operation('Read the balance', {
    description: 'Amounts are decimal texts with two to six digits after the point.',
    answer: AccountBalance,
    success: 'The balance of the account.',
  })
  async readBalance(@AccountId() account: string): Promise<AccountBalance> {
    return balanceOf(await this.billing.account(account));
  }

  @Get('budgets')
  @Operation('List the budgets', {
    description:
      'What the account and its credentials may spend in a day or a month. A send beyond it is 402 `budget_exceeded`.',
    answer: AccountBudgetList,
    success: 'The budgets in their present period, that of the whole account first.',
  })
  async listBudgets(@AccountId() account: string): Promise<AccountBudgetList> {
    return { data: (await this.budgets.list(account)).map(budgetOf) };
  }

  @Get('statement')
  @Operation('Read the statement of a month', {
    description:
      'The entries lead from the opening to the closing balance. Charges less refunds are the sum of `messages` and of `keys`.',
    answer: AccountStatement,
    success: 'The statement; that of the present month is up to now.',
  })
  async readStatement(
    @AccountId() account: string,
    @ValidQuery(StatementQuery) { month }: StatementQuery,
  ): Promise<AccountStatement> {
    return statementOf(await this.statements.statement(account, month));
  }

  @Get('statement.csv')
  @ApiProduces('text/csv')
  @Operation('Read the statement of a month as a file', {
    description:
      'Columns `section`, `kind`, `channel`, `country`, `key`, `count`, `parts`, `amount`; `section` is `opening_balance`, `entries`, `messages`, `keys` or `closing_balance`.',
    answer: String,
    success: 'The statement as CSV.',
  })
  async exportStatement(
    @AccountId() account: string,
    @ValidQuery(StatementQuery) { month }: StatementQuery,
  ): Promise<StreamableFile> {
    return statementFile(await this.statements.statement(account, month));
  }

  @Get('entries')
  @Operation('List the entries of the ledger', {
    description:
      'Each entry changes the balance once, has a number without gaps, and never changes.',
    answer: AccountEntryPage,
    success: 'A page of entries, newest first.',
  })
  async listEntries(
    @AccountId() account: string,
    @ValidQuery(ListQuery) query: ListQuery,
  ): Promise<AccountEntryPage> {
    return pageOf(await this.billing.entries(account, query), entryOf);
  }

  @Get('entries.csv')
  @Reads('export')
  @ApiProduces('text/csv')
  @Operation('Read all entries of the ledger as a file', {
    description: 'Columns `created_at`, `kind`, `amount`, `balance_after`, `reference`.',
    answer: String,
    success: 'All entries as CSV, newest first.',
  })
  exportEntries(@AccountId() account: string): StreamableFile {
    return entriesFile(this.billing, account);
  }
}
