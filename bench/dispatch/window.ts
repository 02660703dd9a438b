import type { Start } from './logged.transport.js';

/** Most messages started in any second; `starts` in order. */
export function worstWindow(starts: readonly Start[]): number {
  let worst = 0;
  let inside = 0;
  let oldest = 0;
  for (const { at, messages } of starts) {
    inside += messages;
    while ((starts[oldest] as Start).at <= at - 1_000)
      inside -= (starts[oldest++] as Start).messages;
    worst = Math.max(worst, inside);
  }
  return worst;
}

/**
 * Messages per second as the slope of the regression line of the running count: a burst at one end weighs
 * no more than elsewhere. Starts after `until` are moved forward by `gap` milliseconds.
 */
export function meanRate(starts: readonly Start[], gap = 0, until = Infinity): number {
  const times = starts.map(({ at }) => (at > until ? at - gap : at));
  const centre = times.reduce((sum, time) => sum + time, 0) / times.length;
  let count = 0;
  let product = 0;
  let square = 0;
  starts.forEach(({ messages }, index) => {
    const time = (times[index] as number) - centre;
    product += time * (count + messages / 2);
    square += time * time;
    count += messages;
  });
  return (product / square) * 1_000;
}
