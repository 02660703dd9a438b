import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type SignInOrigin, SignInLimits } from './sign-in-limits.js';

const NAME = 'ada@example.com';

const wrong = () => Promise.resolve(false);
const right = () => Promise.resolve(true);

const stranger = (n: number): SignInOrigin => ({
  ip: `203.0.${n >> 8}.${n & 255}`,
  isKnown: false,
});

describe('SignInLimits', () => {
  let limits: SignInLimits;
  beforeEach(() => {
    jest.useFakeTimers();
    limits = new SignInLimits();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Milliseconds until the attempt is answered. */
  async function waitFor(origin: SignInOrigin, attempt = wrong): Promise<number> {
    const from = performance.now();
    let answeredAt: number | undefined;
    const answered = limits.during(origin, NAME, attempt).then(() => {
      answeredAt = performance.now();
    });
    await jest.advanceTimersByTimeAsync(31_000);
    await answered;
    return (answeredAt ?? Infinity) - from;
  }

  it('refuses the eleventh wrong attempt of a network for a name', async () => {
    for (let n = 0; n < 10; n++) await limits.during(stranger(1), NAME, wrong);
    await expect(limits.during(stranger(1), NAME, right)).rejects.toMatchObject({
      code: 'rate_limited',
    });
    expect(await limits.during(stranger(1), 'eve@example.com', right)).toBe(true);
  });

  it('delays attempts for a name from many networks more and more, and refuses none', async () => {
    for (let n = 0; n < 20; n++) expect(await waitFor(stranger(n))).toBeLessThan(500);
    const waits: number[] = [];
    for (let n = 20; n < 27; n++) waits.push(await waitFor(stranger(n)));
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[0]).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(31_000);
    expect(await waitFor(stranger(99), right)).toBeGreaterThanOrEqual(2_000);
  });

  it('delays neither a known browser nor a known network', async () => {
    for (let n = 0; n < 40; n++) void limits.during(stranger(n), NAME, wrong);
    expect(await waitFor({ ip: '198.51.100.1', isKnown: true }, right)).toBeLessThan(500);
    const browser = { ip: '198.51.100.2', isKnown: true, knownBrowser: 'browser b' };
    expect(await waitFor(browser, right)).toBeLessThan(500);
  });

  it('a known browser is not refused for the wrong attempts of others in its network', async () => {
    for (let n = 0; n < 10; n++) await limits.during(stranger(1), NAME, wrong);
    const browser = { ip: stranger(1).ip, isKnown: true, knownBrowser: 'browser b' };
    expect(await limits.during(browser, NAME, right)).toBe(true);
    for (let n = 0; n < 10; n++) await limits.during(browser, NAME, wrong);
    await expect(limits.during(browser, NAME, right)).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });
});
