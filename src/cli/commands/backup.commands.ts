import { HoldsService, type RestoredLane } from '@dundun/messaging/operations';
import { ChannelRegistry } from '@dundun/messaging/ports';
import type { INestApplicationContext } from '@nestjs/common';
import { CARRIERS_OF_CHANNELS } from '../../channels/index.js';
import { loadEnvironmentFile, readEnvironment } from '../../config/environment.js';
import { ApiError, invalidField } from '../../http/api-error.js';
import type { OperatorCommand } from '../operator-command.js';
import { recordChange } from '../operator-gateway.js';
import { backUpSqlite } from '../sqlite-backup.js';

export const holdsOf = (app: INestApplicationContext): HoldsService =>
  app.get(HoldsService, { strict: false });

/** Programs of the servers, which back up a database as of one moment. */
const DUMP = { postgres: 'pg_dump', mysql: 'mysqldump', mariadb: 'mariadb-dump' } as const;

interface RestoreOptions {
  readonly check?: boolean;
  readonly mark?: boolean;
}

export function addBackupCommand(backup: OperatorCommand): void {
  backup
    .argument('<file>', 'the new file')
    .option('--force', 'replace the file if it exists')
    .prints(async ({ force = false }: { force?: boolean }, file = '') => {
      loadEnvironmentFile();
      const { DATABASE_URL: database } = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
      if (database.type !== 'sqlite')
        throw invalidField(
          'DATABASE_URL',
          `is a server; back it up with ${DUMP[database.type]}, as docs/operations.md shows`,
        );
      return { file, bytes: await backUpSqlite(database.path, file, { force }) };
    });
}

export function addRestoreCommand(restore: OperatorCommand): void {
  restore
    .option('--check', 'what it has queued and in flight, and what a release would do')
    .option('--mark', 'hold the lanes of a restored database that does not notice it by itself')
    .runs(async (app, { check = false, mark = false }: RestoreOptions) => {
      if (check === mark) throw invalidField('restore', 'needs one of --check and --mark');
      if (mark) {
        await holdsOf(app).markRestored();
        await recordChange(app, null, 'lanes.held_as_restored');
      }
      return restoredWork(app);
    });
}

/** @throws ApiError 404 where the database is not held as a restored copy */
export async function restoredWork(app: INestApplicationContext) {
  const holds = holdsOf(app);
  const restored = await holds.restoredSince();
  if (!restored)
    throw new ApiError('not_found', 'This database is not held as a restored copy of another');
  const lanes = await holds.restoredWork();
  // Orders stay held until `dundun vas release`.
  const channels = app.get(ChannelRegistry, { strict: false });
  const released = lanes.filter(({ channel }) => !channels.find(channel)?.irrevocable);
  const sum = (name: 'queued' | 'scheduled' | 'resendable' | 'lost') =>
    released.reduce((total, lane) => total + lane[name], 0);
  const later = sum('scheduled');
  const resent = sum('resendable');
  return {
    restored,
    lanes: lanes.map(laneRow),
    send: { sent: sum('queued'), later, resent, unknown: sum('lost') },
    settleUnknown: { sent: 0, later, resent, unknown: sum('queued') + sum('lost') },
  };
}

function laneRow({ lane, channel, queued, scheduled, resendable, lost }: RestoredLane) {
  return { lane, channel, queued, scheduled, resendable, lost };
}
