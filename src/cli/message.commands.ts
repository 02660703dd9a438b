import { type BatchView, type LaneHealth, MessagingService, SmsService } from '@dundun/messaging';
import type { Command } from 'commander';
import { ApiError, invalidFields } from '../http/api-error.js';
import { isReferenceId } from '../sms/sms.dto.js';
import type { Row } from './output.js';
import type { Run } from './run.js';

interface BatchOptions {
  readonly account: string;
  readonly reference: string;
  readonly json?: boolean;
}

/** Commands for batches; their output never contains texts and numbers. */
export function addBatchCommands(program: Command, run: Run): void {
  const batches = program.command('batches').description('look at batches, cancel them');
  batches
    .command('list')
    .description('newest first')
    .requiredOption('--account <id>', 'the account')
    .option('--cursor <cursor>', 'next_cursor of the page before')
    .option('--json', 'answer one line of JSON')
    .action((options: { account: string; cursor?: string; json?: boolean }) =>
      run(options, async (app) => {
        const page = await app
          .get(SmsService, { strict: false })
          .batches({ tenant: options.account, cursor: options.cursor, limit: 50 });
        return { batches: page.data.map(batchRow), next_cursor: page.nextCursor };
      }),
    );
  for (const [verb, description] of [
    ['show', 'one batch'],
    ['cancel', 'cancel what has not left'],
  ] as const)
    batches
      .command(verb)
      .description(description)
      .requiredOption('--account <id>', 'the account')
      .requiredOption('--reference <id>', 'the reference_id')
      .option('--json', 'answer one line of JSON')
      .action((options: BatchOptions) =>
        run(options, async (app) => {
          const sms = app.get(SmsService, { strict: false });
          const id = referenceOf(options);
          const of = { tenant: options.account };
          return batchRow(await (verb === 'show' ? sms.batch(id, of) : sms.cancel(id, of)));
        }),
      );
}

function referenceOf({ reference }: BatchOptions): string {
  if (isReferenceId(reference)) return reference.toLowerCase();
  throw invalidFields([{ path: 'reference', message: 'must be the reference_id of a batch' }]);
}

function batchRow(batch: BatchView): Row {
  return {
    reference_id: batch.id,
    status: batch.status,
    from: batch.sender,
    recipients: batch.recipients,
    created_at: batch.createdAt.toISOString(),
    send_at: batch.sendAt?.toISOString() ?? null,
    counts: batch.counts,
  };
}

/** Commands for lanes that are paused or have due work. */
export function addLaneCommands(program: Command, run: Run): void {
  const lanes = program.command('lanes').description('lanes that are paused or have due work');
  lanes
    .command('list', { isDefault: true })
    .description('each with its state and how long its oldest due message has waited')
    .option('--json', 'answer one line of JSON')
    .action((options: { json?: boolean }) =>
      run(options, async (app) => ({
        lanes: (await app.get(MessagingService, { strict: false }).lanes()).map(laneRow),
      })),
    );
  lanes
    .command('resume')
    .description('end the pause of a lane; what paused it may pause it again')
    .requiredOption('--lane <lane>', 'the lane, as the list names it')
    .option('--json', 'answer one line of JSON')
    .action((options: { lane: string; json?: boolean }) =>
      run(options, async (app) => {
        if (!(await app.get(MessagingService, { strict: false }).resumeLane(options.lane)))
          throw new ApiError('not_found', `There is no lane ${options.lane.slice(0, 200)}`);
        return { lane: options.lane, status: 'resumed' };
      }),
    );
}

function laneRow({ lane, pauseReason, pauseDetail, pausedUntil, waiting, held }: LaneHealth): Row {
  return {
    lane,
    state: pauseReason === null ? (held ? 'working' : 'waiting') : 'paused',
    waiting_ms: Math.round(waiting),
    paused_until: pausedUntil?.toISOString() ?? null,
    reason: pauseReason,
    detail: pauseDetail,
  };
}
