import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { COMMAND_STATUS, type MessageState, type PduOf } from '@dundun/smpp';
import { eventually } from '../../../../../test/support/eventually.js';
import { submission, TransportStage } from '../../../../../test/support/smpp/transport-stage.js';
import { UncertainFailure } from '../../message/errors.js';

Logger.overrideLogger(false);

describe('the outcome of a message over SMPP', () => {
  const stage = new TransportStage();

  describe('receipts', () => {
    it.each([
      ['text', '0000123', '123', '123'],
      ['hex', '1234ABCD', '0305441741', '305441741'],
      ['decimal', '305441741', '1234abcd', '305441741'],
    ] as const)(
      'receipts with ids written as %s find their message',
      async (idFormat, answered, reported, reference) => {
        await stage.started({ idFormat });
        stage.smsc.idOf = () => answered;
        stage.smsc.receiptIdOf = () => reported;
        expect(await stage.submit(submission())).toEqual({ reference });
        await stage.smsc.receipt(stage.submitted(0), 'undeliverable');
        expect(stage.reports).toMatchObject([
          {
            reference,
            recipient: '2348012345678',
            status: 'undelivered',
            rawStatus: 'UNDELIV',
            errorCode: null,
          },
        ]);
      },
    );

    it('a receipt is answered after the commit, and with ESME_RX_T_APPN while the store is unavailable', async () => {
      await stage.started();
      await stage.submit(submission());
      stage.storeIsAway = true;
      expect(await stage.smsc.receipt(stage.submitted(0), 'delivered')).toBe(
        COMMAND_STATUS.ESME_RX_T_APPN,
      );
      stage.storeIsAway = false;
      expect(await stage.smsc.receipt(stage.submitted(0), 'delivered')).toBe(0);
      expect(stage.reports).toHaveLength(1);
      await stage.transport.beforeApplicationShutdown();
      expect(await stage.smsc.receipt(stage.submitted(0), 'delivered')).toBe(
        COMMAND_STATUS.ESME_RX_T_APPN,
      );
    });

    it.each([
      'stat:DELIVRD id:ID1\0',
      'id:ID1\0 stat:DELIVRD',
      'id:ID1 text:Hi stat:DELIVRD err:000',
    ])('a receipt without TLVs and with the text %j is read', async (text) => {
      await stage.started();
      stage.smsc.idOf = () => 'ID1';
      await stage.submit(submission());
      const { source, destination } = stage.submitted(0).pdu;
      const shortMessage = Buffer.from(text, 'latin1');
      const receipt = {
        source: destination,
        destination: source,
        esmClass: 4,
        dataCoding: 0,
        shortMessage,
      };
      expect(await stage.smsc.inbound(receipt)).toBe(0);
      expect(stage.reports).toMatchObject([
        { reference: 'id1', status: 'delivered', errorCode: null },
      ]);
    });

    it('an SMSC that waits for the answer to a receipt before it answers the submit gets it', async () => {
      await stage.started();
      const answers: number[] = [];
      stage.smsc.holds = async () => {
        const last = stage.smsc.submitted.length - 1;
        answers.push(await stage.smsc.receipt(stage.submitted(last), 'delivered'));
      };
      const { reference } = await stage.submit(submission());
      expect(answers).toEqual([0]);
      expect(stage.reports).toMatchObject([{ reference, status: 'delivered' }]);
      expect(stage.reports[0]).not.toHaveProperty('submit');
      const long = submission('a'.repeat(400));
      const { reference: all } = await stage.submit(long);
      expect(answers).toEqual([0, 0, 0, 0]);
      await eventually(async () =>
        expect(stage.reports.at(-1)).toMatchObject({
          submissionId: long.id,
          reference: all,
          status: 'delivered',
        }),
      );
    });

    it('a long message is delivered when all of its parts are, in any order', async () => {
      await stage.started();
      const given = submission('a'.repeat(400));
      const { reference } = await stage.submit(given);
      for (const index of [2, 0, 0, 1])
        await stage.smsc.receipt(stage.submitted(index), 'delivered');
      expect(stage.reports.map(({ status }) => status)).toEqual([
        'sent',
        'sent',
        'sent',
        'delivered',
      ]);
      for (const report of stage.reports)
        expect(report).toMatchObject({ reference, submissionId: given.id });
    });

    it('a part that is not delivered decides the status of a long message', async () => {
      await stage.started();
      await stage.submit(submission('a'.repeat(400)));
      await stage.smsc.receipt(stage.submitted(0), 'delivered');
      await stage.smsc.receipt(stage.submitted(1), 'expired');
      expect(stage.reports.map(({ status }) => status)).toEqual(['sent', 'expired']);
    });
  });

  describe('a poll', () => {
    const sent = async (text: string) => {
      const given = submission(text);
      const { reference } = await stage.submit(given);
      const { id, channel, sender, recipients, firstSentAt } = given;
      return { submissionId: id, channel, sender, recipients, firstSentAt, reference };
    };
    const poll = (...of: Awaited<ReturnType<typeof sent>>[]) =>
      stage.transport.fetchReports(of, stage.signal);
    const finished = (index: number, state: MessageState) =>
      stage.smsc.states.set(stage.submitted(index).id, { state, doneDate: new Date() });

    it('a poll asks for known ids in the form of the answers, and reports only final states', async () => {
      await stage.started({ idFormat: 'hex' });
      stage.smsc.idOf = (count) => (0xabc + count).toString(16);
      const messages = [await sent('a'), await sent('b'), await sent('c')];
      finished(0, 'delivered');
      finished(1, 'enroute');
      expect(await poll(...messages)).toMatchObject([
        { submissionId: messages[0]?.submissionId, status: 'delivered', rawStatus: 'DELIVRD' },
      ]);
      expect(stage.smsc.queried).toEqual(['abc', 'abd', 'abe']);
    });

    it('a long message is delivered once all of its parts are, by receipts that other processes took or by answers', async () => {
      await stage.started();
      const message = await sent('a'.repeat(400));
      expect(message.reference).toBe(stage.smsc.submitted.map(({ id }) => id).join(' '));
      finished(0, 'delivered');
      expect(await poll(message)).toEqual([]);
      finished(1, 'delivered');
      const part = { status: 'sent', rawStatus: 'DELIVRD', errorCode: null, providerTime: null };
      const parts = [{ id: stage.submitted(2).id, ...part }] as const;
      const reports = await stage.transport.fetchReports([{ ...message, parts }], stage.signal);
      expect(reports).toMatchObject([{ status: 'delivered', reference: message.reference }]);
      finished(1, 'undeliverable');
      expect(await poll(message)).toMatchObject([{ status: 'undelivered' }]);
    });
  });

  describe('a cancel', () => {
    const sent = async (text: string) => {
      const given = submission(text, { sender: '20880' });
      const { reference } = await stage.submit(given);
      const { id, channel, sender, recipients, firstSentAt } = given;
      return { submissionId: id, channel, sender, recipients, firstSentAt, reference };
    };
    const cancel = (of: Awaited<ReturnType<typeof sent>>) =>
      stage.transport.cancel(of, stage.signal);

    it('a cancel names the message by the id of its answer, and reports a deleted message', async () => {
      await stage.started({ idFormat: 'hex', serviceType: 'CMT' });
      stage.smsc.idOf = () => 'abc';
      const message = await sent('a');
      expect(await cancel(message)).toMatchObject([
        {
          submissionId: message.submissionId,
          reference: '2748',
          status: 'failed',
          rawStatus: 'DELETED',
          errorCode: 'cancelled',
        },
      ]);
      expect(stage.smsc.cancelled).toMatchObject([
        {
          messageId: 'abc',
          serviceType: 'CMT',
          source: { ton: 3, npi: 0, address: '20880' },
          destination: { ton: 1, npi: 1, address: '2348012345678' },
        },
      ]);
    });

    it('a cancel of a long message names each part, and the message has failed once one is deleted', async () => {
      await stage.started();
      const message = await sent('a'.repeat(400));
      const ids = stage.smsc.submitted.map(({ id }) => id);
      stage.smsc.cancels = ({ messageId }) =>
        messageId === ids[0] ? COMMAND_STATUS.ESME_RCANCELFAIL : 0;
      expect(await cancel(message)).toMatchObject([{ status: 'failed' }]);
      expect(stage.smsc.cancelled.map(({ messageId }) => messageId)).toEqual(ids);
    });

    it.each(['ESME_RCANCELFAIL', 'ESME_RINVMSGID', 'ESME_RINVCMDID'] as const)(
      'a cancel that is refused with %s reports nothing',
      async (status) => {
        await stage.started();
        stage.smsc.cancels = () => COMMAND_STATUS[status];
        expect(await cancel(await sent('a'))).toEqual([]);
      },
    );

    it.each(['ESME_RTHROTTLED', 'ESME_RSYSERR'] as const)(
      'a cancel that is answered %s can be repeated',
      async (status) => {
        await stage.started();
        const message = await sent('a');
        stage.smsc.cancels = () => COMMAND_STATUS[status];
        await expect(cancel(message)).rejects.toMatchObject({ code: status });
      },
    );
  });

  describe('an answer that is missing', () => {
    it('a link that is lost with ten unanswered submits: each was sent once, and their receipts settle them', async () => {
      await stage.started({ window: 10 });
      stage.smsc.answer = () => 'no answer';
      const given = Array.from({ length: 10 }, (_, index) =>
        submission('Hello', { recipients: [String(2348012340000 + index)] }),
      );
      const failures = Promise.all(given.map((each) => stage.failureOf(each)));
      await eventually(async () => expect(stage.smsc.submitted).toHaveLength(10));
      stage.smsc.sessions[0]?.close();
      for (const failure of await failures) expect(failure).toBeInstanceOf(UncertainFailure);
      await eventually(async () => expect(stage.smsc.sessions).toHaveLength(1));
      for (const each of stage.smsc.submitted)
        expect(await stage.smsc.receipt(each, 'delivered')).toBe(0);
      expect(stage.reports.map(({ submissionId, status }) => [submissionId, status])).toEqual(
        given.map(({ id }) => [id, 'delivered']),
      );
      expect(stage.smsc.submitted).toHaveLength(10);
    });

    it('a receipt settles only the named one of two messages to one number', async () => {
      await stage.started();
      stage.smsc.answer = () => 'no answer';
      const given = [submission(), submission()];
      const failures = Promise.all(given.map((each) => stage.failureOf(each)));
      await eventually(async () => expect(stage.smsc.submitted).toHaveLength(2));
      stage.smsc.sessions[0]?.close();
      await failures;
      await eventually(async () => expect(stage.smsc.sessions).toHaveLength(1));
      await stage.smsc.receipt(stage.submitted(0), 'delivered');
      expect(stage.reports).toMatchObject([
        { submissionId: undefined, reference: stage.submitted(0).id },
      ]);
      const { userMessageReference } = stage.submitted(1).pdu.tlvs;
      await stage.smsc.receipt(stage.submitted(1), 'delivered', {
        userReference: userMessageReference as number,
      });
      expect(stage.reports[1]).toMatchObject({ submissionId: given[1]?.id, status: 'delivered' });
    });

    it('a receipt under the other form of a number settles its message, also before the answer', async () => {
      await stage.started();
      const recipients = ['5215512345678'];
      const underOtherForm = (index: number) => {
        const { pdu, ...submitted } = stage.submitted(index);
        const destination = { ...pdu.destination, address: '525512345678' };
        return { ...submitted, pdu: { ...pdu, destination } };
      };
      stage.smsc.holds = async () =>
        void (await stage.smsc.receipt(underOtherForm(0), 'delivered'));
      await stage.submit(submission('Hello', { recipients }));
      expect(stage.reports[0]).not.toHaveProperty('submit');
      stage.smsc.holds = () => Promise.resolve();
      stage.smsc.answer = () => 'close';
      const lost = submission('Hello', { recipients });
      expect(await stage.failureOf(lost)).toBeInstanceOf(UncertainFailure);
      await eventually(async () => expect(stage.smsc.sessions).toHaveLength(1));
      await stage.smsc.receipt(underOtherForm(1), 'delivered');
      expect(stage.reports.at(-1)).toMatchObject({ submissionId: lost.id, status: 'delivered' });
    });

    it('a receipt of another time settles no message', async () => {
      await stage.started();
      stage.smsc.answer = () => 'close';
      expect(await stage.failureOf(submission())).toBeInstanceOf(UncertainFailure);
      await eventually(async () => expect(stage.smsc.sessions).toHaveLength(1));
      await stage.smsc.receipt(stage.submitted(0), 'delivered', {
        submitDate: new Date(Date.now() - 600_000),
      });
      expect(stage.reports).toMatchObject([{ submissionId: undefined }]);
    });

    it('an answer after the time-out settles the message', async () => {
      await stage.started({ answerTimeout: 50, window: 2 });
      let answer = (): void => undefined;
      stage.smsc.answer = () => 0;
      const held = new Promise<void>((resolve) => (answer = resolve));
      const idOf = stage.smsc.idOf.bind(stage.smsc);
      let id = '';
      stage.smsc.idOf = (count) => (id = idOf(count));
      stage.smsc.holds = () => held;
      const given = submission();
      expect(await stage.failureOf(given)).toMatchObject({ code: 'no_answer' });
      answer();
      await eventually(async () =>
        expect(stage.reports).toMatchObject([
          { submissionId: given.id, reference: id, status: 'sent' },
        ]),
      );
      await stage.smsc.receipt(stage.submitted(0), 'delivered');
      expect(stage.reports[1]).toMatchObject({ submissionId: given.id, status: 'delivered' });
    });

    it('a throttled later part is tried again, and the parts before it are not', async () => {
      await stage.started();
      let throttled = 2;
      stage.smsc.answer = (pdu: PduOf<'submit_sm'>) =>
        stage.smsc.submitted.length === 1 && pdu.shortMessage.length > 0 && throttled-- > 0
          ? COMMAND_STATUS.ESME_RTHROTTLED
          : 0;
      const text = 'a'.repeat(400);
      await stage.submit(submission(text));
      expect(stage.smsc.texts).toEqual([text]);
      expect(stage.smsc.submitted).toHaveLength(3);
    });

    it('a message with a part that the SMSC never takes is uncertain, and is not sent again', async () => {
      await stage.started();
      stage.smsc.answer = () =>
        stage.smsc.submitted.length === 1 ? COMMAND_STATUS.ESME_RTHROTTLED : 0;
      const controller = new AbortController();
      const failure = stage.failureOf(submission('a'.repeat(400)), controller.signal);
      await eventually(async () => expect(stage.smsc.submitted).toHaveLength(1));
      controller.abort();
      expect(await failure).toBeInstanceOf(UncertainFailure);
    });
  });
});
