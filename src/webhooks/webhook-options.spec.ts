import { describe, expect, it } from '@jest/globals';
import { webhookOptions } from './webhook-options.js';

const WEBHOOK_PORTS = [[1, 65_535]] as const;

const optionsOf = (LEASE: number) =>
  webhookOptions({ NODE_ENV: 'test', WEBHOOK_ALLOW_PRIVATE: false, WEBHOOK_PORTS, LEASE });

describe('webhook options', () => {
  it('webhooks in production require https, unless private addresses are allowed', () => {
    const of = (NODE_ENV: 'development' | 'test' | 'production', WEBHOOK_ALLOW_PRIVATE: boolean) =>
      webhookOptions({ NODE_ENV, WEBHOOK_ALLOW_PRIVATE, WEBHOOK_PORTS, LEASE: 30_000 })
        .requireHttps;
    expect(of('production', false)).toBe(true);
    expect(of('production', true)).toBe(false);
    expect(of('development', false)).toBe(false);
  });

  it('lease an endpoint for no longer than a lane of messages', () => {
    expect(optionsOf(30_000)).toMatchObject({ lease: 10_000 });
    expect(optionsOf(1_000)).toMatchObject({ lease: 1_000 });
  });

  it('retry after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
    expect(optionsOf(30_000).schedule.map((wait) => wait / 1_000)).toEqual([
      5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
  });

  it('honour a Retry-After of at most 24 h', () => {
    expect(optionsOf(30_000).maxRetryAfter).toBe(86_400_000);
  });
});
