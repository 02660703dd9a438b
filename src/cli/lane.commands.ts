import { type LaneHealth, MessagingService } from '@dundun/messaging';
import type { Command } from 'commander';
import { ApiError } from '../http/api-error.js';
import type { Row } from './output.js';
import type { Run } from './run.js';

/** Where messages queue: what is paused or has due work. */
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
