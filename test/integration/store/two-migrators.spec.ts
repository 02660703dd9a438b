import { MessagingModule, simulator, SmsService } from '@dundun/messaging';
import {
  FREQUENCY_CAP_MIGRATIONS,
  MESSAGING_MIGRATIONS,
  migrateDatabase,
} from '@dundun/messaging/migrations';
import { afterEach, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { tablesOf } from '../../layouts/tables.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';

const POLICY = { frequencyCap: { sms: { max: 100, per: '1h' } } } as const;

const MIGRATIONS = [...MESSAGING_MIGRATIONS, ...FREQUENCY_CAP_MIGRATIONS];

describeEachDatabase('tables that a boot and the migrations of the app make', (database) => {
  const apps: INestApplicationContext[] = [];
  const sources: DataSource[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    for (const source of sources.splice(0)) await source.destroy();
  });

  /** A database of its own. */
  const place = async (): Promise<DataSourceOptions> => {
    const url = await database.another();
    const options = database.options();
    return (
      options.type === 'better-sqlite3'
        ? { ...options, database: url.slice('sqlite:'.length) }
        : { ...options, url }
    ) as DataSourceOptions;
  };

  const boot = async (options: DataSourceOptions, store: { migrate?: boolean } = {}) => {
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...options, retryAttempts: 0 }),
        MessagingModule.forRoot({ transport: simulator(), store, policy: POLICY }),
      ],
    }).compile();
    await app.init();
    apps.push(app);
    return app;
  };

  const migrated = async (options: DataSourceOptions, migrations = MIGRATIONS) => {
    const source = await new DataSource({ ...options, migrations: [...migrations] }).initialize();
    sources.push(source);
    return { source, ran: await migrateDatabase(source) };
  };

  const tables = async (source: DataSource) =>
    (await tablesOf(source, database.kind)).filter((line) => !line.includes('migrations'));

  const sends = async (app: INestApplicationContext) => {
    const sms = app.get(SmsService);
    const { id } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'Hello' });
    await eventually(async () => expect((await sms.message(`${id}-0`)).status).toBe('delivered'));
  };

  it('each finds what the other has made, in both orders, and the tables are the same', async () => {
    const [first, second] = [await place(), await place()];
    const { source } = await migrated(first);
    await sends(await boot(first));
    await sends(await boot(second));
    const { ran, source: later } = await migrated(second);
    expect(ran).toHaveLength(MIGRATIONS.length);
    await sends(await boot(second, { migrate: false }));
    expect(await tables(later)).toEqual(await tables(source));
    expect((await migrated(second)).ran).toEqual([]);
  });

  it('what retention has erased stays known', async () => {
    const options = await place();
    const app = await boot(options);
    const at = 1_780_000_000_000_000;
    await app.get(DataSource).query(`UPDATE messaging_outcome_state SET purged_until = ${at}`);
    const { source } = await migrated(options);
    const rows = await source.query<{ purged_until: unknown }[]>(
      'SELECT purged_until FROM messaging_outcome_state',
    );
    expect(rows.map(({ purged_until }) => Number(purged_until))).toEqual([at]);
  });
});
