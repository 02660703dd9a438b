import { expect, it } from '@jest/globals';
import { registryOf } from '../../channels/built-in-channels.js';
import { receivedReport } from './received-report.js';

const NOW = Date.UTC(2026, 5, 1);

it.each([
  ['2026-05-31T22:59:59.000Z', true],
  ['2026-06-01T23:00:00.000Z', true],
  ['2026-06-02T01:00:00.000Z', false],
  ['9999-12-31T23:59:59.000Z', false],
  ['2286-11-20T17:46:39.000Z', false],
  ['1970-01-01T00:00:00.000Z', false],
])('a report of %s is stored with its time: %s', (time, isKept) => {
  const report = {
    reference: 'r',
    messageId: null,
    recipient: null,
    status: 'delivered',
    rawStatus: 'delivered',
    errorCode: null,
    providerTime: new Date(time),
  } as const;
  const { providerTime } = receivedReport(report, 'http', NOW, registryOf());
  expect(providerTime?.toISOString() ?? null).toBe(isKept ? time : null);
});
