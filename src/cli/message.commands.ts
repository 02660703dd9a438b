import { type BatchView, type LaneHealth, MessagingService, SmsService } from '@dundun/messaging';
import type { INestApplicationContext } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { ApiError, invalidFields } from '../http/api-error.js';
import type { OfAccount, OperatorCommand } from './operator-command.js';

interface BatchOptions extends OfAccount {
  readonly reference: string;
}

/** Commands for batches; their output never contains texts and numbers. */
export function addBatchCommands(program: OperatorCommand): void {
  const sms = (app: INestApplicationContext) => app.get(SmsService, { strict: false });
  const batches = program.subcommand('batches', 'look at batches, cancel them');
  batches
    .accountCommand('list', 'newest first')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .runs(async (app, { account: tenant, cursor }: OfAccount & { cursor?: string }) => {
      const { data, nextCursor } = await sms(app).batches({ tenant, cursor, limit: 50 });
      return { batches: data.map(batchRow), nextCursor };
    });
  const commandForOne = (name: string, description: string): OperatorCommand =>
    batches
      .accountCommand(name, description)
      .requiredOption('--reference <id>', 'the reference_id');
  commandForOne('show', 'one batch').runs(
    async (app, { account: tenant, reference }: BatchOptions) =>
      batchRow(await sms(app).batch(checkedReference(reference), { tenant })),
  );
  commandForOne('cancel', 'cancel what has not left').runs(
    async (app, { account: tenant, reference }: BatchOptions) =>
      batchRow(await sms(app).cancel(checkedReference(reference), { tenant })),
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
  const lanes = program.subcommand('lanes', 'lanes that are paused or have due work');
  lanes
    .command('list', { isDefault: true })
    .description('each with its state and how long its oldest due message has waited')
    .runs(async (app) => ({ lanes: (await messaging(app).lanes()).map(laneRow) }));
  lanes
    .subcommand('resume', 'end the pause of a lane; what paused it may pause it again')
    .requiredOption('--lane <lane>', 'the lane, as the list names it')
    .runs(async (app, { lane }: { lane: string }) => {
      if (await messaging(app).resumeLane(lane)) return { lane, status: 'resumed' };
      throw new ApiError('not_found', `There is no lane ${lane.slice(0, 200)}`);
    });
}

function laneRow({ lane, pauseReason, pauseDetail, pausedUntil, waiting, held }: LaneHealth) {
  return {
    lane,
    state: pauseReason === null ? (held ? 'working' : 'waiting') : 'paused',
    waitingMs: Math.round(waiting),
    pausedUntil,
    reason: pauseReason,
    detail: pauseDetail,
  };
}
