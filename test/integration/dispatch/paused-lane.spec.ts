import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import type { RateLimit } from '@dundun/messaging';
import { PausedFailure, RetryableFailure } from '@dundun/messaging/ports';
import { DataSource } from 'typeorm';
import { Dispatcher } from '../../../libs/messaging/src/dispatch/dispatcher.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture } from './dispatch-fixture.js';

// Pauses end by themselves.
jest.setTimeout(120_000);

interface LaneRow {
  readonly owner: string | null;
  readonly fence: number;
  readonly until: number;
}

async function laneOf({ app }: DispatchApp): Promise<LaneRow> {
  const [row] = (await app
    .get(DataSource)
    .query(`SELECT owner, fence, paused_until FROM messaging_lane WHERE lane_key = ':sms'`)) as {
    owner: string | null;
    fence: string | number;
    paused_until: string | number;
  }[];
  return {
    owner: row?.owner ?? null,
    fence: Number(row?.fence ?? 0),
    until: Number(row?.paused_until ?? 0),
  };
}

describeOneDatabase('a lane that rests', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['paused', new PausedFailure('throttled', 'x', 600_000)],
    ['refused', new RetryableFailure('unavailable', 'x', 600_000)],
  ])(
    'a paused lane (%s) keeps its end of pause when another process visits it',
    async (_, failure) => {
      const booted = await fixture.boot();
      booted.transport.script = () => {
        throw failure;
      };
      await booted.send('waits');
      await eventually(async () => {
        const { owner, until } = await laneOf(booted);
        expect(until).toBeGreaterThan(0);
        expect(owner).toBeNull();
      });
      const before = await laneOf(booted);
      const dispatcher = booted.app.get(Dispatcher, { strict: false });
      for (let n = 1; n <= 3; n++) {
        await booted.send(`wakes ${n}`);
        await eventually(async () => {
          // A holder whose release is not yet answered takes a wake for its own.
          dispatcher.wake(':sms');
          const { owner, fence } = await laneOf(booted);
          expect(fence).toBeGreaterThanOrEqual(before.fence + n);
          expect(owner).toBeNull();
        });
      }
      expect((await laneOf(booted)).until).toBe(before.until);
      expect(booted.transport.started).toHaveLength(1);
    },
  );
});

describeOneDatabase('a lane whose rate limit is nonsense', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each<[string, unknown]>([
    ['max 0', { max: 0, per: '1s' }],
    ['no max', { per: '1s' }],
    ['max NaN', { max: Number.NaN, per: '1s' }],
    ['no period', { max: 1 }],
    ['period 0', { max: 1, per: 0 }],
    ['a number', 5],
  ])(
    'a lane with an invalid rate limit (%s) starts nothing, delays no other lane, and recovers',
    async (_, nonsense) => {
      let broken = true;
      const rateLimit = (lane: string) =>
        broken && lane === 'bad:sms' ? (nonsense as RateLimit) : undefined;
      const { app, send, transport } = await fixture.boot({ rateLimit });
      await send('bad', { tenant: 'bad' });
      await send('good', { tenant: 'good' });
      await eventually(async () => expect(transport.texts).toEqual(['good']));
      const dispatcher = app.get(Dispatcher, { strict: false });
      await expect(dispatcher.drain('bad:sms')).rejects.toThrow(
        /^dispatch\.rateLimit of lane bad:sms\b/,
      );
      expect(transport.texts).toEqual(['good']);
      broken = false;
      await eventually(async () => expect(transport.texts).toEqual(['good', 'bad']));
    },
  );
});
