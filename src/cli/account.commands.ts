import type { Command } from 'commander';
import type { Account, AccountWords } from '../accounts/accounts.tables.js';
import { AccountsService, type CredentialView } from '../accounts/accounts.service.js';
import { isScope, type Scope, SCOPES } from '../accounts/scope.js';
import { milliseconds } from '@dundun/messaging';
import { invalidFields } from '../http/api-error.js';
import { parseTimestamp } from '../http/rfc3339.js';
import type { Row } from './output.js';
import type { Run } from './run.js';

/** Accounts per page. */
const PAGE = 50;

/** Commands for accounts, their credentials and senders. */
export function addAccountCommands(program: Command, run: Run): void {
  const account = program.command('account').description('make, list, suspend and resume accounts');
  account
    .command('create')
    .description('make an account with an API token and a key; both are shown once')
    .requiredOption('--name <name>', 'what to call it')
    .option('--json', 'answer one line of JSON')
    .action((options: { name: string; json?: boolean }) =>
      run(options, async (app) => {
        const created = await app.get(AccountsService).create(options.name);
        return {
          account_id: created.accountId,
          api_token: created.apiToken,
          api_key: created.apiKey,
        };
      }),
    );
  account
    .command('list')
    .description('newest first')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .option('--json', 'answer one line of JSON')
    .action((options: { cursor?: string; json?: boolean }) =>
      run(options, async (app) => {
        const found = await app.get(AccountsService).list(PAGE, options.cursor);
        return {
          accounts: found.map(accountRow),
          next_cursor: found.length === PAGE ? (found.at(-1)?.id ?? null) : null,
        };
      }),
    );
  for (const [verb, description] of [
    ['suspend', 'answer all its requests with account_disabled'],
    ['resume', 'end a suspension'],
  ] as const)
    account
      .command(verb)
      .description(description)
      .requiredOption('--account <id>', 'the account')
      .option('--json', 'answer one line of JSON')
      .action((options: { account: string; json?: boolean }) =>
        run(options, async (app) => {
          await app.get(AccountsService)[verb](options.account);
          return {
            account_id: options.account,
            status: verb === 'suspend' ? 'suspended' : 'active',
          };
        }),
      );
  addSettingCommands(account, run);
  program
    .command('token')
    .description('API tokens')
    .command('rotate')
    .description('make a new API token; the old one stops working')
    .requiredOption('--account <id>', 'the account')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; json?: boolean }) =>
      run(options, async (app) => ({
        account_id: options.account,
        api_token: await app.get(AccountsService).rotateToken(options.account),
      })),
    );
  addKeyCommands(program, run);
  program
    .command('sender')
    .description('sender IDs')
    .command('add')
    .description('let an account send from a sender ID')
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--sender <sender>', 'the sender ID, such as ACME')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; sender: string; json?: boolean }) =>
      run(options, async (app) => {
        await app.get(AccountsService).addSender(options.account, options.sender);
        return { account_id: options.account, sender: options.sender };
      }),
    );
}

function accountRow({ id, name, createdAt, suspendedAt }: Account): Row {
  return {
    account_id: id,
    name,
    status: suspendedAt ? 'suspended' : 'active',
    created_at: createdAt.toISOString(),
  };
}

interface RateOptions {
  readonly account: string;
  readonly rate?: string;
  readonly clear?: boolean;
  readonly json?: boolean;
}

interface WordOptions {
  readonly account: string;
  readonly stop?: string[];
  readonly start?: string[];
  readonly stopReply?: string;
  readonly startReply?: string;
  readonly clear?: boolean;
  readonly json?: boolean;
}

/** Commands for the settings of one account. */
function addSettingCommands(account: Command, run: Run): void {
  account
    .command('rate')
    .description('messages per time in each lane of the account; shows the rate, sets or clears it')
    .requiredOption('--account <id>', 'the account')
    .option('--rate <rate>', 'such as 50/s, 600/m or 10000/h (default: RATE_LIMIT)')
    .option('--clear', 'back to RATE_LIMIT')
    .option('--json', 'answer one line of JSON')
    .action((options: RateOptions) =>
      run(options, async (app) => {
        const accounts = app.get(AccountsService);
        if (options.rate !== undefined || options.clear)
          await accounts.setRate(options.account, options.rate ?? null);
        return { account_id: options.account, rate: await accounts.rate(options.account) };
      }),
    );
  account
    .command('words')
    .description('consent words and replies of the account; shows them, sets or clears them')
    .requiredOption('--account <id>', 'the account')
    .option('--stop <word...>', 'words that opt out, instead of the defaults; stop always does')
    .option('--start <word...>', 'words that opt in, instead of the defaults')
    .option('--stop-reply <text>', 'answer to a message that opts out (default: none)')
    .option('--start-reply <text>', 'answer to a message that opts in (default: none)')
    .option('--clear', 'back to the defaults, before the other options are set')
    .option('--json', 'answer one line of JSON')
    .action((options: WordOptions) =>
      run(options, async (app) => {
        const accounts = app.get(AccountsService);
        const { stop, start, stopReply, startReply, clear } = options;
        const asked = Object.entries({ stop, start, stopReply, startReply }).filter(
          ([, value]) => value !== undefined,
        );
        const before = await accounts.words(options.account);
        const words = { ...(!clear && before), ...(Object.fromEntries(asked) as AccountWords) };
        if (clear || asked.length > 0) await accounts.setWords(options.account, words);
        return {
          account_id: options.account,
          stop: words.stop ?? null,
          start: words.start ?? null,
          stop_reply: words.stopReply ?? null,
          start_reply: words.startReply ?? null,
        };
      }),
    );
}

interface KeyOptions {
  readonly account: string;
  readonly scope?: string[];
  readonly expires?: string;
  readonly json?: boolean;
}

function keyRow(key: CredentialView): Row {
  return {
    key_id: key.id,
    last_four: key.lastFour,
    status: key.status,
    scopes: key.scopes,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

function addKeyCommands(program: Command, run: Run): void {
  const key = program.command('key').description('API keys, for WhatsApp and contacts');
  key
    .command('create')
    .description('make a key; it is shown once')
    .requiredOption('--account <id>', 'the account')
    .option('--scope <scope...>', 'what it may do (default: everything)')
    .option(
      '--expires <when>',
      'when it ends, as 90d, 12h or 2027-01-31T00:00:00Z (default: never)',
    )
    .option('--json', 'answer one line of JSON')
    .action((options: KeyOptions) =>
      run(options, async (app) => {
        const scopes = readScopes(options.scope);
        const expiresAt = options.expires === undefined ? null : readExpiry(options.expires);
        const { keyId, apiKey } = await app
          .get(AccountsService)
          .createKey(options.account, scopes, expiresAt);
        const expires_at = expiresAt?.toISOString() ?? null;
        return { key_id: keyId, api_key: apiKey, scopes, expires_at };
      }),
    );
  key
    .command('list')
    .description('the keys of an account: scopes, expiry, last use')
    .requiredOption('--account <id>', 'the account')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; json?: boolean }) =>
      run(options, async (app) => ({
        keys: (await app.get(AccountsService).keys(options.account)).map(keyRow),
      })),
    );
  key
    .command('revoke')
    .description('a key stops working')
    .requiredOption('--account <id>', 'the account')
    .requiredOption('--key <id>', 'the key_id it was made with')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; key: string; json?: boolean }) =>
      run(options, async (app) => {
        await app.get(AccountsService).revokeKey(options.account, options.key);
        return { key_id: options.key, status: 'revoked' };
      }),
    );
}

function readScopes(asked: readonly string[] | undefined): readonly Scope[] {
  if (!asked) return SCOPES;
  return asked.map((scope) => {
    if (isScope(scope)) return scope;
    throw invalidFields([
      { path: 'scope', message: `must be one of ${SCOPES.join(', ')}; no route requires another` },
    ]);
  });
}

/** Parses a duration from now, such as `90d`, or an RFC 3339 time. @throws ApiError 422 */
export function readExpiry(written: string, now = Date.now()): Date {
  const isDuration = /^\d{1,5} ?[a-z]+$/i.test(written);
  const time = isDuration ? new Date(now + durationOf(written)) : parseTimestamp(written);
  if (time && !Number.isNaN(time.getTime())) return time;
  throw invalidFields([
    { path: 'expires', message: 'must be a time such as 90d, 12h or 2027-01-31T00:00:00Z' },
  ]);
}

function durationOf(written: string): number {
  try {
    return milliseconds('expires', written);
  } catch {
    return Number.NaN;
  }
}
