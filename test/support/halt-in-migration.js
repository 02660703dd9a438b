import { DataSource } from 'typeorm';

/**
 * Loaded into a gateway with `--import`, beside an IPC channel, it halts the gateway for good once it has
 * made the table named by `HALT_AFTER`, and tells of it.
 */
const made = new RegExp(`^\\s*CREATE TABLE\\b.*\\b${process.env.HALT_AFTER}\\b`, 's');
const createQueryRunner = Reflect.get(DataSource.prototype, 'createQueryRunner');

DataSource.prototype.createQueryRunner = function create(mode) {
  const runner = createQueryRunner.call(this, mode);
  const query = runner.query.bind(runner);
  runner.query = async (sql, ...rest) => {
    const answer = await query(sql, ...rest);
    if (made.test(sql)) await new Promise(() => process.send('halted'));
    return answer;
  };
  return runner;
};
