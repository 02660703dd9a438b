import type { Route } from '@dundun/messaging';
import type { SmppOptions } from '@dundun/messaging/smpp';
import { Kannel } from '../../test/support/kannel.js';
import { isKannelInstalled } from '../../test/support/kannel-programs.js';
import { GatewayProcess } from '../accept/gateway.process.js';
import type { LimitWorkerOptions } from '../dispatch/limit.worker.js';
import type { StoreWorkerOptions } from '../dispatch/store.worker.js';
import { type DatabaseKind, type DatabasePlace, makeDatabase } from '../harness/database.place.js';
import { HttpLoad } from '../harness/http.load.js';
import { inFlight } from '../harness/in.flight.js';
import type { ResultBook } from '../harness/result.book.js';
import { alternate, type Count, ratio, type Side } from '../harness/rounds.js';
import { Worker } from '../harness/worker.client.js';
import { sendsmsLoad } from '../kannel/kannel.relay.js';

export interface SmppExtent {
  /** Messages of one run of one side. */
  readonly messages: number;
  readonly rounds: number;
  readonly wants: (id: string) => boolean;
}

/** Requests in flight to smsbox. */
const CONNECTIONS = 64;

/** Concurrency of a lane: without idempotency keys it is also the size of a slice, and each slice is a plan and a commit. */
const CONCURRENCY = 512;

/** Rules with 1,000 prefixes that fit no recipient, before the one that fits all of them. */
const RULES: readonly Route[] = [
  ...Array.from({ length: 10 }, (_, rule) => ({
    channel: 'sms',
    to: Array.from({ length: 100 }, (_one, n) => String(1_000 + rule * 100 + n)),
    use: 'a',
  })),
  { channel: 'sms', to: ['234'], use: { weighted: { a: 50, b: 50 } } },
];

/** Everything that one measurement starts; `stop()` ends it, the newest first. */
class Started {
  readonly #ends: (() => Promise<unknown>)[] = [];

  constructor(private readonly kind: DatabaseKind) {}

  async smsc(): Promise<{ readonly smsc: Worker; readonly port: number }> {
    const smsc = await this.#worker(new URL('./smsc.worker.js', import.meta.url), {});
    return { smsc, port: await smsc.call<number>('port') };
  }

  /** An app that sends from its store over SMPP. */
  async side(
    name: string,
    smpp: Readonly<Record<string, SmppOptions>>,
    messages: number,
    routes?: readonly Route[],
  ): Promise<Side> {
    const place: DatabasePlace = await makeDatabase(this.kind);
    this.#ends.push(() => place.remove());
    const options: StoreWorkerOptions = {
      url: place.url,
      smpp,
      ...(routes && { routes }),
      dispatch: { concurrency: CONCURRENCY },
    };
    const url = new URL('../dispatch/store.worker.js', import.meta.url);
    const worker = await this.#worker(url, options);
    return { name, pid: worker.pid, run: () => worker.call<Count>('drain', messages) };
  }

  /** A bare program with the app's concurrency, over `libs/smpp`. */
  async limit(smscPort: number, messages: number): Promise<Side> {
    const place = await makeDatabase(this.kind);
    this.#ends.push(() => place.remove());
    const options: LimitWorkerOptions = { url: place.url, smscPort, width: CONCURRENCY };
    const url = new URL('../dispatch/limit.worker.js', import.meta.url);
    const worker = await this.#worker(url, options);
    return {
      name: 'bare libs/smpp and driver, 1 bind',
      pid: worker.pid,
      run: () => worker.call<Count>('run', messages),
    };
  }

  /** The gateway, which accepts over HTTP while it sends. */
  async gateway(smsc: Worker, port: number, messages: number): Promise<Side> {
    const place = await makeDatabase(this.kind);
    this.#ends.push(() => place.remove());
    const gateway = await GatewayProcess.start(place.url, {
      CARRIER: 'smpp',
      SMPP_URL: `smpp://gateway:secret@127.0.0.1:${port}`,
      RATE_LIMIT: '100000/s',
    });
    this.#ends.push(() => gateway.stop());
    const load = new HttpLoad(gateway.url, CONNECTIONS, {
      path: '/ng/v1/sendsms',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.token}` },
    });
    this.#ends.push(() => load.close());
    const bodyOf = (n: number) =>
      `{"from":"ACME","to":["23480${10_000_000 + n}"],"body":"Your code is 123456"}`;
    return {
      name: 'gateway, over HTTP',
      pid: gateway.pid,
      run: () => sentWhole(smsc, 'gateway', messages, (n) => load.post(bodyOf(n))),
    };
  }

  /** Kannel with its spool on disk, synced as the gateway's commits are: it sends what is in the spool, or also accepts over HTTP meanwhile. */
  async kannel(smsc: Worker, port: number, messages: number): Promise<readonly [Side, Side]> {
    const kannel = await Kannel.start({ log: false, smscPort: port, syncsSpool: true });
    this.#ends.push(() => kannel.stop());
    const load = sendsmsLoad(kannel, CONNECTIONS);
    this.#ends.push(() => load.close());
    const post = () => load.post('Your code is 123456');
    const pid = kannel.pid('bearerbox');
    return [
      {
        name: 'Kannel, from its spool',
        pid,
        run: async () => {
          await smsc.call('refuse', 'kannel');
          await inFlight(messages, CONNECTIONS, post);
          return smsc.call<Count>('admit', { systemId: 'kannel', n: messages });
        },
      },
      { name: 'Kannel, over HTTP', pid, run: () => sentWhole(smsc, 'kannel', messages, post) },
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
  }

  async #worker(url: URL, options: unknown): Promise<Worker> {
    const worker = await Worker.start(url, options);
    this.#ends.push(() => worker.stop());
    return worker;
  }
}

/** Milliseconds from the first request to the last submit at the SMSC. */
async function sentWhole(
  smsc: Worker,
  systemId: string,
  messages: number,
  post: (n: number) => Promise<void>,
): Promise<Count> {
  const sent = smsc.call<Count>('admit', { systemId, n: messages });
  const begun = performance.now();
  await inFlight(messages, CONNECTIONS, post);
  await sent;
  return { count: messages, ms: performance.now() - begun };
}

/**
 * V1 and V4 with an SMSC that answers at once, V2 and V3 with one whose answers take 20 ms: single
 * messages that are in the store, sent over SMPP until the last outcome is recorded.
 */
export async function measureSmpp(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  extent: SmppExtent,
): Promise<void> {
  if (extent.wants('V1') || extent.wants('V4')) await measureNear(book, kind, name, extent);
  if (extent.wants('V2') || extent.wants('V3')) await measureFar(book, kind, name, extent);
}

async function measureNear(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: SmppExtent,
): Promise<void> {
  const started = new Started(kind);
  try {
    const { smsc, port } = await started.smsc();
    const url = `smpp://near:secret@127.0.0.1:${port}`;
    const sides = [
      await started.side(
        'one provider, 2 binds',
        { a: { url, binds: { transceiver: 2 } } },
        messages,
      ),
      await started.side('11 rules, two providers', { a: { url }, b: { url } }, messages, RULES),
      await started.side('one provider, 1 bind', { a: { url } }, messages),
      await started.limit(port, messages),
    ];
    if (isKannelInstalled())
      sides.push(
        ...(await started.kannel(smsc, port, messages)),
        await started.gateway(smsc, port, messages),
      );
    else process.stderr.write('Kannel is not installed: nothing to compare V1 with\n');
    const results = await alternate(sides, rounds);
    const [two, routed, one, limit, spool, kannel, gateway] = results;
    if (!two || !routed || !one || !limit) throw new Error('a side is missing');
    book.sides('V1, V4', name, results);
    book.figure({
      id: 'V1',
      database: name,
      what: 'store → SMSC → store ÷ bare libs/smpp with the same commits, one bind, window 10',
      value: ratio(one, limit),
      goal: ['>=', 0.7],
    });
    if (kannel && gateway)
      book.figure({
        id: 'V1',
        database: name,
        what: 'accepted over HTTP and submitted over SMPP ÷ Kannel (synced spool) at the same SMSC, one bind, window 10',
        value: ratio(gateway, kannel),
        goal: ['>=', 1.2],
      });
    if (spool)
      book.figure({
        id: 'V1',
        database: name,
        what: 'store → SMSC → store ÷ Kannel, synced spool → the same SMSC, one bind, window 10',
        value: ratio(one, spool),
        goal: ['>=', 1.2],
      });
    book.figure({
      id: 'V4',
      database: name,
      what: '11 rules with 1,000 prefixes and two weighted providers ÷ one provider without routes',
      value: ratio(routed, two),
      goal: ['>=', 0.95],
    });
  } finally {
    await started.stop();
  }
}

async function measureFar(
  book: ResultBook,
  kind: DatabaseKind,
  name: string,
  { messages, rounds }: SmppExtent,
): Promise<void> {
  const started = new Started(kind);
  const few = Math.ceil(messages / 20);
  try {
    const { port } = await started.smsc();
    const url = `smpp://far:secret@127.0.0.1:${port}`;
    const use = { weighted: { a: 50, b: 50 } };
    const [single, ten, double] = await alternate(
      [
        await started.side('window 1', { a: { url, window: 1 } }, few),
        await started.side('window 10', { a: { url } }, few * 10),
        await started.side('two providers', { a: { url }, b: { url } }, few * 20, [{ use }]),
      ],
      rounds,
    );
    if (!single || !ten || !double) throw new Error('a side is missing');
    book.sides('V2, V3', name, [single, ten, double]);
    book.figure({
      id: 'V2',
      database: name,
      what: 'window 10 ÷ window 1, answers after 20 ms',
      value: ratio(ten, single),
      goal: ['>=', 8],
    });
    book.figure({
      id: 'V3',
      database: name,
      what: 'two equal providers ÷ one, answers after 20 ms, window 10',
      value: ratio(double, ten),
      goal: ['>=', 1.9],
    });
  } finally {
    await started.stop();
  }
}
