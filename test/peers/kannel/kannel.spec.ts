import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MessagingService, SmsService } from '@dundun/messaging';
import { describeEachDatabase, type TestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { Kannel } from '../../support/kannel.js';
import { describeWithServer } from '../../support/servers.js';
import { limitTests } from '../../support/time-limit.js';
import { startKannelApp } from './kannel-app.js';

const LIMIT = 60_000;
// A test that kills bearerbox waits up to LIMIT for each of two batches.
limitTests(150);

/** Requests in flight, the module's default. */
const CONCURRENCY = 32;
let used = 0;
/** An unused number. */
const numbers = (count: number): string[] =>
  Array.from({ length: count }, () => String(2348012000000 + used++));

describeWithServer('kannel', 'an app sending through a real bearerbox', () => {
  describeEachDatabase('the store', suite, ['sqlite', 'postgres']);
});

function suite(database: TestDatabase): void {
  let peer: Kannel;
  let app: NestFastifyApplication;
  let sms: SmsService;

  beforeEach(async () => {
    peer = await Kannel.start();
    app = await startKannelApp(peer, database.options());
    sms = app.get(SmsService);
  });
  afterEach(async () => {
    await app.close();
    await peer.stop();
  });

  const send = async (to: readonly string[], body = 'Hello'): Promise<string> =>
    (await sms.send({ from: 'ACME', to, body })).id;
  const counts = async (id: string) => (await sms.batch(id)).counts;
  const numbersDelivered = async (): Promise<string[]> =>
    (await peer.delivered()).map(({ to }) => to).toSorted();
  /** bearerbox reports a message as soon as it has written it; the network may read it later. */
  const expectDelivered = (to: readonly string[]) =>
    eventually(async () => expect(await numbersDelivered()).toEqual(to));

  it('Kannel proves its user by a request without a recipient, of which it sends nothing', async () => {
    const messaging = app.get(MessagingService);
    const [{ name } = { name: '' }] = await messaging.providers();
    expect(await messaging.checkProvider(name, AbortSignal.timeout(20_000))).toEqual({
      balance: null,
    });
    expect(await peer.taken()).toEqual([]);
  });

  it('every message through Kannel is sent once and delivered by its callbacks', async () => {
    const to = numbers(100);
    const id = await send(to);
    await eventually(async () => expect(await counts(id)).toEqual({ delivered: 100 }));
    await expectDelivered(to);
    expect((await peer.taken()).toSorted()).toEqual(to);
    // Each report came once: Kannel took the answer to its callback for a success.
    await eventually(async () => {
      const { data } = await sms.reports({ batchIds: [id], limit: 1_000 });
      const of = (word: string) => data.filter(({ rawStatus }) => rawStatus === word).length;
      expect([of('8'), of('1')]).toEqual([100, 100]);
    });
  });

  it('texts through Kannel arrive unchanged in the estimated number of parts', async () => {
    const texts = ['Grüße für 5 €: {x} [y]', 'Привет 😀', `long ${'lorem ipsum '.repeat(25)}end`];
    const to = numbers(texts.length);
    const ids = await Promise.all(texts.map((text, index) => send([to[index] as string], text)));
    for (const id of ids)
      await eventually(async () => expect(await counts(id)).toEqual({ delivered: 1 }));
    await eventually(async () => {
      const delivered = await peer.delivered();
      for (const [index, text] of texts.entries()) {
        const parts = delivered.filter((message) => message.to === to[index]);
        expect(parts.map((part) => part.text).join('')).toBe(text);
        expect(parts.every(({ from }) => from === 'ACME')).toBe(true);
        expect(parts).toHaveLength((await sms.batch(ids[index] as string)).parts ?? 0);
      }
      expect(delivered.map(({ encoding }) => encoding)).toContain('ucs-2');
    });
  });

  it('a killed bearerbox with stored messages loses and doubles none', async () => {
    await peer.stopNetwork();
    const [some, others] = [numbers(30), numbers(20)];
    const accepted = await send(some);
    await eventually(async () => expect(await counts(accepted)).toEqual({ sent: 30 }));
    await peer.killBearerbox();
    const meanwhile = await send(others);
    await eventually(async () => {
      const [lane] = await app.get(MessagingService).lanes();
      expect(lane?.pauseReason).toBe('unreachable');
    });
    await eventually(async () => expect(await counts(meanwhile)).toEqual({ queued: 20 }));
    await peer.startBoxes();
    await peer.startNetwork();
    for (const [id, delivered] of [
      [accepted, 30],
      [meanwhile, 20],
    ] as const)
      await eventually(async () => expect(await counts(id)).toEqual({ delivered }), LIMIT);
    await expectDelivered([...some, ...others]);
  });

  it('every message of a killed bearerbox ends and none is submitted twice', async () => {
    const to = numbers(1_000);
    const id = await send(to);
    await eventually(async () => expect((await peer.delivered()).length).toBeGreaterThan(100));
    await peer.killBearerbox();
    const before = new Set(await numbersDelivered());
    expect(before.size).toBeLessThan(to.length);
    await peer.startBoxes();
    await peer.startNetwork();
    await eventually(async () => {
      const after = new Set((await numbersDelivered()).filter((one) => !before.has(one)));
      const { data } = await sms.messages(id, { limit: 1_000 });
      // Messages in Kannel's memory are lost with it: the message not yet written to the network's
      // socket, or its report. We know of both that Kannel had them, and go on no further.
      const lost = new Set(await peer.reportsLost());
      const wrong = data.filter(({ recipient, status }) =>
        after.has(recipient) && !lost.has(recipient)
          ? status !== 'delivered'
          : !['sent', 'unknown', before.has(recipient) ? 'delivered' : ''].includes(status),
      );
      expect([data.length, wrong]).toEqual([1_000, []]);
      expect(after.size).toBeGreaterThan(0);
    }, LIMIT);
    const taken = await peer.taken();
    expect(new Set(taken).size).toBe(taken.length);
    // Only messages in flight at the kill can be unknown.
    expect((await counts(id)).unknown ?? 0).toBeLessThanOrEqual(CONCURRENCY);
  });

  it('a forged callback changes nothing', async () => {
    await peer.stopNetwork();
    const to = numbers(1);
    const id = await send(to);
    await eventually(async () => expect(await counts(id)).toEqual({ sent: 1 }));
    const forged = new URLSearchParams({
      submission: `${id}-s0`,
      to: to[0] as string,
      signature: Buffer.alloc(32, 1).toString('base64url'),
      status: '1',
    });
    const answer = await fetch(`${await app.getUrl()}/sms/reports?${forged.toString()}`);
    expect(answer.status).toBe(401);
    expect(await counts(id)).toEqual({ sent: 1 });
  });
}
