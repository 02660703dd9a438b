import { afterEach, expect, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import { Injectable, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MESSAGING_CLOCK, MessagingModule, simulator, SmsService } from '@dundun/messaging';
import {
  DISPATCH_ENGINE,
  MESSAGE_TRANSPORTS,
  MESSAGING_HTTP,
  MESSAGING_RATE_CARD,
  MESSAGING_TRACING,
} from '@dundun/messaging/ports';
import { DatabaseEngine } from '../../../libs/messaging/src/engines/database.engine.js';
import { systemClock } from '../../../libs/messaging/src/ports/clock.js';
import axios from 'axios';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { ScriptedTransport } from '../dispatch/dispatch-fixture.js';

@Injectable()
class LateClock {
  now = () => systemClock.now() + 60_000;
  monotonic = () => systemClock.monotonic();
  id = () => systemClock.id();
}

const TRACING = { step: (_: unknown, work: () => unknown) => work() };

describeOneDatabase('the parts under exported tokens', (database) => {
  let app: TestingModule | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  const parts = () => {
    const transport = new ScriptedTransport();
    return {
      transport,
      values: new Map<symbol, unknown>([
        [MESSAGING_CLOCK, new LateClock()],
        [DISPATCH_ENGINE, new DatabaseEngine()],
        [MESSAGE_TRANSPORTS, new Map([['scripted', transport]])],
        [MESSAGING_HTTP, new HttpService(axios.create())],
        [MESSAGING_RATE_CARD, { price: () => ({ amount: '7', currency: 'NGN' }) }],
        [MESSAGING_TRACING, TRACING],
      ]),
    };
  };
  const building = (overrides?: readonly Provider[]) =>
    Test.createTestingModule({
      imports: [
        TypeOrmModule.forRoot(database.options()),
        MessagingModule.forRoot({
          transport: simulator(),
          callbackPath: false,
          ...(overrides && { overrides }),
        }),
      ],
    });
  const expectReplaced = async ({ transport, values }: ReturnType<typeof parts>) => {
    for (const [token, value] of values) expect(app?.get(token, { strict: false })).toBe(value);
    const sms = app!.get(SmsService);
    expect(await sms.estimate('x')).toMatchObject({ cost: '7', currency: 'NGN' });
    const { createdAt } = await sms.send({ from: 'ACME', to: '2348012345678', body: 'x' });
    expect(createdAt.getTime()).toBeGreaterThan(Date.now() + 30_000);
    await eventually(async () => expect(transport.accepted).toHaveLength(1));
  };

  it('the overrides option replaces the parts under exported tokens', async () => {
    const given = parts();
    const overrides = [...given.values].map(([provide, useValue]) => ({ provide, useValue }));
    app = await building(overrides).compile();
    await app.init();
    await expectReplaced(given);
  });

  it('overrideProvider() of a test replaces the parts under exported tokens', async () => {
    const given = parts();
    const builder = building();
    for (const [token, value] of given.values) builder.overrideProvider(token).useValue(value);
    app = await builder.compile();
    await app.init();
    await expectReplaced(given);
  });
});
