import { csvOf } from '@dundun/messaging/values';
import { Controller, Get, StreamableFile } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { AccountId, Auth, Reads } from '../accounts/auth.guard.js';
import { BILLING_SCOPE } from '../channel.js';
import { Operation } from '../http/operation.decorator.js';
import { ListQuery, pageOf } from '../http/page.dto.js';
import { ValidQuery } from '../http/request.decorators.js';
import { AccountBalance, AccountEntryPage, balanceOf, entryOf } from './account.dto.js';
import { BillingService } from './ledger/billing.service.js';

/** Entries per query of a file. */
const PAGE = 1_000;

/** What the account of the credential has; a key needs the scope `billing:read`. */
@Controller('ng/v1/account')
@Auth('any', BILLING_SCOPE)
@ApiTags('Billing')
export class AccountController {
  constructor(private readonly billing: BillingService) {}

  @Get('balance')
  @Operation('Read the balance', {
    description: 'Amounts are decimal texts with two to six digits after the point.',
    answer: AccountBalance,
    success: 'The balance of the account.',
  })
  async readBalance(@AccountId() account: string): Promise<AccountBalance> {
    return balanceOf(await this.billing.account(account));
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
    return new StreamableFile(Readable.from(this.#lines(account)), {
      type: 'text/csv; charset=utf-8',
      disposition: 'attachment; filename="entries.csv"',
    });
  }

  async *#lines(account: string): AsyncGenerator<string> {
    yield 'created_at,kind,amount,balance_after,reference\r\n';
    let cursor: string | undefined;
    do {
      const page = await this.billing.entries(account, { cursor, limit: PAGE });
      // Spreadsheets would read an amount below zero as text, had it the mark of a formula.
      const lines = page.data
        .map(entryOf)
        .map(
          ({ created_at: at, kind, amount, balance_after: balance, reference }) =>
            `${at},${kind},${amount},${balance},${csvOf([[reference]])}`,
        );
      yield lines.join('');
      cursor = page.nextCursor ?? undefined;
      // On SQLite nothing else here waits.
      await turn();
    } while (cursor !== undefined);
  }
}
