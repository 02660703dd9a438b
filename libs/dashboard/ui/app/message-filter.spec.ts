import { describe, expect, it } from '@jest/globals';
import { askedMessages } from './message-filter.js';

const NOW = Date.UTC(2026, 0, 31, 12, 0, 30);
const asked = (query: string) => askedMessages({ query: new URLSearchParams(query) }, NOW);

const given = (query: string) =>
  Object.fromEntries(Object.entries(asked(query).filter).filter(([, value]) => value));

describe('askedMessages()', () => {
  it.each([
    ['q=%2B234+801+234+5678', { to: '+234 801 234 5678' }],
    ['q=ada%40example.com', { to: 'ada@example.com' }],
    ['q=wamid.1', { reference: 'wamid.1' }],
    ['error=30003&country=NG', { error: '30003', country: 'NG' }],
    ['since=2026-01-01T00%3A00%3A00Z', { since: '2026-01-01T00:00:00Z' }],
    ['age=1h', { since: '2026-01-31T11:00:00.000Z' }],
  ])('the address %s asks for %j at all times that it names', (query, filter) => {
    expect(given(query)).toEqual(filter);
    expect(asked(query).isNarrowed).toBe(false);
  });

  it.each([
    ['q=5678', { toPart: '5678' }],
    ['q=801-234&in=part', { toPart: '801234' }],
    ['q=Your+order&in=subject', { subject: 'Your order' }],
  ])('the search %s by parts looks at the last 7 days', (query, filter) => {
    expect(given(query)).toEqual({ ...filter, since: '2026-01-24T12:00:00.000Z' });
    expect(asked(query).isNarrowed).toBe(true);
    expect(given(`${query}&age=all`)).toEqual(filter);
    expect(given(`${query}&age=30d`)).toEqual({ ...filter, since: '2026-01-01T12:00:00.000Z' });
  });
});
