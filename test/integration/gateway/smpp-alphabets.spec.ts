import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { ACCOUNT_TABLES } from '../../../src/accounts/accounts.tables.js';
import { SMPP_TABLES } from '../../../src/smpp/smpp.tables.js';
import { describeEachDatabase } from '../../support/databases.js';

const NAME = 'SmppAlphabets1790000000700';

describeEachDatabase('alphabets of SMPP pairs', (database) => {
  it('the pairs of an earlier database get the default alphabets, also where the run broke off', async () => {
    const source: DataSource = await database.open({
      entities: [...ACCOUNT_TABLES.entities, ...SMPP_TABLES.entities],
      migrations: [...ACCOUNT_TABLES.migrations, ...SMPP_TABLES.migrations],
    });
    await source.runMigrations();
    const runner = source.createQueryRunner();
    const again = async (...dropped: string[]) => {
      for (const column of dropped)
        await runner.query(`ALTER TABLE gateway_smpp_credential DROP COLUMN ${column}`);
      await runner.query(`DELETE FROM migrations WHERE name = '${NAME}'`);
      expect((await source.runMigrations()).map(({ name }) => name)).toEqual([NAME]);
    };
    await runner.query(
      `INSERT INTO gateway_account (id, name, created_at) VALUES ('acc_1', 'One', 1767225600000000)`,
    );
    await runner.query(
      `INSERT INTO gateway_smpp_credential (system_id, account_id, password_hash, created_at)
       VALUES ('smppAbcdefgh', 'acc_1', 'hash', 1767225600000000)`,
    );
    const pairs = () =>
      runner.query('SELECT system_id, data_coding_0, data_coding_1 FROM gateway_smpp_credential');
    const kept = [{ system_id: 'smppAbcdefgh', data_coding_0: 'gsm7', data_coding_1: 'auto' }];
    await again('data_coding_0', 'data_coding_1');
    expect(await pairs()).toEqual(kept);
    await again('data_coding_1');
    expect(await pairs()).toEqual(kept);
    await runner.release();
  });
});
