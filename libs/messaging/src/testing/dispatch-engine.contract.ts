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

class Latch {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

/**
 * Contract of every {@link DispatchEngine}, for any test runner with `describe` and `it`. An engine
 * may lose wakes when its process or its broker dies (the wake job repairs that), but not while
 * both live.
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

    promise('a wake before the start drains the lane after the start', async (engine) => {
      const drained = new Latch();
      engine.wake('early');
      await engine.start(() => {
        drained.open();
        return Promise.resolve(undefined);
      });
      await drained.opened;
    });

    promise(
      'wakes during a drain of the lane cause one more drain, after the running one',
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

    promise('a lane does not wait for the drain of another lane', async (engine) => {
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

    promise(
      'a wake for a later time drains the lane at that time and not before',
      async (engine) => {
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
      },
    );

    promise('a wake for a later time does not delay a wake for now', async (engine) => {
      const drained = new Latch();
      await engine.start(() => {
        drained.open();
        return Promise.resolve(undefined);
      });
      engine.wake('both', Date.now() + 3_600_000);
      engine.wake('both');
      await drained.opened;
    });

    promise(
      'the engine drains the lane again at the time that the drain returned',
      async (engine) => {
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
      },
    );

    promise('a failed drain is retried and does not affect other lanes', async (engine) => {
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

    promise('stop() waits for the drains and takes no new lane', async (engine) => {
      const begun = new Latch();
      const stopping = new Latch();
      const lanes: string[] = [];
      let ended = false;
      await engine.start(async (lane) => {
        lanes.push(lane);
        begun.open();
        await stopping.opened;
        await new Promise((resolve) => setImmediate(resolve));
        ended = true;
        return undefined;
      });
      engine.wake('long');
      await begun.opened;
      const stopped = engine.stop();
      stopping.open();
      await stopped;
      assert.equal(ended, true);
      engine.wake('after');
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(lanes, ['long']);
    });

    promise('a second stop() succeeds', async (engine) => {
      await engine.start(() => Promise.resolve(undefined));
      await engine.stop();
      await engine.stop();
    });
  });
}
