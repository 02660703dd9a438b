import { afterEach, describe, expect, it } from '@jest/globals';
import { metrics as api } from '@opentelemetry/api';
import { openTelemetryMetrics } from './open-telemetry.metrics.js';
import { RecordedMetrics } from '../../../../test/support/recorded-metrics.js';

describe('openTelemetryMetrics', () => {
  afterEach(() => api.disable());

  it('metrics are off without the OpenTelemetry API or SDK', async () => {
    const missing = Object.assign(new Error('no such module'), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(await openTelemetryMetrics(() => Promise.reject(missing))).toBeUndefined();
    expect(await openTelemetryMetrics()).toBeUndefined();
  });

  it('a request that failed is counted by the code of its error, and never by a text with a number', async () => {
    const recorded = RecordedMetrics.register();
    const metrics = (await openTelemetryMetrics())!;
    const request = { channel: 'sms', provider: 'main', messages: 2, seconds: 0.25 };
    metrics.submitted(request);
    metrics.submitted({ ...request, error: Object.assign(new Error('x'), { code: 'busy' }) });
    const secret = Object.assign(new TypeError('x'), { code: 'no route to 2348012345678' });
    metrics.submitted({ ...request, error: secret });
    const attributes = {
      'messaging.system': 'dundun',
      'messaging.operation.name': 'submit',
      'messaging.destination.name': 'sms',
      'dundun.transport': 'main',
    };
    expect(await recorded.read('messaging.client.sent.messages')).toEqual([
      [attributes, 2],
      [{ ...attributes, 'error.type': 'busy' }, 2],
      [{ ...attributes, 'error.type': 'TypeError' }, 2],
    ]);
    expect(await recorded.read('messaging.client.operation.duration')).toMatchObject([
      [attributes, { count: 1, sum: 0.25 }],
      [{ 'error.type': 'busy' }, { count: 1 }],
      [{ 'error.type': 'TypeError' }, { count: 1 }],
    ]);
  });

  it('lanes are counted by state and reason until the observer stops', async () => {
    const recorded = RecordedMetrics.register();
    const metrics = (await openTelemetryMetrics())!;
    const paused = { state: 'paused', reason: 'throttled' } as const;
    let reads = 0;
    const stop = metrics.observe(async () => {
      reads++;
      return {
        ages: new Map([['high', 1.5]]),
        lanes: [paused, { state: 'waiting', reason: '' }, paused],
        unmatched: new Map([['main', 3]]),
        passed: [{ provider: 'main', reason: 'in_flight', messages: 4 }],
      };
    });
    const system = { 'messaging.system': 'dundun' };
    expect(await recorded.read('dundun.lanes')).toEqual([
      [{ ...system, 'dundun.lane.state': 'paused', 'dundun.lane.reason': 'throttled' }, 2],
      [{ ...system, 'dundun.lane.state': 'waiting', 'dundun.lane.reason': '' }, 1],
    ]);
    expect(await recorded.read('dundun.queue.age')).toEqual([
      [{ ...system, 'dundun.priority': 'high' }, 1.5],
    ]);
    expect(await recorded.read('dundun.reports.unmatched')).toEqual([
      [{ ...system, 'dundun.transport': 'main' }, 3],
    ]);
    expect(await recorded.read('dundun.messages.passed')).toEqual([
      [{ ...system, 'dundun.transport': 'main', 'dundun.pass.reason': 'in_flight' }, 4],
    ]);
    expect(reads).toBe(4);
    stop();
    await recorded.read('dundun.lanes');
    expect(reads).toBe(4);
  });
});
