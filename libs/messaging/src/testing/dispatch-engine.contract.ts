import assert from 'node:assert/strict';
import type { DispatchEngine } from '../ports/dispatch-engine.js';
import { type TestRunner, testRunner } from './test-runner.js';

/** A new engine for one test; `close` frees the resources that `stop()` keeps. */
export interface EngineUnderTest {
  readonly engine: DispatchEngine;
  close?(): Promise<void>;
}

/** Settings of the suite for one engine. */
export interface EngineSetup {
  create(): Promise<EngineUnderTest> | EngineUnderTest;
}

/** A promise with its settling functions. */
class Latch {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/**
 * Contract of every {@link DispatchEngine}, as a suite for any test runner with `describe` and `it`. Its assertions
 * are Node's own. An engine may lose wakes when its process or its broker dies, which the wake job repairs, but not
 * while both live.
 *
 * @example
 * dispatchEngineContract('database', { create: () => ({ engine: new DatabaseEngine() }) });
 */
export function dispatchEngineContract(
  name: string,
  setup: EngineSetup,
  { describe, it }: TestRunner = testRunner(),
): void {
  const promise = (text: string, prove: (engine: DispatchEngine) => Promise<void>) => {
    it(text, async () => {
      const under = await setup.create();
      try {
        await prove(under.engine);
      } finally {
        await under.engine.stop();
        await under.close?.();
      }
    });
  };

  describe(`${name} keeps the engine contract`, () => {
    promise('a wake drains the lane', async (engine) => {
      const drained = new Latch();
      const lanes: string[] = [];
      await engine.start((lane) => {
        lanes.push(lane);
        drained.open();
        return Promise.resolve(undefined);
      });
      engine.wake('a:sms');
      await drained.opened;
      assert.deepEqual(lanes, ['a:sms']);
    });

    promise('a wake before the start is not forgotten', async (engine) => {
      const drained = new Latch();
      engine.wake('early');
      await engine.start(() => {
        drained.open();
        return Promise.resolve(undefined);
      });
      await drained.opened;
    });

    promise(
      'a wake while the lane is drained drains it once more, never beside itself',
      async (engine) => {
        const first = new Latch();
        const again = new Latch();
        const goOn = new Latch();
        let running = 0;
        let runs = 0;
        await engine.start(async () => {
          running++;
          runs++;
          assert.equal(running, 1);
          if (runs === 1) {
            first.open();
            await goOn.opened;
          } else again.open();
          running--;
          return undefined;
        });
        engine.wake('busy');
        await first.opened;
        for (let i = 0; i < 10; i++) engine.wake('busy');
        goOn.open();
        await again.opened;
      },
    );

    promise('one lane does not wait for another', async (engine) => {
      const slow = new Latch();
      const quick = new Latch();
      await engine.start(async (lane) => {
        if (lane === 'slow') await slow.opened;
        else quick.open();
        return undefined;
      });
      engine.wake('slow');
      engine.wake('quick');
      await quick.opened;
      slow.open();
    });

    promise('a wake for later comes then, and not before', async (engine) => {
      const drained = new Latch();
      let drainedAt = 0;
      await engine.start(() => {
        drainedAt = Date.now();
        drained.open();
        return Promise.resolve(undefined);
      });
      const at = Date.now() + 50;
      engine.wake('later', at);
      await drained.opened;
      assert.ok(drainedAt >= at, `drained ${at - drainedAt} ms too early`);
    });

    promise('a wake for later does not put off one for now', async (engine) => {
      const drained = new Latch();
      await engine.start(() => {
        drained.open();
        return Promise.resolve(undefined);
      });
      engine.wake('both', Date.now() + 3_600_000);
      engine.wake('both');
      await drained.opened;
    });

    promise('a drain that says when to come again is called then', async (engine) => {
      const second = new Latch();
      let runs = 0;
      let at = 0;
      await engine.start(() => {
        runs++;
        if (runs > 1) {
          assert.ok(Date.now() >= at);
          second.open();
          return Promise.resolve(undefined);
        }
        at = Date.now() + 20;
        return Promise.resolve(at);
      });
      engine.wake('again');
      await second.opened;
    });

    promise('a drain that fails is tried again, and fails no other lane', async (engine) => {
      const recovered = new Latch();
      const other = new Latch();
      let runs = 0;
      await engine.start((lane) => {
        if (lane === 'other') other.open();
        else if (++runs === 1) return Promise.reject(new Error('the database was away'));
        else recovered.open();
        return Promise.resolve(undefined);
      });
      engine.wake('fails');
      engine.wake('other');
      await other.opened;
      await recovered.opened;
    });

    promise('stop aborts the drains, waits for them and takes no new lane', async (engine) => {
      const begun = new Latch();
      const lanes: string[] = [];
      let ended = false;
      await engine.start(async (lane, signal) => {
        lanes.push(lane);
        begun.open();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        return undefined;
      });
      engine.wake('long');
      await begun.opened;
      await engine.stop();
      assert.equal(ended, true);
      engine.wake('after');
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(lanes, ['long']);
    });

    promise('stopping twice is stopping', async (engine) => {
      await engine.start(() => Promise.resolve(undefined));
      await engine.stop();
      await engine.stop();
    });
  });
}
