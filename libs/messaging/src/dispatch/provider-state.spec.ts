import { describe, expect, it } from '@jest/globals';
import { RequestSlots } from './provider-state.js';
import { WakeSignal } from './leased-lane.js';

/** A lane that counts how often it was woken. */
class Lane extends WakeSignal {
  woken = 0;

  override wake(): void {
    this.woken++;
  }
}

const lanes = (count: number) => Array.from({ length: count }, () => new Lane());

describe('RequestSlots', () => {
  it('the slots limit the requests of all lanes together', () => {
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

  it('requests have no limit where no number of connections is given', () => {
    const slots = new RequestSlots();
    const lane = new Lane();
    for (let n = 0; n < 10_000; n++) slots.take(lane);
    expect(slots.free(lane)).toBe(true);
  });

  it('a slot that is given back goes to the lane that waits longest', () => {
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

  it('the turn of a lane that leaves goes to the next lane', () => {
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

  it('slots that come free together are all taken, as each lane that takes one wakes the next lane', () => {
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

  it('a slot is reserved for the lane that was woken, even if another lane asks first', () => {
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

  it('a lane that has left is not woken', () => {
    const slots = new RequestSlots(1);
    const [busy, gone] = lanes(2) as [Lane, Lane];
    slots.take(busy);
    slots.free(gone);
    slots.leave(gone);
    slots.giveBack();
    expect(gone.woken).toBe(0);
  });
});
