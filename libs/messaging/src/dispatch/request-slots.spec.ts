import { describe, expect, it } from '@jest/globals';
import { RequestSlots } from './request-slots.js';
import { WakeSignal } from './wake-signal.js';

/** A lane that says how often it was woken. */
class Lane extends WakeSignal {
  woken = 0;

  override wake(): void {
    this.woken++;
  }
}

const lanes = (count: number) => Array.from({ length: count }, () => new Lane());

describe('RequestSlots', () => {
  it('are as many as it is told, over all lanes', () => {
    const slots = new RequestSlots(3);
    const [one, other] = lanes(2) as [Lane, Lane];
    for (const lane of [one, other, one]) {
      expect(slots.free(lane)).toBe(true);
      slots.take(lane);
    }
    expect([slots.free(one), slots.free(other)]).toEqual([false, false]);
    slots.giveBack();
    expect([slots.free(other), slots.free(one)]).toEqual([false, true]);
  });

  it('are without end where nobody says how many', () => {
    const slots = new RequestSlots();
    const lane = new Lane();
    for (let n = 0; n < 10_000; n++) slots.take(lane);
    expect(slots.free(lane)).toBe(true);
  });

  it('go to lanes in the order in which they found none, one lane for each that is given back', () => {
    const slots = new RequestSlots(2);
    const [busy, ...waiting] = lanes(4) as [Lane, ...Lane[]];
    slots.take(busy);
    slots.take(busy);
    for (const lane of [...waiting, waiting[0]!]) slots.free(lane);
    slots.giveBack();
    expect(waiting.map(({ woken }) => woken)).toEqual([1, 0, 0]);
    slots.take(waiting[0]!);
    slots.giveBack();
    slots.giveBack();
    expect(waiting.map(({ woken }) => woken)).toEqual([1, 1, 1]);
  });

  it('are not lost with a lane whose turn it was and that wants none any more', () => {
    const slots = new RequestSlots(1);
    const [busy, gone, next] = lanes(3) as [Lane, Lane, Lane];
    slots.take(busy);
    slots.free(gone);
    slots.free(next);
    slots.giveBack();
    expect([gone.woken, next.woken]).toEqual([1, 0]);
    slots.leave(gone);
    expect([gone.woken, next.woken]).toEqual([1, 1]);
  });

  it('that came free together are all taken: who takes one wakes the next', () => {
    const slots = new RequestSlots(2);
    const [busy, one, other] = lanes(3) as [Lane, Lane, Lane];
    slots.take(busy);
    slots.take(busy);
    slots.free(one);
    slots.giveBack();
    slots.giveBack();
    slots.free(other);
    slots.take(one);
    expect(one.woken).toBe(1);
    expect(slots.free(other)).toBe(true);
  });

  it('are kept for who was woken, whoever asks before it does', () => {
    const slots = new RequestSlots(1);
    const [busy, slow] = lanes(2) as [Lane, Lane];
    slots.take(busy);
    slots.free(slow);
    slots.giveBack();
    expect(slots.free(busy)).toBe(false);
    expect(slots.free(slow)).toBe(true);
    slots.take(slow);
    slots.giveBack();
    expect([busy.woken, slots.free(slow), slots.free(busy)]).toEqual([1, false, true]);
  });

  it('nobody waits for who has left', () => {
    const slots = new RequestSlots(1);
    const [busy, gone] = lanes(2) as [Lane, Lane];
    slots.take(busy);
    slots.free(gone);
    slots.leave(gone);
    slots.giveBack();
    expect(gone.woken).toBe(0);
  });
});
