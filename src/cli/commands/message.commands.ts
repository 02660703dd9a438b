import {
  type ListedBatch,
  type Duration,
  type LaneHealth,
  type ListedMessage,
  MessagingService,
  type ReportView,
} from '@dundun/messaging';
import {
  type Hold,
  MessageHistory,
  MessagingOperations,
  type SubmissionView,
} from '@dundun/messaging/operations';
import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { isUUID } from 'class-validator';
import { ApiError, invalidFields } from '../../http/api-error.js';
import { inWireFields } from '../../http/error-mapping.js';
import { parseTimestamp } from '../../http/rfc3339.js';
import { holdsOf, restoredWork } from './backup.commands.js';
import type { OfAccount, OperatorCommand } from '../operator-command.js';
import { auditOf, recordChange } from '../operator-gateway.js';

const operationsOf = (app: INestApplicationContext): MessagingOperations =>
  app.get(MessagingOperations, { strict: false });

interface OfChannel extends OfAccount {
  readonly channel: string;
}

interface BatchOptions extends OfChannel {
  readonly reference: string;
}

/** Commands for batches; their output never contains texts and numbers. */
export function addBatchCommands(batches: OperatorCommand): void {
  const serviceOf = (app: INestApplicationContext, channel: string) =>
    app.get(MessagingService, { strict: false }).channel(channel);
  const batchCommand = (name: string, description: string): OperatorCommand =>
    batches.accountCommand(name, description).option('--channel <channel>', 'of the batch', 'sms');
  batchCommand('list', 'newest first')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account: tenant, channel, cursor }: OfChannel & { cursor?: string }) => {
      const { data, nextCursor } = await serviceOf(app, channel).batches({
        tenant,
        cursor,
        limit: 50,
      });
      return { batches: data.map(batchRow), nextCursor };
    });
  const commandForOne = (name: string, description: string): OperatorCommand =>
    batchCommand(name, description).requiredOption('--reference <id>', 'the reference_id');
  commandForOne('show', 'one batch').runs(
    async (app, { account: tenant, channel, reference }: BatchOptions) => {
      const id = checkedReference(reference);
      return batchRow(await serviceOf(app, channel).batch(id, { tenant }));
    },
  );
  commandForOne('cancel', 'cancel what has not left').runs(
    async (app, { account: tenant, channel, reference }: BatchOptions) => {
      const id = checkedReference(reference);
      const also = auditOf(app, tenant, 'batch.cancelled', id);
      return batchRow(await serviceOf(app, channel).cancel(id, { tenant, also }));
    },
  );
}

interface ListOptions {
  readonly account?: string;
  readonly channel?: string;
  readonly status?: string;
  readonly error?: string;
  readonly provider?: string;
  readonly tag?: string;
  readonly to?: string;
  readonly older?: string;
  readonly younger?: string;
  readonly cursor?: string;
}

type FilterOptions = Omit<ListOptions, 'status' | 'cursor'>;

interface ResendAllOptions extends FilterOptions {
  readonly status: string;
  readonly by: string;
  readonly acceptDoubles?: true;
  readonly dryRun?: true;
}

interface SettleAllOptions extends FilterOptions {
  readonly as: string;
  readonly by: string;
  readonly note?: string;
  readonly dryRun?: true;
}

interface SettleOptions {
  readonly message: string;
  readonly as: string;
  readonly by: string;
  readonly note?: string;
}

/** Commands for messages of every account; their output never contains texts and numbers. */
export function addMessageCommands(messages: OperatorCommand): void {
  filtered(
    messages.subcommand(
      'list',
      'the newest batch first; a page may be short, or empty, before the last',
    ),
  )
    .option('--status <status>', 'such as failed or unknown')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { status, cursor, ...options }: ListOptions) => {
      const filter = { ...filterOf(options), status, cursor, limit: 50 };
      const { data, nextCursor } = await operationsOf(app).messages(filter).catch(inOptions);
      return { messages: data.map(messageRow), nextCursor };
    });
  messages
    .subcommand('show', 'one message: its requests and reports, oldest first')
    .requiredOption('--message <id>', 'as the list names it')
    .runs(async (app, { message: id }: { message: string }) => {
      const record = await app.get(MessageHistory, { strict: false }).message(id);
      const { attempts, deferredUntil, resendOf, resentAs } = record;
      return {
        ...messageRow(record),
        attempts,
        deferredUntil,
        resendOf: resendOf?.messageId ?? null,
        resentAs: resentAs?.messageId ?? null,
        requests: record.submissions.map(requestRow),
        reports: record.reports.map(reportRow),
      };
    });
  messages
    .subcommand('resend', 'send a failed message again, once; a repeated call answers the same')
    .requiredOption('--message <id>', 'as the list names it')
    .option('--by <name>', 'who decided; it is recorded')
    .runs(async (app, { message, by }: { message: string; by?: string }) => {
      const also = auditOf(app, null, 'message.resent', message);
      const { id, messageId, replayed } = await operationsOf(app).resend(message, { by, also });
      return { message, resentAs: messageId, referenceId: id, status: resentStatus(replayed) };
    });
  messages
    .subcommand('settle', 'record what became of a message that is unknown')
    .requiredOption('--message <id>', 'as the list names it')
    .requiredOption('--as <status>', 'a status of its channel, such as delivered or failed')
    .requiredOption('--by <name>', 'who decided; it is recorded')
    .option('--note <text>', 'why; it is recorded')
    .runs(async (app, { message, as, by, note }: SettleOptions) => {
      const also = auditOf(app, null, 'message.settled', `${message} as ${as}`);
      return { ...messageRow(await operationsOf(app).settle(message, as, { by, note, also })), by };
    });
  filtered(messages.subcommand('resend-all', 'send all messages of a filter again, each once'))
    .option('--status <status>', 'such as failed or unknown', 'failed')
    .option('--accept-doubles', 'also unknown ones: a person may get the message twice')
    .requiredOption('--by <name>', 'who decided; it is recorded')
    .option('--dry-run', 'count them, and send nothing')
    .runs(async (app, { status, by, acceptDoubles, dryRun, ...options }: ResendAllOptions) => {
      const filter = { ...filterOf(options), status };
      const how = { by, acceptDoubles, dryRun };
      const resent = await operationsOf(app).resendAll(filter, how).catch(inOptions);
      if (!dryRun) await recordChange(app, options.account ?? null, 'messages.resent', by);
      return { ...resent };
    });
  filtered(messages.subcommand('settle-all', 'record what became of all unknown ones of a filter'))
    .requiredOption('--as <status>', 'a status of its channel, such as delivered or failed')
    .requiredOption('--by <name>', 'who decided; it is recorded')
    .option('--note <text>', 'why; it is recorded')
    .option('--dry-run', 'count them, and record nothing')
    .runs(async (app, { as, by, note, dryRun, ...options }: SettleAllOptions) => {
      const how = { by, note, dryRun };
      const filter = filterOf(options);
      const settled = await operationsOf(app).settleAll(filter, as, how).catch(inOptions);
      if (!dryRun) await recordChange(app, options.account ?? null, 'messages.settled', by);
      return { ...settled };
    });
}

function filtered(command: OperatorCommand): OperatorCommand {
  return command
    .option('--account <id>', 'of this account')
    .option('--channel <channel>', 'such as sms')
    .option('--error <code>', 'with this error code')
    .option('--provider <name>', 'whose last request went to this provider')
    .option('--tag <tag>', 'with this tag')
    .option('--to <address>', 'to this phone number, e-mail address or platform:id')
    .option('--older <age>', 'accepted longer ago than 2h, or before a time in RFC 3339')
    .option('--younger <age>', 'accepted within 2h, or since a time in RFC 3339');
}

function filterOf({ account, error, older, younger, ...same }: FilterOptions) {
  return {
    ...same,
    tenants: account === undefined ? undefined : [account],
    errorCode: error,
    olderThan: older === undefined ? undefined : timeOrAge(older),
    youngerThan: younger === undefined ? undefined : timeOrAge(younger),
  };
}

/** Throws an error with the names of the options. */
function inOptions(wrong: unknown): never {
  throw inWireFields(wrong, { olderThan: 'older', youngerThan: 'younger' });
}

/** Commands for reports; their output never contains numbers. */
export function addReportCommands(group: OperatorCommand): void {
  group
    .subcommand('unmatched', 'reports that name no message, newest first, and their number')
    .option('--provider <name>', 'of this provider')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { provider, cursor }: { provider?: string; cursor?: string }) => {
      const operations = operationsOf(app);
      const { data, nextCursor } = await operations.unmatchedReports({
        provider,
        cursor,
        limit: 50,
      });
      const reports = data.map(({ recipient: _recipient, ...report }) => report);
      return {
        reports,
        counts: Object.fromEntries(await operations.unmatchedCounts()),
        nextCursor,
      };
    });
}

function resentStatus(replayed: boolean): string {
  return replayed ? 'resent_before' : 'resent';
}

function messageRow(message: ListedMessage) {
  const { id, tenant, channel, status, errorCode, provider, acceptedAt } = message;
  return { message: id, account: tenant, channel, status, errorCode, provider, acceptedAt };
}

function requestRow({ provider, outcome, errorCode, reason, startedAt }: SubmissionView) {
  return { startedAt, provider, outcome, errorCode, reason };
}

function reportRow({ receivedAt, source, status, rawStatus, errorCode }: ReportView) {
  return { receivedAt, source, status, rawStatus, errorCode };
}

function checkedReference(reference: string): string {
  if (isUUID(reference)) return reference.toLowerCase();
  throw invalidFields([{ path: 'reference', message: 'must be the reference_id of a batch' }]);
}

function batchRow({ id, status, sender, recipients, createdAt, sendAt, counts }: ListedBatch) {
  return { referenceId: id, status, from: sender, recipients, createdAt, sendAt, counts };
}

const LANES = "a lane as the list names it, 'account:*', '*:channel' or '*'";

interface PauseOptions {
  readonly lane: string;
  readonly reason: string;
  readonly for?: Duration;
}

interface DrainOptions {
  readonly lane: string;
  readonly timeout: Duration;
  readonly reason?: string;
}

export function addLaneCommands(lanes: OperatorCommand): void {
  const messaging = (app: INestApplicationContext) => app.get(MessagingService, { strict: false });
  lanes
    .command('list', { isDefault: true })
    .description('each with its state and how long its oldest due message has waited')
    .runs(async (app) => ({
      lanes: (await messaging(app).lanes()).map(laneRow),
      holds: (await holdsOf(app).list()).map(holdRow),
    }));
  lanes
    .subcommand('pause', 'start nothing more of a lane; what is sent to it meanwhile waits')
    .requiredOption('--lane <lane>', LANES)
    .requiredOption('--reason <text>', 'why; the list shows it')
    .option('--for <duration>', 'go on by itself after this time, such as 2h')
    .runs(async (app, { lane, reason, for: lasts }: PauseOptions) => {
      await operationsOf(app).pauseLane(lane, { reason, for: lasts });
      await recordChange(app, null, 'lane.paused', lane);
      return { lane, status: 'paused', reason, for: lasts ?? null };
    });
  lanes
    .subcommand('drain', 'pause lanes, and wait until none of their requests is in flight')
    .option('--lane <lane>', LANES, '*')
    .option('--timeout <duration>', 'longest wait', '30s')
    .option('--reason <text>', 'why; the list shows it')
    .runs(async (app, { lane, timeout, reason }: DrainOptions) => {
      // The lanes stay held where the drain does not end in time.
      await recordChange(app, null, 'lane.paused', lane);
      await operationsOf(app).drain({ lanes: lane, timeout, reason });
      return { lane, status: 'drained' };
    });
  lanes
    .subcommand(
      'resume',
      'end the pause of a lane, also of one after failures; what paused it may pause it again',
    )
    .requiredOption('--lane <lane>', 'as the list names it, or as it was paused')
    .runs(async (app, { lane }: { lane: string }) => {
      const also = auditOf(app, null, 'lane.resumed', lane);
      if (await operationsOf(app).resumeLane(lane, { also })) return { lane, status: 'resumed' };
      throw new ApiError('not_found', `There is no lane ${lane.slice(0, 200)}`);
    });
  lanes
    .subcommand('release', 'let the lanes of a restored database go; see `dundun restore --check`')
    .option('--send', 'send what is queued, also what has left since the backup')
    .addOption(
      new Option('--settle <status>', 'give it this status and send none of it').choices([
        'unknown',
      ]),
    )
    .runs(async (app, { send = false, settle }: { send?: boolean; settle?: 'unknown' }) => {
      if (send === (settle !== undefined))
        throw invalidFields([
          { path: 'release', message: 'needs one of --send, --settle unknown' },
        ]);
      const work = await restoredWork(app);
      await holdsOf(app).releaseRestored(settle ?? 'send');
      await recordChange(app, null, 'lanes.released', settle ?? 'send');
      return { status: 'released', ...(send ? work.send : work.settleUnknown) };
    });
}

function laneRow(health: LaneHealth) {
  const { lane, hold, pauseReason, pauseDetail, pausedUntil, waiting, leased, doubt } = health;
  const working = leased ? 'working' : 'waiting';
  const state = pauseReason === null ? working : 'paused';
  return {
    lane,
    state: hold ? 'held' : state,
    waitingMs: Math.round(waiting),
    pausedUntil,
    reason: hold?.reason ?? pauseReason,
    detail: hold ? endOf(hold) : pauseDetail,
    uncertain: doubt?.submissions ?? 0,
    uncertainSince: doubt?.since ?? null,
    uncertainError: doubt?.errorCode ?? null,
  };
}

function holdRow(hold: Hold) {
  const { lanes, reason, note, since, until } = hold;
  return { lanes, reason, note, since, until, detail: endOf(hold) };
}

/** How an operator ends a hold of the gateway. */
function endOf({ lanes, reason }: Hold): string {
  if (reason === 'operator' || reason === 'guard')
    return `ends with \`dundun lanes resume --lane ${lanes}\``;
  if (reason !== 'restored') return 'ends with `dundun account resume`';
  return lanes === '*:vas'
    ? 'orders of a restored backup: after the other lanes, `dundun vas release`'
    : 'a restored backup: look with `dundun restore --check`, then `dundun lanes release`';
}

/** A time, or else an age, which the library checks. */
export function timeOrAge(written: string): Date | Duration {
  return parseTimestamp(written) ?? (written as Duration);
}
