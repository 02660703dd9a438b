import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PlannedBatch } from '../store/rows/planned-batch.js';
import { slice } from './submissions.js';

const batch = fc
  .record({
    requeued: fc.array(fc.record({ gap: fc.nat(3), attempts: fc.nat(2) }), { maxLength: 20 }),
    fresh: fc.nat(60),
    expired: fc.boolean(),
    more: fc.boolean(),
    next: fc.nat(5),
  })
  .filter(({ requeued, fresh }) => requeued.length + fresh > 0);

function planned(parts: typeof batch extends fc.Arbitrary<infer T> ? T : never, index: number) {
  let position = 0;
  const recipients = [
    ...parts.requeued.map(({ gap, attempts }) => ({
      position: (position += 1 + gap) - 1,
      recipient: `r${position}`,
      requeued: true,
      attempts,
    })),
    ...Array.from({ length: parts.fresh }, () => ({
      position: position++,
      recipient: `r${position}`,
      requeued: false,
      attempts: 0,
    })),
  ];
  return {
    id: `b${index}`,
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    content: { kind: 'text', text: 'x' },
    deliveryReport: true,
    revision: 0,
    nextSubmission: parts.next,
    expired: parts.expired,
    recipients,
    more: parts.more,
    moreRequeued: false,
    followed: false,
    deferredUntil: null,
    validFor: null,
    dueAt: new Date(0),
    dueFor: 0,
    inDoubtAt: null,
  } satisfies PlannedBatch;
}

describe('slice()', () => {
  it('puts every planned recipient once, in order, into submissions of neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(batch, { maxLength: 12 }),
        fc.integer({ min: 1, max: 30 }),
        fc.option(fc.integer({ min: 1, max: 20 }), { nil: Infinity }),
        (parts, share, most) => {
          const plan = parts.map(planned);
          const intent = slice(plan, () => undefined, {
            provider: 'p',
            share: (n) => Math.min(n, share),
            now: 0,
            wallNow: 0,
            most,
          });
          const prepared = intent.submissions;
          const wanted = plan.flatMap(({ id, recipients }) =>
            recipients.map(({ position }) => `${id}-${position}`),
          );
          const cut = prepared.flatMap((item) => item.positions.map((p) => `${item.batch}-${p}`));
          expect(cut).toEqual(wanted.slice(0, cut.length));
          expect(prepared.length).toBeLessThanOrEqual(most);
          expect(cut).toEqual(prepared.length < most ? wanted : cut);
          expect(new Set(prepared.map(({ submission }) => submission.id)).size).toBe(
            prepared.length,
          );
          prepared.forEach((item) => {
            const of = plan.find(({ id }) => id === item.batch);
            const members = item.recipients;
            expect(item.submission.recipients).toEqual(members.map(({ recipient }) => recipient));
            expect(item.positions).toEqual(members.map(({ position }) => position));
            expect(members.length).toBeLessThanOrEqual(of?.expired ? Infinity : share);
            const tries = of?.recipients
              .filter(({ position }) => item.positions.includes(position))
              .map(({ attempts }) => attempts + 1);
            expect(new Set(tries)).toEqual(new Set([item.submission.attempt]));
          });
          for (const { id, pending } of intent.batches) {
            const of = plan.find((one) => one.id === id);
            const left =
              (of?.recipients.length ?? 0) - cut.filter((name) => name.startsWith(`${id}-`)).length;
            expect(pending).toBe((of?.more ?? false) || left > 0);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
