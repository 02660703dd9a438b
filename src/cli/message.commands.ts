import {
  type AnyChannelService,
  type BatchView,
  type Hold,
  type LaneHealth,
  MessagingOperations,
  MessagingService,
} from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { isUUID } from 'class-validator';
import { ApiError, invalidFields } from '../http/api-error.js';
import { holdsOf, restoredWork } from './backup.commands.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

const operationsOf = (app: INestApplicationContext): MessagingOperations =>
  app.get(MessagingOperations, { strict: false });

interface OfChannel extends OfAccount {
  readonly channel: string;
}

interface BatchOptions extends OfChannel {
  readonly reference: string;
}

/** Commands for batches; their output never contains texts and numbers. */
export function addBatchCommands(program: OperatorCommand): void {
  const serviceOf = (app: INestApplicationContext, channel: string) =>
    app.get(MessagingService, { strict: false }).channel(channel);
  const batches = program.subcommand('batches', 'look at batches, cancel them');
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
  const commandForOne = (
    name: string,
    description: string,
    work: (service: AnyChannelService, id: string, tenant: string) => Promise<BatchView>,
  ): OperatorCommand =>
    batchCommand(name, description)
      .requiredOption('--reference <id>', 'the reference_id')
      .runs(async (app, { account, channel, reference }: BatchOptions) =>
        batchRow(await work(serviceOf(app, channel), checkedReference(reference), account)),
      );
  commandForOne('show', 'one batch', (service, id, tenant) => service.batch(id, { tenant }));
  commandForOne('cancel', 'cancel what has not left', (service, id, tenant) =>
    service.cancel(id, { tenant }),
  );
}

function checkedReference(reference: string): string {
  if (isUUID(reference)) return reference.toLowerCase();
  throw invalidFields([{ path: 'reference', message: 'must be the reference_id of a batch' }]);
}

function batchRow({ id, status, sender, recipients, createdAt, sendAt, counts }: BatchView) {
  return { referenceId: id, status, from: sender, recipients, createdAt, sendAt, counts };
}

export function addLaneCommands(program: OperatorCommand): void {
  const messaging = (app: INestApplicationContext) => app.get(MessagingService, { strict: false });
  const lanes = program.subcommand('lanes', 'lanes that are held, paused or have due work');
  lanes
    .command('list', { isDefault: true })
    .description('each with its state and how long its oldest due message has waited')
    .runs(async (app) => ({
      lanes: (await messaging(app).lanes()).map(laneRow),
      holds: (await holdsOf(app).list()).map(holdRow),
    }));
  lanes
    .subcommand('resume', 'end the pause of a lane; what paused it may pause it again')
    .requiredOption('--lane <lane>', 'the lane, as the list names it')
    .runs(async (app, { lane }: { lane: string }) => {
      if (await operationsOf(app).resumeLane(lane)) return { lane, status: 'resumed' };
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
      return { status: 'released', ...(send ? work.send : work.settleUnknown) };
    });
}

function laneRow(health: LaneHealth) {
  const { lane, hold, pauseReason, pauseDetail, pausedUntil, waiting, leased } = health;
  const working = leased ? 'working' : 'waiting';
  const state = pauseReason === null ? working : 'paused';
  return {
    lane,
    state: hold ? 'held' : state,
    waitingMs: Math.round(waiting),
    pausedUntil,
    reason: hold?.reason ?? pauseReason,
    detail: hold ? endOf(hold) : pauseDetail,
  };
}

function holdRow(hold: Hold) {
  return { lanes: hold.lanes, reason: hold.reason, since: hold.since, detail: endOf(hold) };
}

/** How an operator ends a hold of the gateway. */
function endOf({ lanes, reason }: Hold): string {
  if (reason === 'operator') return `ends with \`dundun lanes resume --lane ${lanes}\``;
  if (reason !== 'restored') return 'ends with `dundun account resume`';
  return lanes === '*:vas'
    ? 'orders of a restored backup: after the other lanes, `dundun vas release`'
    : 'a restored backup: look with `dundun restore --check`, then `dundun lanes release`';
}
