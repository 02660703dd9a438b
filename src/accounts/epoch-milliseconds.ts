import type { ValueTransformer } from 'typeorm';

/** A time as BIGINT epoch milliseconds: one column type on every database, and no time zone. */
export const epochMilliseconds: ValueTransformer = {
  to: (value: Date | null | undefined) => value?.getTime() ?? null,
  from: (value: string | number | null) => (value === null ? null : new Date(Number(value))),
};
