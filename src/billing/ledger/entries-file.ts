import { csvOf } from '@dundun/messaging/values';
import { StreamableFile } from '@nestjs/common';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { entryOf } from '../account.dto.js';
import type { BillingService } from './billing.service.js';

/** Entries per query of a file. */
const PAGE = 1_000;

/** All entries of an account as CSV, newest first. */
export function entriesFile(billing: BillingService, account: string): StreamableFile {
  return new StreamableFile(Readable.from(lines(billing, account)), {
    type: 'text/csv; charset=utf-8',
    disposition: 'attachment; filename="entries.csv"',
  });
}

async function* lines(billing: BillingService, account: string): AsyncGenerator<string> {
  yield 'created_at,kind,amount,balance_after,reference\r\n';
  let cursor: string | undefined;
  do {
    const page = await billing.entries(account, { cursor, limit: PAGE });
    // Spreadsheets would read an amount below zero as text, had it the mark of a formula.
    const written = page.data
      .map(entryOf)
      .map(
        ({ created_at: at, kind, amount, balance_after: balance, reference }) =>
          `${at},${kind},${amount},${balance},${csvOf([[reference]])}`,
      );
    yield written.join('');
    cursor = page.nextCursor ?? undefined;
    // On SQLite nothing else here waits.
    await turn();
  } while (cursor !== undefined);
}
