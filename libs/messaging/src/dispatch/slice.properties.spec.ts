import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PlannedBatch } from '../store/rows/planned-batch.js';
import { membersOf } from '../store/rows/span.js';
import { slice } from './slice.js';

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
      countedFailures: 0,
      refusedBy: null,
    })),
    ...Array.from({ length: parts.fresh }, () => ({
      position: position++,
      recipient: `r${position}`,
      requeued: false,
      attempts: 0,
      countedFailures: 0,
      refusedBy: null,
    })),
  ];
  return {
    id: `b${index}`,
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    content: { kind: 'text', text: 'x' },
    deliveryReport: true,
    guarded: false,
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
    place: 0,
    priority: 1,
    dueFor: 0,
    inDoubtAt: null,
  } satisfies PlannedBatch;
}

describe('slice()', () => {
  it('a slice puts every planned recipient once, in order, into submissions of neighbours', () => {
    fc.assert(
      fc.property(
        fc.array(batch, { maxLength: 12 }),
        fc.integer({ min: 1, max: 30 }),
        fc.option(fc.integer({ min: 1, max: 20 }), { nil: Infinity }),
        (parts, share, most) => {
          const plan = parts.map(planned);
          const intent = slice(plan, () => undefined, {
            routeOf: () => undefined,
            placementOf: () => ({ provider: 'p' }),
            share: (_, n) => Math.min(n, share),
            anyProvider: 'p',
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

  it('a slice defers a batch whose messages all are, and goes on with the next batch', () => {
    const [waiting, next] = [
      planned({ requeued: [], fresh: 0, expired: false, more: false, next: 1 }, 0),
      planned({ requeued: [], fresh: 1, expired: false, more: false, next: 0 }, 1),
    ];
    const intent = slice([{ ...waiting, deferredUntil: 7 }, next], () => undefined, {
      routeOf: () => undefined,
      placementOf: () => ({ provider: 'p' }),
      share: (_, n) => n,
      anyProvider: 'p',
      now: 0,
      wallNow: 0,
      most: Infinity,
    });
    expect(intent.batches).toMatchObject([
      { id: 'b0', pending: true, deferUntil: 7 },
      { id: 'b1', pending: false, deferUntil: null },
    ]);
    expect(intent.submissions.map(({ batch: id }) => id)).toEqual(['b1']);
  });

  it('a slice gives each message of several routes a row, a provider of its route, and its order in that route', () => {
    fc.assert(
      fc.property(
        fc.array(batch, { maxLength: 8 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 4 }),
        (parts, share, room, routes) => {
          const plan = parts.map(planned).map((one) => ({ ...one, expired: false }));
          const routeOf = (_: PlannedBatch, index: number) => (index * 7) % routes;
          let left = room;
          const intent = slice(plan, () => undefined, {
            routeOf,
            // The first route pauses, the second has so many requests.
            placementOf: (route) => {
              if (route === 0 && routes > 1) return { deferFor: 5_000 };
              if (route !== 1) return { provider: `p${route}` };
              return left-- > 0 ? { provider: 'p1' } : 'no room';
            },
            share: (_, n) => Math.min(n, share),
            anyProvider: 'p',
            now: 0,
            wallNow: 0,
            most: Infinity,
          });
          for (const of of plan) {
            const head = intent.batches.find(({ id }) => id === of.id);
            const own = intent.submissions.filter((item) => item.batch === of.id);
            const waiting = intent.deferred.filter((item) => item.batch === of.id);
            const rows = [
              ...own.flatMap(({ positions }) => positions),
              ...waiting.map(({ position }) => position),
            ].toSorted((a, b) => a - b);
            const all = of.recipients.map(({ position }) => position);
            // A batch that waits whole has a time and no rows.
            expect(rows).toEqual(all.slice(0, rows.length));
            const isDeferred = head !== undefined && rows.length === 0;
            expect(isDeferred ? head.deferUntil : 5_000_000).toBe(5_000_000);
            expect(head?.pending ?? true).toBe(
              of.more || waiting.length > 0 || rows.length < all.length,
            );
            for (const { provider, positions, members, firstPosition, lastPosition } of own) {
              const of1 = positions.map((position) => all.indexOf(position));
              expect(new Set(of1.map((index) => `p${routeOf(of, index)}`))).toEqual(
                new Set([provider]),
              );
              const span = Array.from(
                { length: lastPosition - firstPosition + 1 },
                (_, n) => firstPosition + n,
              );
              const test = membersOf(members);
              expect(span.filter((position) => test.has(position))).toEqual(positions);
            }
            for (const provider of new Set(own.map((item) => item.provider))) {
              const order = own
                .filter((item) => item.provider === provider)
                .flatMap(({ positions }) => positions);
              expect(order).toEqual(order.toSorted((a, b) => a - b));
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
