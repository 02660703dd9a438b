import type { Columns } from '../database/dialect.js';

/** Messages that one statement reads, except for one wider submission. */
const MESSAGES = 10_000;

/** Messages of a batch, by their positions. */
export interface Span {
  readonly batch: string;
  readonly first: number;
  readonly last: number;
}

/** Columns of spans; `v_index` is the place in the slice. */
export const SPANS = {
  v_index: ['int', ([index]) => index],
  v_batch: ['uuid', ([, { batch }]) => batch],
  v_first: ['int', ([, { first }]) => first],
  v_last: ['int', ([, { last }]) => last],
} satisfies Columns<readonly [index: number, span: Span]>;

/** Condition on messages `m` in a span. */
export const IN_SPAN = 'm.batch = v_batch AND m.position BETWEEN v_first AND v_last';

export function spansOf(batch: string, messages: number): Span[] {
  const spans: Span[] = [];
  for (let first = 0; first < messages; first += MESSAGES)
    spans.push({ batch, first, last: Math.min(first + MESSAGES, messages) - 1 });
  return spans;
}

/** `3-5,9`; `null`: every position from the first to the last. Positions ascend. */
export function writtenPositions(positions: readonly number[]): string | null {
  const ranges: [first: number, last: number][] = [];
  for (const position of positions) {
    const latest = ranges.at(-1);
    if (latest && position === latest[1] + 1) latest[1] = position;
    else ranges.push([position, position]);
  }
  if (ranges.length <= 1) return null;
  return ranges
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(',');
}

/** Tells whether a submission with these {@link writtenPositions} has a position of its span. */
export function membersOf(written: string | null): { has(position: number): boolean } {
  if (written === null) return { has: () => true };
  const positions = new Set<number>();
  for (const range of written.split(',')) {
    const [first = 0, last = first] = range.split('-').map(Number);
    for (let position = first; position <= last; position++) positions.add(position);
  }
  return positions;
}

/** Slices of up to {@link MESSAGES} messages, each for one statement. */
export function* slicesOf<T extends Span>(spans: readonly T[]): Generator<readonly T[]> {
  let slice: T[] = [];
  let left = MESSAGES;
  for (const span of spans) {
    left -= span.last - span.first + 1;
    if (left < 0 && slice.length > 0) {
      yield slice;
      slice = [];
      left = MESSAGES - (span.last - span.first + 1);
    }
    slice.push(span);
  }
  if (slice.length > 0) yield slice;
}
