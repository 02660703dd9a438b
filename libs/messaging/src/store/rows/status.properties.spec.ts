import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { STATUS_RANK } from '../../message/status.js';
import { type LockedMessage, raise } from './status.js';

const REPORTED = Object.values(STATUS_RANK).filter(
  (rank) => rank >= STATUS_RANK.sent && rank < STATUS_RANK.cancelled,
);

function message(): LockedMessage {
  return {
    batch: 'b',
    position: 0,
    recipient: '2348012345678',
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    delivery_report: 1,
    labelled: 0,
    guarded: 0,
    notification: null,
    recipient_count: 1,
    submission: 0,
    status: STATUS_RANK.sending,
    sequence: 0,
    error_code: null,
    reference: null,
  };
}

describe('the status rule', () => {
  it('keeps the highest rank reported, whatever the order and number of reports', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...REPORTED), { minLength: 1, maxLength: 12 }).chain((reports) =>
          fc.tuple(
            fc.constant(reports),
            fc.shuffledSubarray([...reports, ...reports], {
              minLength: reports.length * 2,
              maxLength: reports.length * 2,
            }),
          ),
        ),
        ([reports, disordered]) => {
          const locked = message();
          const changes = disordered.flatMap((rank, at) => raise(locked, rank, at, null) ?? []);
          expect(locked.status).toBe(Math.max(...reports));
          expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, i) => i + 1));
          for (const { previous, status } of changes) expect(status).toBeGreaterThan(previous);
        },
      ),
    );
  });
});
