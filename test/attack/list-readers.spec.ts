import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import { describeEachDatabase } from '../support/databases.js';
import { AttackedGateway, FRONT_DATABASES } from './attacked-gateway.js';
import { ListReaders } from './list-readers.js';
import { Neighbour } from './neighbour.js';
import { get, RawClient } from './raw-client.js';

const IS_FULL = process.env['ATTACK'] === 'full';

const READERS = IS_FULL ? 200 : 20;
const LASTS = IS_FULL ? 10_000 : 500;

/** The largest page: batches of the account, and recipients of each, which a page counts. */
const BATCHES = 100;
const RECIPIENTS = 100;

const LIST = '/ng/v1/sms?limit=100';

describeEachDatabase(
  'many readers of one account',
  (db) => {
    const gateway = new AttackedGateway();
    let neighbour: Neighbour;
    beforeAll(async () => {
      await gateway.start(db);
      for (let n = 0; n < BATCHES; n++) await gateway.batch(RECIPIENTS);
      neighbour = await Neighbour.of(gateway);
    });
    afterAll(() => gateway.destroy());

    it('lists of two hundred readers delay neither sends nor reads of another account', async () => {
      const readers = new ListReaders(gateway.url, [LIST], gateway.token, READERS);
      await neighbour.during('list readers', async () => {
        let isOver = false;
        const reading = readers.read(() => isOver);
        await Promise.race([reading, setTimeout(LASTS)]);
        isOver = true;
        await reading;
      });
      if (IS_FULL) process.stdout.write(`${readers.statuses.get(200)} lists\n`);
      expect([...readers.statuses.keys()]).toEqual([200]);
    }, 120_000);

    it('reads without a body, and reads whose client disconnects, leave turns to others', async () => {
      expect(await tenTimes('HEAD')).toEqual([[200, 10]]);
      for (let n = 0; n < 10; n++) {
        const client = await RawClient.connect(gateway.url);
        await client.write(get(LIST, gateway.token).repeat(4));
        client.reset();
      }
      expect(await tenTimes('GET')).toEqual([[200, 10]]);
    });

    async function tenTimes(method: 'GET' | 'HEAD'): Promise<[status: number, answers: number][]> {
      const readers = new ListReaders(gateway.url, [LIST], gateway.token, 1, method);
      let asked = 0;
      await readers.read(() => ++asked === 10);
      return [...readers.statuses];
    }
  },
  FRONT_DATABASES,
);
