import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { MessagingConfigError, MessagingService } from '@dundun/messaging';
import { HoldsService, MessagingOperations } from '@dundun/messaging/operations';
import { PausedFailure } from '@dundun/messaging/ports';
import { MessagingHealthIndicator } from '@dundun/messaging/terminus';
import { HealthIndicatorService } from '@nestjs/terminus';
import { DatabaseEngine } from '../../../libs/messaging/src/engines/database.engine.js';
import type { EngineHealth } from '../../../libs/messaging/src/ports/dispatch-engine.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { type DispatchApp, DispatchFixture } from '../dispatch/dispatch-fixture.js';

class BrokerlessEngine extends DatabaseEngine {
  async health(): Promise<EngineHealth> {
    return { state: 'degraded', reason: 'redis://secret@10.0.0.1 is unreachable' };
  }
}

/** Terminus 11 has sessions without `degraded`. */
class OldHealthIndicatorService extends HealthIndicatorService {
  override check<const Key extends string>(key: Key) {
    const session = super.check(key);
    const old = { up: session.up.bind(session), down: session.down.bind(session) };
    return old as typeof session;
  }
}

describeOneDatabase('health checks', (database) => {
  let fixture: DispatchFixture;
  beforeAll(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(async () => {
    const source = await database.open();
    await source.query('DELETE FROM messaging_hold');
    await source.destroy();
    await fixture.clear();
  });

  const indicatorOf = ({ app }: DispatchApp, service = new HealthIndicatorService()) =>
    new MessagingHealthIndicator(service, app.get(MessagingService), app.get(HoldsService));

  it('lanes are up while they work, and the hold of some lanes is no fault', async () => {
    const one = await fixture.boot({ dispatch: false });
    await one.app.get(HoldsService).hold({ lanes: 'a:*', reason: 'account_suspended' });
    await one.send('held', { tenant: 'a' });
    expect(await indicatorOf(one).lanes('lanes')).toEqual({
      lanes: {
        status: 'up',
        busy: 1,
        paused: {},
        held: { account_suspended: 1 },
        stuck: 0,
        longest_wait_ms: expect.any(Number),
      },
    });
  });

  it.each([
    ['unauthorized', 'unauthorized'],
    ['2348012345678 blocked', 'other'],
  ])('a pause for %s degrades the check, named as %s', async (code, word) => {
    const one = await fixture.boot({ backoff: '1m' });
    one.transport.script = () => {
      throw new PausedFailure(code, 'no');
    };
    await one.send('waits');
    await eventually(async () =>
      expect(await indicatorOf(one).lanes('lanes')).toMatchObject({
        lanes: { status: 'degraded', paused: { [word]: 1 }, stuck: 0 },
      }),
    );
    expect(await indicatorOf(one, new OldHealthIndicatorService()).lanes('lanes')).toMatchObject({
      lanes: { status: 'up', paused: { [word]: 1 } },
    });
  });

  it('a pause of all lanes degrades the check', async () => {
    const one = await fixture.boot({ dispatch: false });
    await one.app.get(MessagingOperations).pauseLane('*', { reason: 'Night of the carrier' });
    const checked = await indicatorOf(one).lanes('own key');
    expect(checked).toMatchObject({ 'own key': { status: 'degraded', all_held: 'operator' } });
    expect(JSON.stringify(checked)).not.toContain('Night');
  });

  it('the check is down where no process takes due work for stuckAfter', async () => {
    const one = await fixture.boot({ dispatch: false });
    await one.send('stuck', { tenant: 'acme' });
    await eventually(async () =>
      expect(await indicatorOf(one).lanes('lanes', { stuckAfter: 1 })).toMatchObject({
        lanes: { status: 'down', stuck: 1 },
      }),
    );
    const checked = await indicatorOf(one).lanes('lanes', { stuckAfter: '1h' });
    expect(checked).toMatchObject({ lanes: { status: 'up', stuck: 0 } });
    expect(JSON.stringify(checked)).not.toContain('acme');
    const wrong = indicatorOf(one).lanes('lanes', { stuckAfter: 'soon' as never });
    await expect(wrong).rejects.toBeInstanceOf(MessagingConfigError);
  });

  it('a store that cannot be read is down', async () => {
    const one = await fixture.boot({ dispatch: false });
    const source = await database.open();
    await source.query('ALTER TABLE messaging_hold RENAME TO messaging_hold_away');
    try {
      expect(await indicatorOf(one).lanes('lanes')).toEqual({
        lanes: { status: 'down', reason: 'store_unreadable' },
      });
    } finally {
      await source.query('ALTER TABLE messaging_hold_away RENAME TO messaging_hold');
    }
  });

  it('the engine is up without a broker, and degraded while its broker is not there', async () => {
    const one = await fixture.boot({ dispatch: false });
    expect(await indicatorOf(one).engine('engine')).toEqual({ engine: { status: 'up' } });
    const other = await fixture.boot({ dispatch: false }, undefined, new BrokerlessEngine());
    expect(await indicatorOf(other).engine('engine')).toEqual({
      engine: { status: 'degraded', reason: 'broker_unavailable' },
    });
  });
});
