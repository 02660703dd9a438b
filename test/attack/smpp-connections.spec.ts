import { COMMAND_STATUS, connectSmpp, encodePdu, type PduInput } from '@dundun/smpp';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describeEachDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { AttackedGateway, FRONT_DATABASES } from './attacked-gateway.js';
import { RawClient } from './raw-client.js';

const IS_FULL = process.env['ATTACK'] === 'full';

/** The attackers' address; the customer has 127.0.0.1. */
const STRANGER = '127.0.0.2';

const TO = { ton: 1, npi: 1, address: '2348012345678' };

/** Bytes of 4,000 PDUs. */
const flood = (pdu: Buffer): Buffer => Buffer.concat(Array.from({ length: 4_000 }, () => pdu));

const ENQUIRE_LINK = encodePdu({ command: 'enquire_link', sequence: 1 });
const UNKNOWN = Buffer.from('00000010000badad0000000000000001', 'hex');
/** A `submit_sm` whose fields do not end. */
const GARBAGE = Buffer.from(`000000200000000400000000000000${'ff'.repeat(17)}`, 'hex');
const ANSWER_LENGTH = 16;

/** Milliseconds between two binds of the customer. */
const PAUSE = 50;

/** Writes of 4,200 PDUs, more than the buffers of both systems hold. */
const MOST_WRITES = 10_000;

describeEachDatabase(
  'floods of the SMPP listener',
  (db) => {
    const gateway = new AttackedGateway();
    const smpp = { host: '127.0.0.1', port: 0 };
    let customer: SmppPair;
    /** Pairs of another account. */
    const others: SmppPair[] = [];

    interface SmppPair {
      readonly systemId: string;
      readonly password: string;
    }

    const pairOf = async (accountId: string): Promise<SmppPair> => {
      const made = await gateway.dundun('smpp', 'add', '--account', accountId);
      return { systemId: made['system_id'] ?? '', password: made['password'] ?? '' };
    };

    beforeAll(async () => {
      smpp.port = await freePort();
      await gateway.start(db, { SMPP_LISTEN: `${smpp.host}:${smpp.port}` });
      customer = await pairOf(gateway.accountId);
      const { account_id: other = '' } = await gateway.dundun(
        'account',
        'create',
        '--name',
        'other',
      );
      // A pair has ten binds.
      for (let n = 0; n < (IS_FULL ? 5 : 1); n++) others.push(await pairOf(other));
    });
    afterAll(() => gateway.destroy());

    const connect = (): Promise<RawClient> =>
      RawClient.connect(`tcp://${smpp.host}:${smpp.port}`, STRANGER);

    /** The customer binds, submits and unbinds. */
    async function customerWorks(): Promise<void> {
      const session = await connectSmpp({ ...smpp, ...customer, responseTimeout: 60_000 });
      const { status } = await session.request('submit_sm', {
        source: { ton: 5, npi: 0, address: 'ACME' },
        destination: TO,
        shortMessage: Buffer.from('Hello'),
      });
      await session.unbind();
      expect(status).toBe(COMMAND_STATUS.ESME_ROK);
    }

    /** Runs the work of the customer and the health checks until the attack has ended. */
    async function othersWork<T>(attack: Promise<T>): Promise<T> {
      return gateway.whileHealthy(async () => {
        let isOver = false;
        const ended = attack.finally(() => (isOver = true));
        ended.catch(() => undefined);
        do {
          await customerWorks();
          await setTimeout(PAUSE);
        } while (!isOver);
        return ended;
      });
    }

    /** After a collection, which an idle gateway makes itself within 20 seconds. */
    async function memoryIsBack(): Promise<void> {
      await gateway.running.rest();
      await gateway.freed();
    }

    it('a thousand silent connections of one address keep twenty places', async () => {
      const open = new Set<RawClient>();
      const attack = async (): Promise<void> => {
        for (let n = 0; n < 1_000; n++) {
          const client = await connect();
          open.add(client);
          void client.ended.then(() => open.delete(client));
        }
      };
      await gateway.whileHealthy(async () => {
        await attack();
        for (let n = 0; n < 5; n++) await customerWorks();
      });
      expect(open.size).toBeLessThanOrEqual(20);
      for (const client of open) client.destroy();
      await memoryIsBack();
    }, 120_000);

    it.each([
      ['enquire_link', ENQUIRE_LINK],
      ['unknown PDUs', UNKNOWN],
      ['PDUs of garbage', GARBAGE],
      ['bytes that are no PDU', Buffer.alloc(16, 0xff)],
    ])(
      'a flood of %s before a bind ends its connections',
      async (_name, pdu) => {
        const bytes = flood(pdu);
        const attackers = 50;
        const rounds = IS_FULL ? 100 : 2;
        const attack = async (): Promise<number[]> => {
          const lengths: number[] = [];
          for (let n = 0; n < rounds; n++) {
            const client = await connect().catch(() => undefined);
            if (!client) continue;
            await client.write(bytes);
            await client.ended;
            lengths.push(client.answer.length / ANSWER_LENGTH);
          }
          return lengths;
        };
        const answers = await othersWork(
          Promise.all(Array.from({ length: attackers }, () => attack())),
        );
        expect(Math.max(...answers.flat())).toBeLessThanOrEqual(10);
        await memoryIsBack();
      },
      120_000,
    );

    /** The listener closes what is above its limits, until it has seen the end of the binds before. */
    async function bind(pair: SmppPair): Promise<RawClient> {
      for (let tries = 0; tries < 300; tries++) {
        const client = await connect();
        await client.write(encodePdu({ command: 'bind_transceiver', sequence: 1, ...pair }));
        let isOver = false;
        void client.ended.then(() => (isOver = true));
        await eventually(async () => expect(isOver || client.answer !== '').toBe(true));
        if (client.answer !== '') return client;
        await setTimeout(PAUSE);
      }
      throw new Error('no bind was answered');
    }

    /** @param each binds of each pair of the other account */
    async function bound(each: number): Promise<RawClient[]> {
      const clients: RawClient[] = [];
      for (const pair of others) for (let n = 0; n < each; n++) clients.push(await bind(pair));
      return clients;
    }

    it.each([
      ['enquire_link', ENQUIRE_LINK],
      ['unknown PDUs', UNKNOWN],
    ])(
      'floods of %s by binds of one address end their sessions and leave turns to others',
      async (_name, pdu) => {
        const bytes = flood(pdu);
        const rounds = IS_FULL ? 10 : 2;
        const answers: number[] = [];
        const attack = async (client: RawClient): Promise<void> => {
          const before = client.answer.length;
          await client.write(bytes);
          await client.ended;
          answers.push((client.answer.length - before) / ANSWER_LENGTH);
        };
        const attacks = async (): Promise<void> => {
          for (let n = 0; n < rounds; n++)
            await Promise.all((await bound(IS_FULL ? 10 : 1)).map(attack));
        };
        await othersWork(attacks());
        expect(Math.max(...answers)).toBeLessThanOrEqual(200);
      },
      120_000,
    );

    it('peers that submit and never read are read no further, and disconnected', async () => {
      const submits = Array.from({ length: 200 }, (_, n): PduInput => {
        const source = { ton: 5, npi: 0, address: 'NONE' };
        return { command: 'submit_sm', sequence: n + 2, source, destination: TO };
      });
      // The answers to enquire_link fill the buffers sooner.
      const bytes = Buffer.concat([...submits.map((pdu) => encodePdu(pdu)), flood(ENQUIRE_LINK)]);
      const attack = async (client: RawClient): Promise<boolean> => {
        let isOver = false;
        void client.ended.then(() => (isOver = true));
        client.readNothing();
        for (let n = 0; !isOver && n < MOST_WRITES; n++) {
          await client.write(bytes);
          await setImmediate();
        }
        return isOver;
      };
      const clients = await bound(IS_FULL ? 2 : 1);
      const ended = await othersWork(Promise.all(clients.map((client) => attack(client))));
      expect(ended).toEqual(clients.map(() => true));
      await memoryIsBack();
    }, 300_000);
  },
  FRONT_DATABASES,
);
