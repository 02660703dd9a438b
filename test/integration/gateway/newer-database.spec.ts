import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MessagingModule, type MessagingOptions, simulator } from '@dundun/messaging';
import { EnvironmentError, readEnvironment } from '../../../src/config/environment.js';
import { openGatewayDatabase } from '../../../src/gateway-database.js';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';

const LATER = 'Later1990000000000';

async function addLater(database: TestDatabase, table: string): Promise<void> {
  const source = await database.open();
  await source.query(`INSERT INTO ${table} (timestamp, name) VALUES (1990000000000, '${LATER}')`);
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
    await addLater(database, 'migrations');
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
    await addLater(database, 'messaging_migrations');
    for (const migrate of [true, false])
      await expect(boot({ store: { migrate } })).rejects.toMatchObject({
        name: 'NewerDatabaseError',
        migrations: [LATER],
        message: expect.stringContaining('start that version, or restore the backup'),
      });
  });
});
