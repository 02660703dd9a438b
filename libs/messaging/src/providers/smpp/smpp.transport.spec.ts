import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  COMMAND_STATUS,
  encodeText,
  type MessageState,
  parseSmppTime,
  type PduOf,
  splitMessage,
} from '@dundun/smpp';
import { certificates } from '../../../../../test/support/certificates.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { Smsc } from '../../../../../test/support/smpp/smsc.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  type SubmitFailure,
  UncertainFailure,
} from '../../message/errors.js';
import type { DeliveryReport, InboundMessage } from '../../message/events.js';
import type { Submission } from '../../ports/message-transport.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { smpp, type SmppTransport } from './smpp.transport.js';
import type { SmppOptions } from './smpp.options.js';

Logger.overrideLogger(false);

const BATCH = '019a0f3e-7c55-7000-8000-0123456789ab';
const { signal } = new AbortController();
let used = 0;
const submission = (text = 'Hello', changes: Partial<Submission> = {}): Submission => ({
  id: `${BATCH}-s${used++}`,
  batchId: BATCH,
  tenant: '',
  channel: 'sms',
  sender: 'ACME',
  content: { kind: 'text', text },
  recipients: ['2348012345678'],
  deliveryReport: 'yes',
  attempt: 1,
  dueAt: new Date('2026-11-24T10:00:00Z'),
  firstSentAt: new Date('2026-11-24T10:00:00Z'),
  ...changes,
});

interface UnderTest extends TransportUnderTest {
  readonly smsc: Smsc;
}

messageTransportContract<UnderTest>(
  'smpp',
  {
    start: async () => {
      const smsc = await Smsc.start();
      smsc.delivers = true;
      smsc.answer = ({ destination }) =>
        destination.address.startsWith('999') ? COMMAND_STATUS.ESME_RINVDSTADR : 0;
      const transport = smpp({ url: smsc.url })(transportContext()) as SmppTransport;
      const close = async () => {
        await transport.onApplicationShutdown();
        await smsc.stop();
      };
      return { transport, smsc, accepted: () => smsc.submitted.length, close };
    },
    sender: 'ACME',
    recipient: (index) => String(2348012345000 + index),
    most: 1,
    refused: { recipients: ['99912345678'] },
    lostAnswer: {
      arm: ({ smsc }) => {
        smsc.answer = () => 'close';
      },
      settles: false,
    },
    pushes: true,
    polls: true,
  },
  { describe, it },
);

describe('SMS over SMPP', () => {
  let smsc: Smsc;
  let transport: SmppTransport;
  let reports: DeliveryReport[];
  let inbound: InboundMessage[];
  let storeIsAway = false;

  beforeEach(async () => {
    smsc = await Smsc.start();
    [reports, inbound, storeIsAway] = [[], [], false];
  });
  afterEach(async () => {
    await transport.onApplicationShutdown();
    await smsc.stop();
  });

  /** The binds are made. */
  async function started(options: Partial<SmppOptions> = {}): Promise<void> {
    transport = smpp({ url: smsc.url, reconnect: 20, ...options })(
      transportContext(),
    ) as SmppTransport;
    const check = async (): Promise<void> => {
      if (storeIsAway) throw new Error('The store is away');
    };
    transport.listen(
      async (found) => {
        await check();
        reports.push(...found);
      },
      async (found) => {
        await check();
        inbound.push(...found);
      },
    );
    const { transceiver = 0, transmitter = 0, receiver = 0 } = options.binds ?? { transceiver: 1 };
    const count = transceiver + transmitter + receiver;
    await eventually(async () => expect(smsc.sessions).toHaveLength(count));
  }
  const failureOf = (given: Submission, own = signal): Promise<SubmitFailure> =>
    transport.submit(given, own).then(
      () => expect('a failure').toBe('none') as never,
      (error: SubmitFailure) => error,
    );
  const submitted = (index: number) => {
    const found = smsc.submitted[index];
    if (!found) throw new Error(`Nothing was submitted as ${index}`);
    return found;
  };

  describe('a message', () => {
    it.each([
      ['ACME', { ton: 5, npi: 0, address: 'ACME' }],
      ['+2348011112222', { ton: 1, npi: 1, address: '2348011112222' }],
      ['20880', { ton: 3, npi: 0, address: '20880' }],
    ])('from %s has that type of number', async (sender, source) => {
      await started({ serviceType: 'CMT' });
      await transport.submit(submission('Grüße für 5 €', { sender }), signal);
      expect(submitted(0).pdu).toMatchObject({
        source,
        destination: { ton: 1, npi: 1, address: '2348012345678' },
        serviceType: 'CMT',
        registeredDelivery: 1,
        dataCoding: 0,
      });
      expect(smsc.texts).toEqual(['Grüße für 5 €']);
    });

    it.each(['udh', 'sar', 'payload'] as const)(
      'long ones by %s arrive as they were',
      async (long) => {
        await started({ long });
        const texts = [
          `${'lorem [ipsum] € '.repeat(30)}end`,
          `${'Привет 😀 '.repeat(30)}end`,
          'a'.repeat(160),
        ];
        for (const text of texts) await transport.submit(submission(text), signal);
        expect(smsc.texts).toEqual(texts);
      },
    );

    it('its validity ends with that of the send; without one it has that of the SMSC', async () => {
      await started();
      const validUntil = new Date(Date.now() + 3_600_000);
      await transport.submit(submission('a', { validUntil }), signal);
      await transport.submit(submission('b'), signal);
      const [one, none] = smsc.submitted.map(({ pdu }) => pdu.validityPeriod);
      const left = parseSmppTime(one ?? '')!.getTime() - validUntil.getTime();
      expect(Math.abs(left)).toBeLessThan(60_000);
      expect([one?.at(-1), none]).toEqual(['R', '']);
    });

    it('a receipt is asked for where the option says so', async () => {
      await started({ reports: 'message' });
      await transport.submit(submission('a', { deliveryReport: 'none' }), signal);
      await transport.submit(submission('b', { deliveryReport: 'yes' }), signal);
      expect(smsc.submitted.map(({ pdu }) => pdu.registeredDelivery)).toEqual([0, 1]);
    });

    it.each([
      [COMMAND_STATUS.ESME_RTHROTTLED, PausedFailure, 'throttled'],
      [COMMAND_STATUS.ESME_RMSGQFUL, PausedFailure, 'throttled'],
      [COMMAND_STATUS.ESME_RSYSERR, RetryableFailure, 'ESME_RSYSERR'],
      [COMMAND_STATUS.ESME_RX_T_APPN, RetryableFailure, 'ESME_RX_T_APPN'],
      [COMMAND_STATUS.ESME_RINVDSTADR, PermanentFailure, 'ESME_RINVDSTADR'],
      [COMMAND_STATUS.ESME_RSUBMITFAIL, PermanentFailure, 'ESME_RSUBMITFAIL'],
      [0x0000_045c, RetryableFailure, '0x0000045c'],
    ])('the status %i is the failure that it means', async (status, kind, code) => {
      await started({ refusals: { '0x0000045c': 'retryable' } });
      smsc.answer = () => status;
      const failure = await failureOf(submission());
      expect(failure).toBeInstanceOf(kind);
      expect(failure.code).toBe(code);
    });

    it('a field that SMPP cannot carry is refused and not sent', async () => {
      await started();
      expect(await failureOf(submission('x', { sender: 'Ω' }))).toBeInstanceOf(PermanentFailure);
      expect(await failureOf(submission('x', { channel: 'whatsapp' }))).toBeInstanceOf(
        PermanentFailure,
      );
      expect(await failureOf(submission('x'.repeat(153 * 255 + 1)))).toMatchObject({
        code: 'too_long',
      });
      expect(smsc.submitted).toEqual([]);
    });

    it('never more than the window of all binds is without an answer', async () => {
      await started({ binds: { transceiver: 1, transmitter: 1 }, window: 3 });
      expect(transport.capabilities.connections).toBe(6);
      smsc.answer = () => 'no answer';
      const ends = Array.from({ length: 8 }, () => failureOf(submission()));
      await eventually(async () => expect(smsc.submitted).toHaveLength(6));
      expect(
        smsc.sessions.map(
          (session) => smsc.submitted.filter((one) => one.session === session).length,
        ),
      ).toEqual([3, 3]);
      for (const session of smsc.sessions) session.close();
      const kinds = (await Promise.all(ends)).map(({ name }) => name).toSorted();
      expect(kinds).toEqual([
        ...Array.from({ length: 2 }, () => 'PausedFailure'),
        ...Array.from({ length: 6 }, () => 'UncertainFailure'),
      ]);
    });
  });

  describe('a bind', () => {
    it('that is refused pauses the provider with its reason, and is made again', async () => {
      smsc.bindStatus = COMMAND_STATUS.ESME_RINVPASWD;
      transport = smpp({ url: smsc.url, reconnect: 20 })(transportContext()) as SmppTransport;
      const failure = await failureOf(submission());
      expect(failure).toBeInstanceOf(PausedFailure);
      expect(failure).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('ESME_RINVPASWD'),
      });
      expect(failure.message).not.toContain('secret');
      smsc.bindStatus = 0;
      await eventually(async () => void (await transport.submit(submission(), signal)));
    });

    it('without a server pauses the provider, and is made once it is there', async () => {
      await started();
      await smsc.stop();
      await eventually(async () => {
        const failure = await failureOf(submission());
        expect(failure).toBeInstanceOf(PausedFailure);
        expect(failure.code).toBe('unreachable');
      });
      await smsc.listen();
      await eventually(async () => void (await transport.submit(submission(), signal)));
      expect(smsc.submitted).toHaveLength(1);
    });

    it('over TLS is made where the certificate is trusted, and sends nothing where it is not', async () => {
      const { ca, of } = await certificates({ own: { name: '127.0.0.1' } });
      await smsc.stop();
      smsc = await Smsc.start(of.own);
      transport = smpp({ url: smsc.url, reconnect: 20 })(transportContext()) as SmppTransport;
      expect(await failureOf(submission())).toMatchObject({ code: 'unreachable' });
      await transport.onApplicationShutdown();
      await started({ ca });
      await transport.submit(submission(), signal);
      expect(smsc.texts).toEqual(['Hello']);
    });

    it('a transmitter submits while the receiver takes the receipts', async () => {
      await started({ binds: { transmitter: 1, receiver: 1 } });
      const { reference } = await transport.submit(submission(), signal);
      expect(submitted(0).session.mode).toBe('transmitter');
      expect(await smsc.receipt(submitted(0), 'delivered')).toBe(0);
      expect(reports).toMatchObject([{ reference, status: 'delivered' }]);
    });
  });

  describe('receipts', () => {
    it.each([
      ['text', '0000123', '123', '123'],
      ['hex', '1234ABCD', '0305441741', '305441741'],
      ['decimal', '305441741', '1234abcd', '305441741'],
    ] as const)(
      'ids written as %s find their message',
      async (idFormat, answered, reported, reference) => {
        await started({ idFormat });
        smsc.idOf = () => answered;
        smsc.receiptIdOf = () => reported;
        expect(await transport.submit(submission(), signal)).toEqual({ reference });
        await smsc.receipt(submitted(0), 'undeliverable');
        expect(reports).toMatchObject([
          {
            reference,
            recipient: '2348012345678',
            status: 'undelivered',
            rawStatus: 'UNDELIV',
            errorCode: '000',
          },
        ]);
      },
    );

    it('is answered after the commit, and ESME_RX_T_APPN while the store is away', async () => {
      await started();
      await transport.submit(submission(), signal);
      storeIsAway = true;
      expect(await smsc.receipt(submitted(0), 'delivered')).toBe(COMMAND_STATUS.ESME_RX_T_APPN);
      storeIsAway = false;
      expect(await smsc.receipt(submitted(0), 'delivered')).toBe(0);
      expect(reports).toHaveLength(1);
      await transport.beforeApplicationShutdown();
      expect(await smsc.receipt(submitted(0), 'delivered')).toBe(COMMAND_STATUS.ESME_RX_T_APPN);
    });

    it('a long message is delivered when all of its parts are, in any order', async () => {
      await started();
      const given = submission('a'.repeat(400));
      const { reference } = await transport.submit(given, signal);
      for (const index of [2, 0, 0, 1]) await smsc.receipt(submitted(index), 'delivered');
      expect(reports.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent', 'delivered']);
      for (const report of reports)
        expect(report).toMatchObject({ reference, submissionId: given.id });
    });

    it('a part that is not delivered decides', async () => {
      await started();
      await transport.submit(submission('a'.repeat(400)), signal);
      await smsc.receipt(submitted(0), 'delivered');
      await smsc.receipt(submitted(1), 'expired');
      expect(reports.map(({ status }) => status)).toEqual(['sent', 'expired']);
    });
  });

  describe('a poll', () => {
    const sent = async (text: string) => {
      const given = submission(text);
      const { reference } = await transport.submit(given, signal);
      const { id, channel, sender, recipients, firstSentAt } = given;
      return { submissionId: id, channel, sender, recipients, firstSentAt, reference };
    };
    const poll = (...of: Awaited<ReturnType<typeof sent>>[]) => transport.fetchReports(of, signal);
    const finished = (index: number, state: MessageState) =>
      smsc.states.set(submitted(index).id, { state, doneDate: new Date() });

    it('asks after known ids in the form of the answers, and reports final states alone', async () => {
      await started({ idFormat: 'hex' });
      smsc.idOf = (count) => (0xabc + count).toString(16);
      const messages = [await sent('a'), await sent('b'), await sent('c')];
      finished(0, 'delivered');
      finished(1, 'enroute');
      expect(await poll(...messages)).toMatchObject([
        { submissionId: messages[0]?.submissionId, status: 'delivered', rawStatus: 'DELIVRD' },
      ]);
      expect(smsc.queried).toEqual(['abc', 'abd', 'abe']);
    });

    it('a long message is delivered once all of its parts are, by receipts that other processes took or by answers', async () => {
      await started();
      const message = await sent('a'.repeat(400));
      expect(message.reference).toBe(smsc.submitted.map(({ id }) => id).join(' '));
      finished(0, 'delivered');
      expect(await poll(message)).toEqual([]);
      finished(1, 'delivered');
      const part = { status: 'sent', rawStatus: 'DELIVRD', errorCode: null, providerTime: null };
      const parts = [{ id: submitted(2).id, ...part }] as const;
      const reports = await transport.fetchReports([{ ...message, parts }], signal);
      expect(reports).toMatchObject([{ status: 'delivered', reference: message.reference }]);
      finished(1, 'undeliverable');
      expect(await poll(message)).toMatchObject([{ status: 'undelivered' }]);
    });
  });

  describe('an answer that is missing', () => {
    it('a link that is lost with ten unanswered submits: each was sent once, and their receipts settle them', async () => {
      await started({ window: 10 });
      smsc.answer = () => 'no answer';
      const given = Array.from({ length: 10 }, (_, index) =>
        submission('Hello', { recipients: [String(2348012340000 + index)] }),
      );
      const failures = Promise.all(given.map((each) => failureOf(each)));
      await eventually(async () => expect(smsc.submitted).toHaveLength(10));
      smsc.sessions[0]?.close();
      for (const failure of await failures) expect(failure).toBeInstanceOf(UncertainFailure);
      await eventually(async () => expect(smsc.sessions).toHaveLength(1));
      for (const each of smsc.submitted) expect(await smsc.receipt(each, 'delivered')).toBe(0);
      expect(reports.map(({ submissionId, status }) => [submissionId, status])).toEqual(
        given.map(({ id }) => [id, 'delivered']),
      );
      expect(smsc.submitted).toHaveLength(10);
    });

    it('of two to one number only the one that the receipt names is settled', async () => {
      await started();
      smsc.answer = () => 'no answer';
      const given = [submission(), submission()];
      const failures = Promise.all(given.map((each) => failureOf(each)));
      await eventually(async () => expect(smsc.submitted).toHaveLength(2));
      smsc.sessions[0]?.close();
      await failures;
      await eventually(async () => expect(smsc.sessions).toHaveLength(1));
      await smsc.receipt(submitted(0), 'delivered');
      expect(reports).toMatchObject([{ submissionId: undefined, reference: submitted(0).id }]);
      const { userMessageReference } = submitted(1).pdu.tlvs;
      await smsc.receipt(submitted(1), 'delivered', {
        userReference: userMessageReference as number,
      });
      expect(reports[1]).toMatchObject({ submissionId: given[1]?.id, status: 'delivered' });
    });

    it('a receipt of another time settles nothing', async () => {
      await started();
      smsc.answer = () => 'close';
      expect(await failureOf(submission())).toBeInstanceOf(UncertainFailure);
      await eventually(async () => expect(smsc.sessions).toHaveLength(1));
      await smsc.receipt(submitted(0), 'delivered', { submitDate: new Date(Date.now() - 600_000) });
      expect(reports).toMatchObject([{ submissionId: undefined }]);
    });

    it('an answer that comes after its time settles the message', async () => {
      await started({ answerTimeout: 50, window: 2 });
      let answer = (): void => undefined;
      smsc.answer = () => 0;
      const held = new Promise<void>((resolve) => (answer = resolve));
      const idOf = smsc.idOf.bind(smsc);
      let id = '';
      smsc.idOf = (count) => (id = idOf(count));
      smsc.holds = () => held;
      const given = submission();
      expect(await failureOf(given)).toMatchObject({ code: 'no_answer' });
      answer();
      await eventually(async () =>
        expect(reports).toMatchObject([{ submissionId: given.id, reference: id, status: 'sent' }]),
      );
      await smsc.receipt(submitted(0), 'delivered');
      expect(reports[1]).toMatchObject({ submissionId: given.id, status: 'delivered' });
    });

    it('a later part that is throttled is tried again, the parts before it are not', async () => {
      await started();
      let throttled = 2;
      smsc.answer = (pdu: PduOf<'submit_sm'>) =>
        smsc.submitted.length === 1 && pdu.shortMessage.length > 0 && throttled-- > 0
          ? COMMAND_STATUS.ESME_RTHROTTLED
          : 0;
      const text = 'a'.repeat(400);
      await transport.submit(submission(text), signal);
      expect(smsc.texts).toEqual([text]);
      expect(smsc.submitted).toHaveLength(3);
    });

    it('parts that cannot be completed are uncertain, never a new message', async () => {
      await started();
      smsc.answer = () => (smsc.submitted.length === 1 ? COMMAND_STATUS.ESME_RTHROTTLED : 0);
      const controller = new AbortController();
      const failure = failureOf(submission('a'.repeat(400)), controller.signal);
      await eventually(async () => expect(smsc.submitted).toHaveLength(1));
      controller.abort();
      expect(await failure).toBeInstanceOf(UncertainFailure);
    });
  });

  describe('inbound messages', () => {
    const from = { ton: 1, npi: 1, address: '2348012345678' };
    const to = { ton: 3, npi: 0, address: '20880' };
    const message = (text: string) => {
      const { dataCoding, bytes } = encodeText(text);
      return { source: from, destination: to, dataCoding, shortMessage: bytes };
    };

    it('a text is stored, and equal ones are two', async () => {
      await started();
      expect(await smsc.inbound(message('Да'))).toBe(0);
      expect(await smsc.inbound(message('Да'))).toBe(0);
      expect(inbound).toMatchObject([
        { channel: 'sms', from: '2348012345678', to: '20880', text: 'Да' },
        { text: 'Да' },
      ]);
      expect(inbound[0]?.messageId).not.toBe(inbound[1]?.messageId);
    });

    it('one that comes again after a refusal, or on a new connection, has its id', async () => {
      await started();
      await smsc.inbound(message('YES'));
      const [first] = inbound;
      smsc.sessions[0]?.close();
      await eventually(async () => expect(smsc.sessions).toHaveLength(1));
      await smsc.inbound(message('YES'));
      expect(inbound[1]?.messageId).toBe(first?.messageId);
    });

    it('parts become one message, also where its last part was refused first', async () => {
      await started();
      const text = 'lorem ipsum '.repeat(30);
      const parts = splitMessage(encodeText(text), { reference: 3 });
      const body = (index: number) => ({ ...message(''), ...parts[index] });
      await smsc.inbound(body(2));
      await smsc.inbound(body(0));
      storeIsAway = true;
      expect(await smsc.inbound(body(1))).toBe(COMMAND_STATUS.ESME_RX_T_APPN);
      storeIsAway = false;
      expect(await smsc.inbound(body(1))).toBe(0);
      expect(inbound).toMatchObject([{ text }]);
    });

    it('a text that looks like a receipt is a message', async () => {
      await started();
      await smsc.inbound(message('id:1000000 stat:DELIVRD'));
      expect([reports, inbound.length]).toEqual([[], 1]);
    });
  });
});
