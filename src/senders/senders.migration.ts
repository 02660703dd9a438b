import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Former tables: the channel and the column of the sender, and what they have of the other columns. */
const FORMER = [
  { table: 'gateway_sender', channel: 'sms', sender: 'sender', own: ['state'] },
  { table: 'gateway_caller', channel: 'voice', sender: 'caller', own: ['state', 'created_at'] },
  {
    table: 'gateway_whatsapp_number',
    channel: 'whatsapp',
    sender: 'number',
    own: ['created_at', 'phone_number_id', 'waba', 'templates_due_at'],
  },
] as const;

/**
 * Moves the senders of each channel into one table. MySQL commits each statement, so a run may have
 * stopped between a copy and the end of its source.
 */
export class SendersInOneTable1790000001501 implements MigrationInterface {
  readonly name = 'SendersInOneTable1790000001501';

  async up(runner: QueryRunner): Promise<void> {
    for (const { table, channel, sender, own } of FORMER) {
      if (!(await runner.hasTable(table))) continue;
      const values = new Map([
        ['account_id', 'account_id'],
        ['channel', `'${channel}'`],
        ['sender', sender],
        ['state', `'approved'`],
        ['created_at', String(Date.now())],
        ...own.map((column) => [column, column] as const),
        ...(channel === 'whatsapp' ? [['exclusive_sender', sender] as const] : []),
      ]);
      await runner.query(
        `INSERT INTO gateway_account_sender (${[...values.keys()].join(', ')})
         SELECT ${[...values.values()].join(', ')} FROM ${table} former
         WHERE NOT EXISTS (SELECT 1 FROM gateway_account_sender present
           WHERE present.account_id = former.account_id AND present.channel = '${channel}'
             AND present.sender = former.${sender})`,
      );
      await runner.query(`DROP TABLE ${table}`);
    }
  }

  /** The former version reads the former tables. */
  async down(): Promise<void> {
    throw new Error('the senders of each channel cannot be parted again; restore a backup');
  }
}
