import { csvOf } from '@dundun/messaging/values';
import { Injectable, StreamableFile } from '@nestjs/common';
import { AccountsService } from '../../accounts/accounts.service.js';
import { invalidField } from '../../http/api-error.js';
import { LedgerStore } from '../ledger/ledger.store.js';
import { ENTRY_KINDS, type EntryKind } from '../ledger/ledger.tables.js';
import { amountText } from '../money.js';
import { boundsOf, type MonthSum } from './month-totals.js';
import { type KindSum, type MonthRow, StatementStore } from './statement.store.js';

export interface KindLine {
  readonly kind: EntryKind;
  readonly count: number;
  readonly amount: bigint;
}

export interface ChannelLine extends MonthSum {
  /** Empty: charges of versions that kept no totals by month. */
  readonly channel: string;
  readonly country: string;
}

export interface KeyLine extends MonthSum {
  /** `null`: no credential, such as an operator in the portal. */
  readonly key: string | null;
}

/** The money of an account in a month of UTC; amounts are millionths. */
export interface Statement {
  readonly accountId: string;
  readonly accountName: string;
  readonly month: string;
  /** `null`: the account never had money. */
  readonly currency: string | null;
  readonly opening: bigint;
  readonly closing: bigint;
  /** Of each kind; their amounts lead from the opening to the closing balance. */
  readonly entries: readonly KindLine[];
  /** What messages cost: charges less refunds. */
  readonly channels: readonly ChannelLine[];
  /** The same by credential. */
  readonly keys: readonly KeyLine[];
}

/** Statements of accounts by month. */
@Injectable()
export class StatementsService {
  constructor(
    private readonly accounts: AccountsService,
    private readonly ledger: LedgerStore,
    private readonly store: StatementStore,
  ) {}

  /** @param month such as `2026-11` @throws ApiError 404; 422 on `month` */
  async statement(accountId: string, month: string): Promise<Statement> {
    const bounds = boundsOf(month);
    if (!bounds) throw invalidField('month', 'must be a month, such as 2026-11');
    const { name: accountName } = await this.accounts.find(accountId);
    const money = await this.ledger.account(accountId);
    const { kinds, rows } = await this.store.month(accountId, month, bounds);
    const before = kinds.filter(({ isBefore }) => isBefore);
    const within = kinds.filter(({ isBefore }) => !isBefore);
    const opening = sumOf(before);
    const all = [...rows, ...restOf(within, rows)];
    return {
      accountId,
      accountName,
      month,
      currency: money?.currency ?? null,
      opening,
      closing: opening + sumOf(within),
      entries: ENTRY_KINDS.map((kind) => lineOf(kind, within)),
      channels: grouped(all, ({ channel, country }) => ({ channel, country })),
      keys: grouped(all, ({ spender }) => ({ key: spender === '' ? null : spender })),
    };
  }
}

/** The lines of a statement as a file: `section` says what a line is. */
export function statementCsv(statement: Statement): string {
  const { opening, closing, entries, channels, keys } = statement;
  const sums = ({ messages, parts, amount }: MonthSum) => [
    String(messages),
    String(parts),
    amountText(amount),
  ];
  const lines = [
    ['section', 'kind', 'channel', 'country', 'key', 'count', 'parts', 'amount'],
    ['opening_balance', '', '', '', '', '', '', amountText(opening)],
    ...entries.map(({ kind, count, amount }) => [
      'entries',
      kind,
      '',
      '',
      '',
      String(count),
      '',
      amountText(amount),
    ]),
    ...channels.map((one) => ['messages', '', one.channel, one.country, '', ...sums(one)]),
    ...keys.map((one) => ['keys', '', '', '', one.key ?? '', ...sums(one)]),
    ['closing_balance', '', '', '', '', '', '', amountText(closing)],
  ];
  // Amounts below zero are numbers: the mark of a formula would make text of them.
  return lines
    .map((line) => [...line.slice(0, -1).map((cell) => cellOf(cell)), line.at(-1)].join(','))
    .map((line) => `${line}\r\n`)
    .join('');
}

export function statementFile(statement: Statement): StreamableFile {
  return new StreamableFile(Buffer.from(statementCsv(statement)), {
    type: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="statement-${statement.month}.csv"`,
  });
}

function cellOf(cell: string): string {
  return /^-?\d+$/.test(cell) ? cell : csvOf([[cell]]).replace(/\r\n$/, '');
}

function lineOf(kind: EntryKind, sums: readonly KindSum[]): KindLine {
  const { count = 0, amount = 0n } = sums.find((one) => one.kind === kind) ?? {};
  return { kind, count, amount };
}

function sumOf(amounts: readonly { readonly amount: bigint }[]): bigint {
  return amounts.reduce((sum, { amount }) => sum + amount, 0n);
}

/** What messages cost by the entries, and is in no total: charges of versions that kept none. */
function restOf(kinds: readonly KindSum[], rows: readonly MonthRow[]): readonly MonthRow[] {
  const charged = kinds.filter(({ kind }) => kind === 'charge' || kind === 'refund');
  const amount = -sumOf(charged) - sumOf(rows);
  if (amount === 0n) return [];
  return [{ channel: '', country: '', spender: '', messages: 0, parts: 0, amount }];
}

function grouped<K extends object>(
  rows: readonly MonthRow[],
  keyOf: (row: MonthRow) => K,
): (K & MonthSum)[] {
  const groups = new Map<string, K & MonthSum>();
  for (const row of rows) {
    const key = keyOf(row);
    const name = JSON.stringify(key);
    const known = groups.get(name) ?? { ...key, messages: 0, parts: 0, amount: 0n };
    groups.set(name, {
      ...known,
      messages: known.messages + row.messages,
      parts: known.parts + row.parts,
      amount: known.amount + row.amount,
    });
  }
  return [...groups.values()];
}
