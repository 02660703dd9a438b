import { describe, expect, it } from '@jest/globals';
import { webhookOptions } from './webhook-options.js';

describe('webhook options', () => {
  it('in production ask for https, unless private addresses are allowed', () => {
    const of = (NODE_ENV: 'development' | 'test' | 'production', WEBHOOK_ALLOW_PRIVATE: boolean) =>
      webhookOptions({ NODE_ENV, WEBHOOK_ALLOW_PRIVATE, LEASE: 30_000 }).requireHttps;
    expect(of('production', false)).toBe(true);
    expect(of('production', true)).toBe(false);
    expect(of('development', false)).toBe(false);
  });

  it('hold an endpoint no longer than a lane', () => {
    const of = (LEASE: number) =>
      webhookOptions({ NODE_ENV: 'test', WEBHOOK_ALLOW_PRIVATE: false, LEASE });
    expect(of(30_000)).toMatchObject({ lease: 10_000, pollInterval: 5_000 });
    expect(of(1_000)).toMatchObject({ lease: 1_000, pollInterval: 1_000 });
  });
});
