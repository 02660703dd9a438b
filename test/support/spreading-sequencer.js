import Sequencer from '@jest/test-sequencer';

/**
 * Spreads the chaos suites evenly over the run. They take the longest and mostly wait, so each runs
 * beside suites that use the processor. Jest orders suites without a known duration by file size, and
 * the files of the chaos suites are the shortest.
 */
export default class SpreadingSequencer extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const chaos = sorted.filter(isChaos);
    const others = sorted.filter((test) => !isChaos(test));
    const share = Math.ceil(others.length / chaos.length);
    return chaos.length === 0
      ? others
      : chaos.flatMap((test, n) => [test, ...others.slice(n * share, (n + 1) * share)]);
  }
}

function isChaos({ context }) {
  return context.config.displayName?.name === 'chaos';
}
