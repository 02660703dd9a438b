import { type Dialect, type RowWriter, updater } from '../database/dialect.js';

/** A submission with the number of requests that its messages had. */
export interface Tries {
  readonly batch: string;
  readonly n: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly attempts: number;
}

/** SQL condition: the message is one of the submission in the row. */
export function isMember(dialect: Dialect): string {
  return `messaging_message.batch = v_batch AND messaging_message.position BETWEEN v_first AND v_last
    AND ${dialect.residual('messaging_message.submission = v_n')}`;
}

export function triesWriter(dialect: Dialect): RowWriter<Tries> {
  return updater<Tries>(
    dialect,
    {
      v_batch: ['uuid', ({ batch }) => batch],
      v_n: ['int', ({ n }) => n],
      v_first: ['int', ({ firstPosition }) => firstPosition],
      v_last: ['int', ({ lastPosition }) => lastPosition],
      v_attempt: ['int', ({ attempts }) => attempts],
    },
    { table: 'messaging_message', set: 'attempt = v_attempt', where: isMember(dialect) },
  );
}
