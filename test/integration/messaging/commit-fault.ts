import type { DataSource } from 'typeorm';
import type { DatabaseKind } from '../../support/databases.js';

/**
 * Lets the database refuse transactions that change a row of some tables: their triggers insert a
 * row that violates a foreign key. PostgreSQL checks it at the commit. MariaDB cannot defer the check,
 * and after a commit that failed the SQLite driver keeps its statement open, so these check at once.
 */
export class CommitFault {
  private constructor(private readonly source: DataSource) {}

  static async on(
    source: DataSource,
    kind: DatabaseKind,
    tables: readonly string[],
  ): Promise<CommitFault> {
    const deferred = kind === 'postgres' ? 'DEFERRABLE INITIALLY DEFERRED' : '';
    const insert = 'INSERT INTO fault_row SELECT missing FROM fault';
    const statements = [
      'CREATE TABLE fault (missing integer)',
      'CREATE TABLE fault_parent (id integer PRIMARY KEY)',
      `CREATE TABLE fault_row (parent integer, FOREIGN KEY (parent) REFERENCES fault_parent (id) ${deferred})`,
    ];
    if (kind === 'postgres')
      statements.push(
        `CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${insert}; RETURN NULL; END $$`,
      );
    const actions = {
      postgres: 'EXECUTE FUNCTION fault()',
      mariadb: insert,
      sqlite: `BEGIN ${insert}; END`,
    };
    for (const table of tables)
      statements.push(
        `CREATE TRIGGER fault_${table} AFTER UPDATE ON ${table} FOR EACH ROW ${actions[kind]}`,
      );
    for (const statement of statements) await source.query(statement);
    return new CommitFault(source);
  }

  /** Refuses every change from now on. */
  async start(): Promise<void> {
    await this.source.query('INSERT INTO fault VALUES (1)');
  }

  async stop(): Promise<void> {
    await this.source.query('DELETE FROM fault');
  }
}
