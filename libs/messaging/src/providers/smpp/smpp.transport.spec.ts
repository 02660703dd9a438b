import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { COMMAND_STATUS, parseSmppTime } from '@dundun/smpp';
import { certificates } from '../../../../../test/support/certificates.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { Smsc } from '../../../../../test/support/smpp/smsc.js';
import { submission, TransportStage } from '../../../../../test/support/smpp/transport-stage.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { PausedFailure, PermanentFailure, RetryableFailure } from '../../message/errors.js';
import { messageTransportContract, type TransportUnderTest } from '../../testing/index.js';
import { smpp, type SmppTransport } from './smpp.transport.js';

Logger.overrideLogger(false);

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
  const stage = new TransportStage();

  describe('a message', () => {
    it.each([
      ['ACME', { ton: 5, npi: 0, address: 'ACME' }],
      ['+2348011112222', { ton: 1, npi: 1, address: '2348011112222' }],
      ['20880', { ton: 3, npi: 0, address: '20880' }],
    ])('a message from %s has that type of number', async (sender, source) => {
      await stage.started({ serviceType: 'CMT' });
      await stage.submit(submission('Grüße für 5 €', { sender }));
      expect(stage.submitted(0).pdu).toMatchObject({
        source,
        destination: { ton: 1, npi: 1, address: '2348012345678' },
        serviceType: 'CMT',
        registeredDelivery: 1,
        dataCoding: 0,
      });
      expect(stage.smsc.texts).toEqual(['Grüße für 5 €']);
    });

    it.each(['udh', 'sar', 'payload'] as const)(
      'a long message by %s arrives unchanged',
      async (long) => {
        await stage.started({ long });
        const texts = [
          `${'lorem [ipsum] € '.repeat(30)}end`,
          `${'Привет 😀 '.repeat(30)}end`,
          'a'.repeat(160),
        ];
        for (const text of texts) await stage.submit(submission(text));
        expect(stage.smsc.texts).toEqual(texts);
      },
    );

    it('the validity of a message is that of the send, else that of the SMSC', async () => {
      await stage.started();
      const validUntil = new Date(Date.now() + 3_600_000);
      await stage.submit(submission('a', { validUntil }));
      await stage.submit(submission('b'));
      const [one, none] = stage.smsc.submitted.map(({ pdu }) => pdu.validityPeriod);
      const left = parseSmppTime(one ?? '')!.getTime() - validUntil.getTime();
      expect(Math.abs(left)).toBeLessThan(60_000);
      expect([one?.at(-1), none]).toEqual(['R', '']);
    });

    it('a receipt is asked for where the option says so', async () => {
      await stage.started({ reports: 'message' });
      await stage.submit(submission('a', { deliveryReport: false }));
      await stage.submit(submission('b', { deliveryReport: true }));
      expect(stage.smsc.submitted.map(({ pdu }) => pdu.registeredDelivery)).toEqual([0, 1]);
    });

    it.each([
      [COMMAND_STATUS.ESME_RTHROTTLED, PausedFailure, 'throttled'],
      [COMMAND_STATUS.ESME_RMSGQFUL, PausedFailure, 'throttled'],
      [COMMAND_STATUS.ESME_RSYSERR, RetryableFailure, 'ESME_RSYSERR'],
      [COMMAND_STATUS.ESME_RX_T_APPN, RetryableFailure, 'ESME_RX_T_APPN'],
      [COMMAND_STATUS.ESME_RINVDSTADR, PermanentFailure, 'ESME_RINVDSTADR'],
      [COMMAND_STATUS.ESME_RSUBMITFAIL, PermanentFailure, 'ESME_RSUBMITFAIL'],
      [0x0000_045c, RetryableFailure, '0x0000045c'],
    ])('the status %i becomes the failure that it means', async (status, kind, code) => {
      await stage.started({ refusals: { '0x0000045c': 'retryable' } });
      stage.smsc.answer = () => status;
      const failure = await stage.failureOf(submission());
      expect(failure).toBeInstanceOf(kind);
      expect(failure.code).toBe(code);
    });

    it('a field that SMPP cannot carry is refused and not sent', async () => {
      await stage.started();
      expect(await stage.failureOf(submission('x', { sender: 'Ω' }))).toBeInstanceOf(
        PermanentFailure,
      );
      expect(await stage.failureOf(submission('x', { channel: 'whatsapp' }))).toBeInstanceOf(
        PermanentFailure,
      );
      expect(await stage.failureOf(submission('x'.repeat(153 * 255 + 1)))).toMatchObject({
        code: 'too_long',
      });
      expect(stage.smsc.submitted).toEqual([]);
    });

    it('unanswered submits never exceed the windows of all binds', async () => {
      await stage.started({ binds: { transceiver: 1, transmitter: 1 }, window: 3 });
      expect(stage.transport.capabilities.connections).toBe(6);
      stage.smsc.answer = () => 'no answer';
      const ends = Array.from({ length: 8 }, () => stage.failureOf(submission()));
      await eventually(async () => expect(stage.smsc.submitted).toHaveLength(6));
      expect(
        stage.smsc.sessions.map(
          (session) => stage.smsc.submitted.filter((one) => one.session === session).length,
        ),
      ).toEqual([3, 3]);
      for (const session of stage.smsc.sessions) session.close();
      const kinds = (await Promise.all(ends)).map(({ name }) => name).toSorted();
      expect(kinds).toEqual([
        ...Array.from({ length: 2 }, () => 'PausedFailure'),
        ...Array.from({ length: 6 }, () => 'UncertainFailure'),
      ]);
    });
  });

  describe('a bind', () => {
    it('a refused bind pauses the provider with its reason, and is tried again', async () => {
      stage.smsc.bindStatus = COMMAND_STATUS.ESME_RINVPASWD;
      stage.make();
      const failure = await stage.failureOf(submission());
      expect(failure).toBeInstanceOf(PausedFailure);
      expect(failure).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('ESME_RINVPASWD'),
      });
      expect(failure.message).not.toContain('secret');
      stage.smsc.bindStatus = 0;
      await eventually(async () => void (await stage.submit(submission())));
    });

    it('a bind without a server pauses the provider, and succeeds once the server runs', async () => {
      await stage.started();
      await stage.smsc.stop();
      await eventually(async () => {
        const failure = await stage.failureOf(submission());
        expect(failure).toBeInstanceOf(PausedFailure);
        expect(failure.code).toBe('unreachable');
      });
      await stage.smsc.listen();
      await eventually(async () => void (await stage.submit(submission())));
      expect(stage.smsc.submitted).toHaveLength(1);
    });

    it('a bind over TLS needs a trusted certificate, and sends nothing without one', async () => {
      const { ca, of } = await certificates({ own: { name: '127.0.0.1' } });
      await stage.smsc.stop();
      stage.smsc = await Smsc.start(of.own);
      stage.make();
      expect(await stage.failureOf(submission())).toMatchObject({ code: 'unreachable' });
      await stage.transport.onApplicationShutdown();
      await stage.started({ ca });
      await stage.submit(submission());
      expect(stage.smsc.texts).toEqual(['Hello']);
    });

    it('a transmitter submits while the receiver takes the receipts', async () => {
      await stage.started({ binds: { transmitter: 1, receiver: 1 } });
      const { reference } = await stage.submit(submission());
      expect(stage.submitted(0).session.mode).toBe('transmitter');
      expect(await stage.smsc.receipt(stage.submitted(0), 'delivered')).toBe(0);
      expect(stage.reports).toMatchObject([{ reference, status: 'delivered' }]);
    });
  });
});
