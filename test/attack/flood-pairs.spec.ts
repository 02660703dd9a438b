import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeEachDatabase } from '../support/databases.js';
import { AttackedGateway } from './attacked-gateway.js';
import { Floods } from './floods.js';
import { Neighbour } from './neighbour.js';

const IS_FULL = process.env['ATTACK'] === 'full';

/** Milliseconds that a pair of floods lasts at least. */
const LASTS = IS_FULL ? 8_000 : 0;

describeEachDatabase(
  'two floods at once',
  (db) => {
    const gateway = new AttackedGateway();
    const floods = new Floods(gateway);
    let neighbour: Neighbour;
    beforeAll(async () => {
      await floods.start(db);
      neighbour = await Neighbour.of(gateway);
    }, 300_000);
    afterAll(() => floods.destroy());

    const names = floods.all.map(([name]) => name);
    const kindOf = (wanted: string) => floods.all.find(([name]) => name === wanted)?.[1];
    const every = names.flatMap((one, n) =>
      names.slice(n + 1).map((other) => [one, other] as const),
    );
    const pairs = every.filter(([one, other]) => kindOf(one) !== kindOf(other));
    // In the short form each flood has one partner.
    const chosen = IS_FULL
      ? pairs
      : names.slice(0, 4).map((name, n) => [name, names[n + 4]!] as const);

    it.each(chosen)(
      '%s and %s delay neither another account nor health checks',
      async (...pair) => {
        const begun = performance.now();
        const passed = new Set<string>();
        const isOver = () => passed.size === pair.length && performance.now() - begun >= LASTS;
        await neighbour.during(pair.join(' and '), () =>
          Promise.all(
            floods.all.map(async ([name, , flood]) => {
              if (!pair.includes(name)) return;
              do {
                await flood();
                passed.add(name);
              } while (!isOver());
            }),
          ),
        );
        if (IS_FULL) process.stdout.write(`${floods.answers()}\n`);
        expect([...passed].toSorted()).toEqual([...pair].toSorted());
      },
      300_000,
    );
  },
  IS_FULL ? ['sqlite', 'postgres'] : ['sqlite'],
);
