import ms, { type StringValue } from 'ms';

/** Milliseconds of a duration in the library's grammar, such as `30s`. @throws RangeError */
export function milliseconds(written: string): number {
  const read: number | undefined = written === '' ? undefined : ms(written as StringValue);
  if (read === undefined || !(read >= 0)) throw new RangeError('is no duration');
  return Math.round(read);
}
