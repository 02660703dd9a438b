import { setTimeout } from 'node:timers/promises';
import { inFlight } from '../harness/in.flight.js';
import { cpuMilliseconds } from '../harness/process.usage.js';
import type { GatewayRelay } from '../kannel/gateway.relay.js';
import { CONNECTIONS } from '../kannel/relay.js';
import type { BareRelay } from './bare.relay.js';

export const STAGES = ['accept', 'send', 'report', 'tell'] as const;
export const WHOLE = 'whole';
export type Stage = (typeof STAGES)[number] | typeof WHOLE;

export interface Sample {
  /** Messages a second. */
  readonly rate: number;
  /** CPU microseconds of the gateway for a message. */
  readonly cpu: number;
}

/** The sides of a round: the stages of the gateway and the whole way, and both of the bare program. */
export type Measured = Stage | 'bare' | 'bareTell';

/** Callbacks of a message: `sent` and `delivered`. */
const CALLBACKS = 2;

/** Milliseconds in which the gateway ends its background work. */
export const REST = 400;

/** Milliseconds in which a gateway accepts all messages: at first, then a multiple of the last time. */
const ACCEPTED_WITHIN = { first: 15_000, times: 3, least: 2_000 };

/**
 * Each stage of some messages by itself. The first three run on a gateway whose customer has no
 * webhook: messages are accepted for a later time, sent when it comes, and reported once all are sent.
 * The callbacks are those of the whole way on the other gateway, told once more.
 */
export class Stages {
  #acceptedWithin = ACCEPTED_WITHIN.first;

  constructor(
    private readonly messages: number,
    private readonly profiled: boolean,
  ) {}

  async alone(relay: GatewayRelay) {
    const { messages } = this;
    const { gateway, load, carrier } = relay;
    await carrier.call('hold', true);
    const sendAt = new Date(Date.now() + this.#acceptedWithin);
    const later = `,"send_at":"${sendAt.toISOString()}"}`;
    const accept = await this.#measure(gateway, 'accept', () =>
      timed(
        inFlight(messages, CONNECTIONS, (n) => load.post(relay.bodyOf(n).slice(0, -1) + later)),
      ),
    );
    const { times, least } = ACCEPTED_WITHIN;
    this.#acceptedWithin = Math.max(least, (times * messages * 1_000) / accept.rate);
    if (Date.now() > sendAt.getTime()) throw new Error('accepting took longer than expected');
    const send = await this.#measure(gateway, 'send', () =>
      carrier.call<number>('arrivals', messages),
    );
    const report = await this.#measure(gateway, 'report', () => timed(carrier.call('report')));
    await carrier.call('hold', false);
    return { accept, send, report };
  }

  /** Milliseconds from the first request of a customer to the last callback that a customer receives. */
  async told(relay: Pick<GatewayRelay, 'load' | 'customer' | 'bodyOf'>): Promise<number> {
    const { messages } = this;
    const { load, customer } = relay;
    const told = customer.call('hearAll', messages * CALLBACKS);
    return timed(
      Promise.all([inFlight(messages, CONNECTIONS, (n) => load.post(relay.bodyOf(n))), told]),
    );
  }

  async together(relay: GatewayRelay) {
    const { messages } = this;
    const { gateway, customer, headers, webhook } = relay;
    const since = new Date(Date.now() - 1).toISOString();
    const whole = await this.#measure(gateway, WHOLE, () => this.told(relay));
    const tell = await this.#measure(gateway, 'tell', async () => {
      const told = customer.call('hearAll', messages * CALLBACKS);
      const answer = await fetch(`${gateway.url}/ng/v1/webhooks/${webhook}/redeliver`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ since }),
      });
      if (!answer.ok) throw new Error(`redelivery was answered ${answer.status}`);
      return timed(told);
    });
    return { whole, tell };
  }

  /** The whole way of the bare program, and its callbacks once more. */
  async bare(relay: BareRelay) {
    const { messages } = this;
    const { customer, worker } = relay;
    const bare = await this.#measure(worker, WHOLE, () => this.told(relay));
    const bareTell = await this.#measure(worker, 'tell', () => {
      const told = customer.call('hearAll', messages * CALLBACKS);
      return timed(Promise.all([worker.call('redeliver', messages * CALLBACKS), told]));
    });
    return { bare, bareTell };
  }

  /** @param run resolves with its milliseconds */
  async #measure(
    gateway: Pick<GatewayRelay['gateway'], 'pid'> & Partial<GatewayRelay['gateway']>,
    stage: Stage,
    run: () => Promise<number>,
  ): Promise<Sample> {
    if (this.profiled) await gateway.profile?.(stage);
    const before = cpuMilliseconds(gateway.pid);
    const ms = await run();
    await setTimeout(REST);
    const cpu = ((cpuMilliseconds(gateway.pid) - before) * 1_000) / this.messages;
    if (this.profiled) await gateway.profile?.(null);
    return { rate: (this.messages / ms) * 1_000, cpu };
  }
}

async function timed(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}
