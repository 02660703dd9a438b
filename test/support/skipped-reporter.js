/** A title as `describeWithServer` writes it where a server is missing. */
const SKIPPED = /^.+ on \S+ — .+$/;

/**
 * Closes the run with the counts and, last of all, the suites that were skipped for a missing
 * server. With `REQUIRE_SERVERS=1` such a suite fails the run.
 */
export default class SkippedReporter {
  #skipped = new Set();

  onTestFileResult(_test, { testResults }) {
    for (const { status, ancestorTitles } of testResults) {
      const title = ancestorTitles.find((ancestor) => SKIPPED.test(ancestor));
      if (status === 'pending' && title) this.#skipped.add(title);
    }
  }

  onRunComplete(_contexts, results) {
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const titles = [...this.#skipped].sort((a, b) => a.localeCompare(b));
    const lines = [
      `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped`,
      ...(this.#fails ? ['failed: REQUIRE_SERVERS=1 lets no suite be skipped'] : []),
      ...(titles.length > 0
        ? titles.map((title) => `skipped: ${title}`)
        : ['no suite was skipped']),
    ];
    // Jest's own summary is written after every other reporter has had its turn.
    setImmediate(() => process.stdout.write(`${lines.join('\n')}\n`));
  }

  getLastError() {
    return this.#fails ? new Error('a suite was skipped') : undefined;
  }

  get #fails() {
    return process.env.REQUIRE_SERVERS === '1' && this.#skipped.size > 0;
  }
}
