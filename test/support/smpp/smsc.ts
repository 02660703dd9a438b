import type { TlsOptions } from 'node:tls';
import {
  COMMAND_STATUS,
  decodeText,
  formatAbsoluteTime,
  MessageAssembler,
  MESSAGE_STATE,
  messageOf,
  type MessageState,
  type PduOf,
  type SmppAddress,
  SmppServer,
  type SmppSession,
  writeReceipt,
} from '@dundun/smpp';

export interface Submitted {
  readonly pdu: PduOf<'submit_sm'>;
  readonly id: string;
  readonly session: SmppSession;
}

/** Answer to a submit: a status (0 accepts), none, or the end of the connection. */
type Answer = number | 'no answer' | 'close';

/** An SMSC on loopback that accepts everything, and delivers only what a test asks for. */
export class Smsc {
  readonly submitted: Submitted[] = [];
  /** Answers to submits; 0 accepts. */
  answer: (pdu: PduOf<'submit_sm'>) => Answer = () => COMMAND_STATUS.ESME_ROK;
  /** The id as the answer has it. */
  idOf: (count: number) => string = (count) => String(1_000_000 + count);
  /** The same id as receipts have it. */
  receiptIdOf: (id: string) => string = (id) => id;
  /** Resolves when an answer may leave. */
  holds: () => Promise<void> = () => Promise.resolve();
  /** Delivers each message at once. */
  delivers = false;
  /** States of the messages that `query_sm` finds, by the id as answers have it. */
  readonly states = new Map<string, { readonly state: MessageState; readonly doneDate: Date }>();
  knowsQueries = true;
  /** Status of the answer to `cancel_sm`; 0 deletes the message. */
  cancels: (pdu: PduOf<'cancel_sm'>) => number = () => COMMAND_STATUS.ESME_ROK;
  /** Each `cancel_sm`. */
  readonly cancelled: PduOf<'cancel_sm'>[] = [];
  /** Ids that were asked after. */
  readonly queried: string[] = [];
  bindStatus: number = COMMAND_STATUS.ESME_ROK;
  /** Binds at a time; a further one is refused with `ESME_RBINDFAIL`, and counted. */
  mostBinds = Infinity;
  refusedBinds = 0;
  #count = 0;
  #server: SmppServer;
  #port = 0;

  private constructor(
    private readonly tls?: TlsOptions,
    private readonly enquireLink = 30_000,
  ) {
    this.#server = this.#make();
  }

  /**
   * @param tls key and certificate for `smpps://`
   * @param enquireLink silence of a bind after which it is asked, in milliseconds
   */
  static async start(tls?: TlsOptions, enquireLink?: number): Promise<Smsc> {
    const smsc = new Smsc(tls, enquireLink);
    await smsc.listen();
    return smsc;
  }

  get url(): string {
    return `${this.tls ? 'smpps' : 'smpp'}://tester:secret@127.0.0.1:${this.#port}`;
  }

  get sessions(): readonly SmppSession[] {
    return this.#server.sessions;
  }

  /** Texts as the phones have them, long ones joined, in the order of their last parts. */
  get texts(): string[] {
    const assembler = new MessageAssembler();
    return this.submitted.flatMap(({ pdu }) => {
      const { bytes, concatenation } = messageOf(pdu);
      const to = pdu.destination.address;
      const whole = concatenation ? assembler.add(to, concatenation, bytes) : bytes;
      return whole ? [decodeText(whole, pdu.dataCoding) ?? ''] : [];
    });
  }

  /** On its port again after `stop()`. */
  async listen(): Promise<void> {
    this.#port = (await this.#server.listen({ host: '127.0.0.1', port: this.#port })).port;
  }

  async stop(): Promise<void> {
    // No unbind: the machine is gone.
    for (const session of this.sessions) session.close();
    await this.#server.close();
    this.#server = this.#make();
  }

  /** Sends a receipt; resolves with the status of its answer. */
  async receipt(
    { pdu, id }: Pick<Submitted, 'pdu' | 'id'>,
    state: MessageState,
    changes: {
      readonly on?: SmppSession;
      readonly submitDate?: Date;
      readonly userReference?: number;
    } = {},
  ): Promise<number> {
    const { on = this.#receiver(), submitDate = new Date(), userReference } = changes;
    // Receipts have no seconds.
    const doneDate = new Date(Math.floor(Date.now() / 60_000) * 60_000);
    const written = writeReceipt({
      messageId: this.receiptIdOf(id),
      state,
      submitDate,
      doneDate,
    });
    this.states.set(id, { state, doneDate });
    const tlvs = {
      ...written.tlvs,
      ...(userReference !== undefined && { userMessageReference: userReference }),
    };
    const { source, destination } = pdu;
    const answer = await on.request('deliver_sm', {
      source: destination,
      destination: source,
      ...written,
      tlvs,
    });
    return answer.status;
  }

  /** Sends an inbound message. */
  async inbound(body: {
    readonly source: SmppAddress;
    readonly destination: SmppAddress;
    readonly dataCoding: number;
    readonly shortMessage: Buffer;
    readonly esmClass?: number;
  }): Promise<number> {
    return (await this.#receiver().request('deliver_sm', body)).status;
  }

  #receiver(): SmppSession {
    const session = this.sessions.find(({ mode }) => mode !== 'transmitter');
    if (!session) throw new Error('There is no receiver');
    return session;
  }

  #make(): SmppServer {
    return new SmppServer({
      authenticate: ({ systemId, password }) => {
        if (systemId !== 'tester' || password !== 'secret')
          return { status: COMMAND_STATUS.ESME_RINVPASWD };
        if (this.sessions.length < this.mostBinds) return { status: this.bindStatus };
        this.refusedBinds++;
        return { status: COMMAND_STATUS.ESME_RBINDFAIL };
      },
      enquireLinkInterval: this.enquireLink,
      ...(this.tls && { tls: this.tls }),
      receiveWindow: 1_000,
      responseTimeout: 5_000,
      handlers: {
        submit_sm: (pdu, session) => this.#submit(pdu, session as SmppSession),
        cancel_sm: (pdu) => {
          this.cancelled.push(pdu);
          return { status: this.cancels(pdu) };
        },
        query_sm: ({ messageId }) => {
          if (!this.knowsQueries) return { status: COMMAND_STATUS.ESME_RINVCMDID, messageId };
          this.queried.push(messageId);
          const found = this.states.get(messageId);
          if (!found) return { status: COMMAND_STATUS.ESME_RQUERYFAIL, messageId };
          const finalDate = formatAbsoluteTime(found.doneDate);
          return { messageId, finalDate, messageState: MESSAGE_STATE[found.state], errorCode: 0 };
        },
      },
    });
  }

  async #submit(pdu: PduOf<'submit_sm'>, session: SmppSession) {
    const status = this.answer(pdu);
    if (typeof status === 'number' && status !== 0) return { status };
    const id = this.idOf(this.#count++);
    const submitted = { pdu: { ...pdu, shortMessage: Buffer.from(pdu.shortMessage) }, id, session };
    this.submitted.push(submitted);
    if (status === 'close') session.close();
    if (status === 'no answer') await new Promise(() => undefined);
    await this.holds();
    if (this.delivers) setImmediate(() => void this.#deliver(submitted));
    return { messageId: id };
  }

  /** Until the receipt is taken. */
  async #deliver(submitted: Submitted): Promise<void> {
    for (;;) {
      const status = await this.receipt(submitted, 'delivered').catch(() => undefined);
      if (status === undefined || status === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
