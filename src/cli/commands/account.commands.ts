import { milliseconds } from '../../settings/durations.js';
import { Option } from 'commander';
import type { AccountWords } from '../../accounts/accounts.tables.js';
import { changedGuard, type WrittenGuard } from '../../accounts/account-guard.js';
import { AccountsService, type Also } from '../../accounts/accounts.service.js';
import { GatewayChannels, type Scope } from '../../channel.js';
import { invalidFields } from '../../http/api-error.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { Audit, commandLineFor } from '../../portal/audit.js';
import { UsersService } from '../../portal/sign-in/users.service.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf } from '../operator-gateway.js';

export function addAccountCommands(account: OperatorCommand): void {
  account
    .subcommand('create', 'make an account with an API token and a key; both are shown once')
    .requiredOption('--name <name>', 'what to call it')
    .runs((app, { name }: { name: string }) => {
      const audit = app.get(Audit, { strict: false });
      const also: Also = (manager, id = '') =>
        audit.record(manager, commandLineFor(id), 'account.created', id);
      return app.get(AccountsService).create(name, also);
    });
  account
    .subcommand('list', 'newest first')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs((app, { cursor }: { cursor?: string }) => app.get(AccountsService).list(cursor));
  account
    .accountCommand('suspend', 'answer its requests with account_disabled, hold its messages')
    .runs(async (app, { account: accountId }: OfAccount) => {
      const users = app.get(UsersService, { strict: false });
      await users.suspend(accountId, commandLineFor(accountId));
      return { accountId, status: 'suspended' };
    });
  account
    .accountCommand('resume', 'end a suspension')
    .addOption(
      new Option('--scheduled <choice>', 'its batches that were scheduled or queued meanwhile')
        .choices(['send', 'cancel'])
        .default('send'),
    )
    .runs(async (app, { account: accountId, scheduled }: ResumeOptions) => {
      const also = auditOf(app, accountId, 'account.resumed', scheduled);
      const cancelled = await app.get(AccountsService).resume(accountId, scheduled, also);
      return { accountId, status: 'active', cancelled };
    });
  addSettingCommands(account);
  addGuardCommand(account);
}

export function addTokenCommands(token: OperatorCommand): void {
  token
    .accountCommand('create', 'make a further API token by name; it is shown once')
    .requiredOption('--name <name>', 'what to call it, such as the program that has it')
    .option('--scope <scope...>', 'what it may do (default: everything that tokens may)')
    .option(
      '--expires <when>',
      'when it ends, as 90d, 12h or 2027-01-31T00:00:00Z (default: never)',
    )
    .runs(async (app, { account, name, scope, expires }: TokenOptions) => {
      const { tokenScopes } = app.get(GatewayChannels);
      const scopes = scope === undefined ? [] : readScopes(tokenScopes, scope);
      const expiresAt = expires === undefined ? null : readExpiry(expires);
      const also = auditOf(app, account, 'token.created');
      const created = { name, scopes, expiresAt };
      return {
        ...(await app.get(AccountsService).createToken(account, created, also)),
        ...created,
      };
    });
  token
    .accountCommand('list', 'the API tokens of an account: name, scopes, expiry, last use')
    .runs(async (app, { account }: OfAccount) => ({
      tokens: await app.get(AccountsService).tokens(account),
    }));
  token
    .accountCommand('rotate', 'make a new API token; the old one stops working')
    .option('--token <id>', 'its token_id (default: the token that the account was made with)')
    .option('--overlap <time>', 'the old one still works for so long, such as 24h')
    .runs(async (app, { account: accountId, token: tokenId, overlap }: RotateOptions) => {
      const lasts = overlap === undefined ? 0 : readOverlap(overlap);
      const action = lasts > 0 ? 'token.rotated_with_overlap' : 'token.rotated';
      const also = auditOf(app, accountId, action);
      const rotation = { tokenId, overlap: lasts };
      const { apiToken, ...made } = await app
        .get(AccountsService)
        .rotate(accountId, rotation, also);
      return { accountId, apiToken, ...made };
    });
  token
    .accountCommand('revoke', 'an API token stops working')
    .requiredOption('--token <id>', 'its token_id')
    .runs(async (app, { account, token: tokenId }: OfAccount & { token: string }) => {
      const also = auditOf(app, account, 'token.revoked', tokenId);
      await app.get(AccountsService).revokeToken(account, tokenId, also);
      return { tokenId, status: 'revoked' };
    });
}

interface TokenOptions extends OfAccount {
  readonly name: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
}

interface RotateOptions extends OfAccount {
  readonly token?: string;
  readonly overlap?: string;
}

/** @throws ApiError 422 */
function readOverlap(written: string): number {
  try {
    return milliseconds(written);
  } catch {
    throw invalidFields([{ path: 'overlap', message: 'must be a time such as 24h or 7d' }]);
  }
}

interface ResumeOptions extends OfAccount {
  readonly scheduled: 'send' | 'cancel';
}

interface RateOptions extends OfAccount {
  readonly rate?: string;
  readonly clear?: boolean;
}

interface WordOptions extends OfAccount, AccountWords {
  readonly clear?: boolean;
}

function addSettingCommands(account: OperatorCommand): void {
  account
    .accountCommand(
      'rate',
      'messages per time in each lane of the account; shows the rate, sets or clears it',
    )
    .option('--rate <rate>', 'such as 50/s, 600/m or 10000/h (default: RATE_LIMIT)')
    .option('--clear', 'back to RATE_LIMIT')
    .runs(async (app, { account: accountId, rate, clear }: RateOptions) => {
      const accounts = app.get(AccountsService);
      const also = auditOf(app, accountId, 'account.rate_changed', rate ?? 'default');
      if (rate !== undefined || clear)
        await accounts.change(accountId, { rate: rate ?? null }, also);
      return { accountId, rate: (await accounts.find(accountId)).rate };
    });
  account
    .accountCommand(
      'words',
      'consent words and replies of the account; shows them, sets or clears them',
    )
    .option('--stop <word...>', 'words that opt out, instead of the defaults; stop always does')
    .option('--start <word...>', 'words that opt in, instead of the defaults')
    .option('--stop-reply <text>', 'answer to a message that opts out (default: none)')
    .option('--start-reply <text>', 'answer to a message that opts in (default: none)')
    .option('--clear', 'back to the defaults, before the other options are set')
    .runs(async (app, { account: accountId, clear, ...asked }: WordOptions) => {
      const accounts = app.get(AccountsService);
      const { consentWords } = await accounts.find(accountId);
      const words: AccountWords = { ...(!clear && consentWords), ...asked };
      const isEmpty = Object.keys(words).length === 0;
      if (clear || Object.keys(asked).length > 0)
        await accounts.change(
          accountId,
          { consentWords: isEmpty ? null : words },
          auditOf(app, accountId, 'account.words_changed', isEmpty ? 'default' : 'own'),
        );
      const { stop, start, stopReply, startReply } = words;
      return { accountId, stop, start, stopReply, startReply };
    });
  account
    .accountCommand('second-factor', 'whether members need one in the portal; shows or sets it')
    .addOption(new Option('--require <choice>', 'every member').choices(['yes', 'no']))
    .runs(async (app, { account: accountId, require }: SecondFactorOptions) => {
      const accounts = app.get(AccountsService);
      if (require !== undefined) {
        const secondFactor = require === 'yes' ? 'required' : null;
        const also = auditOf(app, accountId, 'account.second_factor', secondFactor ?? 'off');
        await accounts.change(accountId, { secondFactor }, also);
      }
      const { secondFactor } = await accounts.find(accountId);
      return { accountId, secondFactor: secondFactor ?? 'optional' };
    });
}

interface GuardOptions extends OfAccount, WrittenGuard {
  readonly clear?: boolean;
}

function addGuardCommand(account: OperatorCommand): void {
  account
    .accountCommand(
      'guard',
      'limits against abuse of the account; shows them, sets or clears them; off takes one away',
    )
    .option('--only <country...>', 'the countries that it may send to, such as NG GH')
    .option('--except <country...>', 'the countries that it must not send to')
    .option('--countries-action <action>', 'deny, hold or alert (default: deny)')
    .option('--recipient <limit>', 'messages to one recipient, as 10/h or 10/h:hold')
    .option('--prefix <limit>', 'messages to numbers that differ in the last four digits')
    .option('--range <limit>', 'different numbers of one hundred consecutive ones')
    .option('--growth <limit>', 'times the busiest hour of 14 days, and messages, as 5:1000:alert')
    .option('--clear', 'no limits, before the other options are set')
    .runs(async (app, { account: accountId, clear, ...written }: GuardOptions) => {
      const accounts = app.get(AccountsService);
      const { guard } = await accounts.find(accountId);
      if (!clear && Object.keys(written).length === 0) return { accountId, guard };
      const changed = changedGuard(clear ? {} : (guard ?? {}), written);
      const also = auditOf(app, accountId, 'account.guard_changed', changed ? 'own' : 'default');
      await accounts.change(accountId, { guard: changed }, also);
      return { accountId, guard: changed };
    });
}

interface SecondFactorOptions extends OfAccount {
  readonly require?: 'yes' | 'no';
}

interface KeyOptions extends OfAccount {
  readonly scope?: readonly string[];
  readonly expires?: string;
}

export function addKeyCommands(key: OperatorCommand): void {
  key
    .accountCommand('create', 'make a key; it is shown once')
    .option('--scope <scope...>', 'what it may do (default: everything)')
    .option(
      '--expires <when>',
      'when it ends, as 90d, 12h or 2027-01-31T00:00:00Z (default: never)',
    )
    .runs(async (app, { account, scope, expires }: KeyOptions) => {
      const scopes = readScopes(app.get(GatewayChannels).scopes, scope);
      const expiresAt = expires === undefined ? null : readExpiry(expires);
      const also = auditOf(app, account, 'key.created');
      const created = await app.get(AccountsService).createKey(account, scopes, expiresAt, also);
      return { ...created, scopes, expiresAt };
    });
  key
    .accountCommand('list', 'the keys of an account: scopes, expiry, last use')
    .runs(async (app, { account }: OfAccount) => ({
      keys: await app.get(AccountsService).keys(account),
    }));
  key
    .accountCommand('revoke', 'a key stops working')
    .requiredOption('--key <id>', 'the key_id it was made with')
    .runs(async (app, { account, key: keyId }: OfAccount & { key: string }) => {
      const also = auditOf(app, account, 'key.revoked', keyId);
      await app.get(AccountsService).revokeKey(account, keyId, also);
      return { keyId, status: 'revoked' };
    });
}

function readScopes(known: readonly Scope[], asked: readonly string[] = known): readonly Scope[] {
  const isKnown = (scope: string): scope is Scope => known.some((one) => one === scope);
  if (asked.every(isKnown)) return asked;
  throw invalidFields([{ path: 'scope', message: `must be one of ${known.join(', ')}` }]);
}

/** Parses a duration from now, such as `90d`, or an RFC 3339 time. @throws ApiError 422 */
export function readExpiry(written: string, now = Date.now()): Date {
  try {
    const isDuration = /^\d{1,5} ?[a-z]+$/i.test(written);
    const time = isDuration ? now + milliseconds(written) : parseTimestamp(written);
    if (time !== undefined) return new Date(time);
  } catch {
    // An unknown unit has the same error as any other wrong text.
  }
  const message = 'must be a time such as 90d, 12h or 2027-01-31T00:00:00Z';
  throw invalidFields([{ path: 'expires', message }]);
}
