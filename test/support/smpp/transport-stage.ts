import { afterEach, beforeEach } from '@jest/globals';
import type { SubmitFailure } from '../../../libs/messaging/src/message/errors.js';
import type { DeliveryReport, InboundMessage } from '../../../libs/messaging/src/message/events.js';
import type { Submission } from '../../../libs/messaging/src/ports/message-transport.js';
import type { SmppOptions } from '../../../libs/messaging/src/providers/smpp/smpp.options.js';
import {
  smpp,
  type SmppTransport,
} from '../../../libs/messaging/src/providers/smpp/smpp.transport.js';
import { eventually } from '../eventually.js';
import { transportContext } from '../transport-context.js';
import { Smsc, type Submitted } from './smsc.js';

const BATCH = '019a0f3e-7c55-7000-8000-0123456789ab';
let used = 0;

export function submission(text = 'Hello', changes: Partial<Submission> = {}): Submission {
  return {
    id: `${BATCH}-s${used++}`,
    batchId: BATCH,
    tenant: '',
    channel: 'sms',
    sender: 'ACME',
    content: { kind: 'text', text },
    recipients: ['2348012345678'],
    deliveryReport: true,
    attempt: 1,
    dueAt: new Date('2026-11-24T10:00:00Z'),
    firstSentAt: new Date('2026-11-24T10:00:00Z'),
    ...changes,
  };
}

/** A transport and its SMSC, new for each test of the suite. */
export class TransportStage {
  smsc!: Smsc;
  transport!: SmppTransport;
  reports: DeliveryReport[] = [];
  inbound: InboundMessage[] = [];
  storeIsAway = false;
  readonly signal = new AbortController().signal;

  constructor() {
    beforeEach(async () => {
      this.smsc = await Smsc.start();
      [this.reports, this.inbound, this.storeIsAway] = [[], [], false];
    });
    afterEach(async () => {
      await this.transport.onApplicationShutdown();
      await this.smsc.stop();
    });
  }

  /** Without a bind. */
  make(options: Partial<SmppOptions> = {}): void {
    const factory = smpp({ url: this.smsc.url, reconnect: 20, ...options });
    this.transport = factory(transportContext()) as SmppTransport;
  }

  /** The binds are made. */
  async started(options: Partial<SmppOptions> = {}): Promise<void> {
    this.make(options);
    const check = async (): Promise<void> => {
      if (this.storeIsAway) throw new Error('The store is away');
    };
    this.transport.listen(
      async (found) => {
        await check();
        this.reports.push(...found);
      },
      async (found) => {
        await check();
        this.inbound.push(...found);
      },
    );
    const { transceiver = 0, transmitter = 0, receiver = 0 } = options.binds ?? { transceiver: 1 };
    const count = transceiver + transmitter + receiver;
    await eventually(async () => {
      const { length } = this.smsc.sessions.filter(({ isBound }) => isBound);
      if (length !== count) throw new Error(`The SMSC has ${length} binds, not ${count}`);
    });
    // The answer to a later request: the transport has read that of the bind.
    await Promise.all(this.smsc.sessions.map((session) => session.control('enquire_link', {})));
  }

  submit(given: Submission): Promise<{ readonly reference: string }> {
    return this.transport.submit(given, this.signal);
  }

  failureOf(given: Submission, own = this.signal): Promise<SubmitFailure> {
    return this.transport.submit(given, own).then(
      () => {
        throw new Error('The submission was accepted');
      },
      (error: SubmitFailure) => error,
    );
  }

  submitted(index: number): Submitted {
    const found = this.smsc.submitted[index];
    if (!found) throw new Error(`Nothing was submitted as ${index}`);
    return found;
  }
}
