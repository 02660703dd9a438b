import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessagingModule, type MessagingOptions, simulator } from '@dundun/messaging';
import { EnvironmentError, readEnvironment } from '../../../src/config/environment.js';
import { openGatewayDatabase } from '../../../src/gateway-database.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';

const LATER = 'Later1990000000000';
/** Its timestamp is before the newest of this version. */
const EARLY = 'Ledger1700000004000';

async function add(database: TestDatabase, table: string, name: string): Promise<void> {
  const source = await database.open();
  await source.query(
    `INSERT INTO ${table} (timestamp, name) VALUES (${name.slice(-13)}, '${name}')`,
  );
}

describeEachDatabase('a gateway database that a newer version has migrated', (database) => {
  const open = async (settings: Record<string, string> = {}): Promise<void> => {
    const environment = readEnvironment({ DATABASE_URL: database.url, ...settings });
    await (await openGatewayDatabase(environment, 'never')).destroy();
  };

  it('the gateway refuses the database, naming the migration and the remedy', async () => {
    await open({ FREQUENCY_CAP: 'marketing=2/24h' });
    // A migration of this version that these settings do not need.
    await open();
    await add(database, 'migrations', LATER);
    const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    for (const NODE_ENV of ['development', 'production']) {
      const failure = await open({ NODE_ENV, SECRETS_KEY }).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(EnvironmentError);
      expect(failure).toMatchObject({
        message: expect.stringMatching(`DATABASE_URL: .*${LATER}.*; start that version`),
        cause: { code: 'newer_database', migrations: [LATER] },
      });
    }
  });
});

describeEachDatabase('a gateway database with the layout of an early version', (database) => {
  it('the gateway refuses the database as an early one, with the remedy', async () => {
    const environment = readEnvironment({ DATABASE_URL: database.url });
    await (await openGatewayDatabase(environment, 'never')).destroy();
    await add(database, 'migrations', EARLY);
    const failure = await openGatewayDatabase(environment, 'never').catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      name: 'EnvironmentError',
      message: expect.stringMatching(
        `DATABASE_URL: .* a migration of an early layout \\(${EARLY}\\).*; give this version an empty database`,
      ),
      cause: { code: 'early_database', migrations: [EARLY] },
    });
    await add(database, 'migrations', LATER);
    await expect(openGatewayDatabase(environment, 'never')).rejects.toMatchObject({
      cause: { code: 'newer_database', migrations: [LATER] },
    });
  });
});

describeEachDatabase('an app database that a newer version has migrated', (database) => {
  const boot = async (options: Partial<MessagingOptions> = {}): Promise<void> => {
    const app = await Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot({ ...database.options(), entities: [], migrations: [] }),
        MessagingModule.forRoot({ transport: simulator(), callbackPath: false, ...options }),
      ],
    }).compile();
    await app.init();
    await app.close();
  };

  it('the library refuses an app database of a newer version, also where the app migrates it by itself', async () => {
    await boot({ policy: { frequencyCap: { marketing: { max: 2, per: '24h' } } } });
    await boot();
    await add(database, 'messaging_migrations', LATER);
    for (const migrate of [true, false])
      await expect(boot({ store: { migrate } })).rejects.toMatchObject({
        name: 'NewerDatabaseError',
        migrations: [LATER],
        message: expect.stringContaining('start that version, or restore the backup'),
      });
  });
});
