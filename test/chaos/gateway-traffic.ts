import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { newSecret } from '../../src/accounts/credentials.js';
import type { Processes, RunningGateway } from '../e2e/gateway/built-gateway.js';
import { SmppClient } from '../e2e/gateway/smpp-client.js';
import { freePort } from '../support/free-port.js';
import type { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import { dataSourceOptions } from './processes/data-source-options.js';
import { Upstream } from './upstream.js';

/** Milliseconds after which a request without an answer hangs. */
const HANGS_AFTER = 30_000;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Health {
  readonly error?: { readonly database?: unknown };
}

/** The account of the gateway's first start. */
interface Customer {
  readonly account: string;
  readonly token: string;
  readonly key: string;
  readonly smpp: SmppClient;
}

/** What became of requests. */
export interface Answers {
  /** Count by surface and status, such as `sendsms 200`. */
  readonly counts: Map<string, number>;
  /** Surfaces of requests without an answer. */
  readonly hangs: string[];
  /** Milliseconds. */
  slowest: number;
}

/** Numbers of messages that leave through the upstream, and of those that the simulator takes. */
const UPSTREAM_NUMBERS = '234801';
const SIMULATED_NUMBERS = '234803';

/**
 * A gateway on an SQLite file, and requests to each of its surfaces with the account of its first start,
 * at a steady rate. `sendsms` leaves through an upstream, the rest through the simulator.
 */
export class GatewayTraffic {
  answers: Answers = none();
  /** Ids of accepted batches of messages. */
  readonly accepted: string[] = [];
  readonly #open = new Set<Promise<void>>();
  #scheduled: string[] = [];
  #group = '';
  #timer: NodeJS.Timeout | undefined;
  #sent = 0;
  #inTurn = 0;

  private constructor(
    readonly gateway: RunningGateway,
    readonly settings: Record<string, string>,
    private readonly upstream: Upstream,
    private readonly lanes: LaneOrders,
    private readonly customer: Customer,
  ) {}

  /** @param file of SQLite */
  static async begin(
    processes: Processes,
    sources: CompiledSources,
    file: string,
  ): Promise<GatewayTraffic> {
    const upstream = await Upstream.start(sources.path('upstream.process.js'), 1);
    try {
      const settings = {
        DATABASE_URL: `sqlite:${file}`,
        SMPP_LISTEN: `127.0.0.1:${await freePort()}`,
        CARRIERS_FILE: await carriersFile(await processes.directory(), upstream.url),
      };
      const lanes = new LaneOrders();
      const requests = sources.path('gateway-requests.process.js');
      const gateway = await processes.gatewayWith(requests, settings, (child) =>
        lanes.follow(child),
      );
      const customer = await customerOf(gateway, processes, settings);
      const traffic = new GatewayTraffic(gateway, settings, upstream, lanes, customer);
      const { body } = await traffic.#call('POST', '/ng/v1/groups', { name: 'Friends' });
      traffic.#group = String(body['id']);
      return traffic;
    } catch (error) {
      await upstream.stop();
      throw error;
    }
  }

  get account(): string {
    return this.customer.account;
  }

  /** @returns messages that others of their lane have passed without a documented reason */
  async passed(): Promise<string[]> {
    const options = dataSourceOptions(this.settings['DATABASE_URL'] ?? '');
    const store = await new DataSource(options).initialize();
    try {
      return await this.lanes.passed(store);
    } finally {
      await store.destroy();
    }
  }

  /** Asks one surface after the other at the rate, and beside them sends one message after the other. */
  start(perSecond: number): void {
    const every = 1_000 / perSecond;
    this.#timer = setInterval(() => {
      const n = this.#sent++;
      const surfaces = Object.entries(this.#surfaces(n));
      const [name, ask] = surfaces[n % surfaces.length] ?? ['', this.ready.bind(this)];
      this.#track(this.#one(name, ask));
    }, every);
    this.#track(this.#sendInTurn(this.#timer, every));
  }

  /** The order of the messages is known: each is sent after the one before was accepted. */
  async #sendInTurn(timer: NodeJS.Timeout, pause: number): Promise<void> {
    while (this.#timer === timer) {
      const to = String(Number(`${UPSTREAM_NUMBERS}5000000`) + this.#inTurn++);
      await this.#one('sendsms', () => this.#send(to));
      await wait(pause);
    }
  }

  #track(one: Promise<void>): void {
    this.#open.add(one);
    void one.finally(() => this.#open.delete(one));
  }

  /** Resolves once each request is answered, or hangs. */
  async stop(): Promise<void> {
    this.#stopTimer();
    await Promise.all(this.#open);
  }

  /** Counts of the answers so far by their kind; the counts begin again at zero. */
  take(): Answers {
    const { answers } = this;
    this.answers = none();
    return answers;
  }

  async close(): Promise<void> {
    this.#stopTimer();
    this.customer.smpp.session.close();
    await this.upstream.stop();
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async completed(id: string): Promise<boolean> {
    return (await this.#call('GET', `/ng/v1/sms/${id}`)).body['status'] === 'completed';
  }

  ready(): Promise<Answer> {
    return this.#call('GET', '/health/ready');
  }

  /** Never rejects. */
  async #one(name: string, ask: () => Promise<Answer>): Promise<void> {
    const began = performance.now();
    // Of the time at which it was asked.
    const { answers } = this;
    try {
      const { status, body } = await ask();
      const { reason } = Object((body as Health).error?.database) as { reason?: string };
      const key = reason === undefined ? `${name} ${status}` : `${name} ${reason} ${status}`;
      answers.counts.set(key, (answers.counts.get(key) ?? 0) + 1);
    } catch (error) {
      answers.hangs.push(`${name}: ${String(error)}`);
    }
    answers.slowest = Math.max(answers.slowest, performance.now() - began);
  }

  #surfaces(n: number): Record<string, () => Promise<Answer>> {
    const digits = String(n).padStart(7, '0');
    const to = UPSTREAM_NUMBERS + digits;
    const email = `person${n}@example.com`;
    const get = (path: string) => () => this.#call('GET', path);
    const post = (path: string, body: unknown) => () => this.#call('POST', path, body);
    const last = this.accepted.at(-1) ?? '';
    return {
      sendsms: () => this.#send(to),
      'read sms': get(last === '' ? '/ng/v1/sms' : `/ng/v1/sms/${last}`),
      'add member': post(`/ng/v1/groups/${this.#group}/members`, { members: [to] }),
      'schedule sms': async () =>
        this.#noted(
          this.#scheduled,
          await this.#call('POST', '/ng/v1/sendsms', {
            from: 'ACME',
            to: [to],
            body: 'Later',
            send_at: '2150-01-01T00:00:00Z',
          }),
        ),
      'put contact': post('/whatsapp/ng/v1/contacts', {
        phone: String(2_348_020_000_000 + n),
        name: 'Ada',
        opt_in: { status: 'opted_in', source: 'web form' },
      }),
      'send whatsapp': post('/whatsapp/ng/v1/sendwhatsapp', {
        // The contact of the last round.
        to: String(2_348_020_000_000 + Math.max(4, n - 19)),
        message_type: 'template',
        template_name: 'order_update',
        language: 'en',
        params: ['Ada', '1001'],
      }),
      submit_sm: async () => {
        const [answer] = await this.customer.smpp.submit('Hello', {
          to: SIMULATED_NUMBERS + digits,
        });
        return { status: answer?.status === 0 ? 200 : 503, body: {} };
      },
      'cancel sms': async () => {
        const id = this.#scheduled.shift();
        return id === undefined
          ? { status: 200, body: {} }
          : this.#call('DELETE', `/ng/v1/sms/${id}`);
      },
      'send email': post('/email/ng/v1/messages', {
        from: 'hello@demo.test',
        to: [email],
        subject: 'Hello',
        text: 'Hello',
      }),
      'put email contact': post('/email/ng/v1/contacts', { email, name: 'Ada' }),
      'erase contact': () =>
        this.#call('DELETE', `/email/ng/v1/contacts/person${n - 20}@example.com`),
      'add suppression': post('/email/ng/v1/suppressions', { email: `not${n}@example.com` }),
      call: post('/ng/v1/voice/calls', { from: '2348000000001', to: [to], code: '4821' }),
      order: post('/ng/v1/vas/orders', {
        to,
        product: 'airtime-ng',
        amount: '50',
        client_reference: `shop-${n}`,
      }),
      verification: post('/ng/v1/vas/verifications', { to, channel: 'sms' }),
      'list reports': get('/ng/v1/deliveryreports?limit=100'),
      live: get('/health/live'),
      ready: get('/health/ready'),
    };
  }

  async #send(to: string): Promise<Answer> {
    this.lanes.calling(to);
    const message = { from: 'ACME', to: [to], body: 'Hello', delivery_report: 'yes' };
    const answer = await this.#call('POST', '/ng/v1/sendsms', message);
    if (answer.status === 200) this.lanes.accepted(to, String(answer.body['reference_id']));
    return this.#noted(this.accepted, answer);
  }

  #noted(ids: string[], answer: Answer): Answer {
    if (answer.status === 200) ids.push(String(answer.body['reference_id']));
    return answer;
  }

  async #call(method: string, path: string, body?: unknown): Promise<Answer> {
    const secret = /^\/(whatsapp|email)\//.test(path) ? this.customer.key : this.customer.token;
    const response = await fetch(this.gateway.url + path, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(HANGS_AFTER),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  }
}

async function carriersFile(directory: string, url: string): Promise<string> {
  const path = join(directory, 'carriers.json');
  const carriers = {
    upstream: { type: 'http', url, token: newSecret('api_token') },
    simulated: { type: 'simulator' },
  };
  const routes = [
    { channel: 'sms', to: [UPSTREAM_NUMBERS], use: 'upstream' },
    { use: 'simulated' },
  ];
  await writeFile(path, JSON.stringify({ carriers, routes }));
  return path;
}

async function customerOf(
  gateway: RunningGateway,
  processes: Processes,
  settings: Readonly<Record<string, string>>,
): Promise<Customer> {
  const [token = ''] = await gateway.told(/tok_\w{49}/);
  const [key = ''] = await gateway.told(/svk_\w{49}/);
  const [, account = ''] = await gateway.told(/\(([^)]+)\) was made/);
  const added = await processes.dundunProcess(
    ['smpp', 'add', '--account', account, '--json'],
    settings,
  );
  if (added.code !== 0) throw new Error(added.stderr);
  const { system_id: systemId, password } = JSON.parse(added.stdout) as Record<string, string>;
  const port = Number(settings['SMPP_LISTEN']?.split(':')[1]);
  const pair = { systemId: systemId ?? '', password: password ?? '' };
  return { account, token, key, smpp: await SmppClient.bind(port, pair) };
}

/** The surfaces and statuses of answers that say that the gateway failed. */
export function failuresOf({ counts, hangs }: Answers): string[] {
  return [...[...counts.keys()].filter((key) => / 5\d\d$/.test(key)), ...hangs];
}

function none(): Answers {
  return { counts: new Map(), hangs: [], slowest: 0 };
}
