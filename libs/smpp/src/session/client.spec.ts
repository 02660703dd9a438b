import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type ScriptedPeer, ScriptedSmsc } from '../../../../test/support/smpp/scripted-peer.js';
import { COMMAND_STATUS } from '../command-status.js';
import { encodePdu } from '../codec/encode.js';
import type { PduInput } from '../codec/pdu.js';
import { SmppValueError } from '../errors.js';
import { connectSmpp, type ConnectOptions } from './client.js';
import type { SmppSession } from './session.js';
import { SmppBindError, SmppConnectError, SmppNotSentError } from './session-errors.js';
import type { LateAnswer, SessionClosed } from './session-options.js';

const destination = { ton: 1, npi: 1, address: '2348012345678' };
const hello = { destination, shortMessage: Buffer.from('Hello') };
const LONG = 60_000;

describe('a client session', () => {
  let smsc: ScriptedSmsc;
  const sessions: SmppSession[] = [];

  beforeEach(async () => {
    smsc = await ScriptedSmsc.start();
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.close();
    await smsc.stop();
  });

  const options = (more: Partial<ConnectOptions> = {}): ConnectOptions => ({
    host: '127.0.0.1',
    port: smsc.port,
    systemId: 'tester',
    password: 'secret',
    responseTimeout: LONG,
    ...more,
  });
  async function connected(
    more: Partial<ConnectOptions> = {},
  ): Promise<[SmppSession, ScriptedPeer]> {
    const session = await connectSmpp(options(more));
    sessions.push(session);
    return [session, await smsc.peer()];
  }
  const closed = async (session: SmppSession): Promise<SessionClosed> =>
    ((await once(session, 'close')) as [SessionClosed])[0];
  const answer = (peer: ScriptedPeer, sequence: number, messageId = String(sequence)): void =>
    peer.write({ command: 'submit_sm_resp', sequence, messageId });
  const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => expect('an error').toBe('none'),
      (error: unknown) => error,
    );

  describe('bind', () => {
    it.each(['transmitter', 'receiver', 'transceiver'] as const)(
      'binds as %s with its fields',
      async (mode) => {
        const [session, peer] = await connected({ mode, systemType: 'SMPP', addressRange: '^234' });
        expect(await peer.first(`bind_${mode}`)).toMatchObject({
          systemId: 'tester',
          password: 'secret',
          systemType: 'SMPP',
          interfaceVersion: 0x34,
          addressRange: '^234',
        });
        expect([session.mode, session.systemId, session.isBound]).toEqual([mode, 'SMSC', true]);
      },
    );

    it('a refused bind is an error with its status, and closes the connection', async () => {
      await smsc.stop();
      smsc = await ScriptedSmsc.start((peer, { sequence }) =>
        peer.write({
          command: 'bind_transceiver_resp',
          sequence,
          status: COMMAND_STATUS.ESME_RINVPASWD,
        }),
      );
      const error = await errorOf(connectSmpp(options()));
      expect(error).toBeInstanceOf(SmppBindError);
      expect(error).toMatchObject({ status: 0x0e, code: 'bind_refused' });
      expect(String(error)).toContain('ESME_RINVPASWD');
      await (await smsc.peer()).ended();
    });

    it('a generic_nack to the bind is a refused bind', async () => {
      await smsc.stop();
      smsc = await ScriptedSmsc.start((peer, { sequence }) =>
        peer.write({ command: 'generic_nack', sequence, status: COMMAND_STATUS.ESME_RINVCMDID }),
      );
      expect(await errorOf(connectSmpp(options()))).toMatchObject({
        status: 3,
        code: 'bind_refused',
      });
    });

    it('a bind without an answer, or whose connection closes, fails the connect', async () => {
      await smsc.stop();
      smsc = await ScriptedSmsc.start(() => undefined);
      const silent = await errorOf(connectSmpp(options({ responseTimeout: 20 })));
      expect(silent).toBeInstanceOf(SmppConnectError);
      await smsc.stop();
      smsc = await ScriptedSmsc.start((peer) => peer.socket.destroy());
      expect(await errorOf(connectSmpp(options()))).toBeInstanceOf(SmppConnectError);
      const { port } = smsc;
      await smsc.stop();
      const refused = await errorOf(connectSmpp(options({ port })));
      expect(refused).toMatchObject({
        code: 'connect_failed',
        message: expect.stringContaining('ECONNREFUSED'),
      });
      smsc = await ScriptedSmsc.start();
    });

    it('an abort signal ends the connect, and afterwards the session', async () => {
      const early = AbortSignal.abort();
      expect(await errorOf(connectSmpp(options({ signal: early })))).toBeInstanceOf(
        SmppConnectError,
      );
      const controller = new AbortController();
      const [session, peer] = await connected({ signal: controller.signal });
      const end = closed(session);
      controller.abort();
      expect(await end).toMatchObject({ reason: 'closed' });
      await peer.ended();
    });

    it.each([
      ['systemId', { systemId: 'sixteen letters!' }],
      ['password', { password: '123456789' }],
      ['window', { window: 0 }],
      ['responseTimeout', { responseTimeout: 0.5 }],
      ['maxPduLength', { maxPduLength: 100 }],
      ['mode', { mode: 'both' as 'transceiver' }],
    ])('a wrong %s is an error that names it', async (field, wrong) => {
      const error = await errorOf(connectSmpp(options(wrong)));
      expect(error).toBeInstanceOf(SmppValueError);
      expect(error).toMatchObject({ field });
    });
  });

  describe('requests', () => {
    it('answers reach their requests in any order', async () => {
      const [session, peer] = await connected();
      const answers = Promise.all([1, 2, 3].map(() => session.request('submit_sm', hello)));
      const submits = await peer.all('submit_sm', 3);
      for (const { sequence } of submits.toReversed()) answer(peer, sequence);
      expect((await answers).map((each) => 'messageId' in each && each.messageId)).toEqual(
        submits.map(({ sequence }) => String(sequence)),
      );
    });

    it('never more than the window is without an answer', async () => {
      const [session, peer] = await connected({ window: 3 });
      const answers = Array.from({ length: 10 }, () => session.request('submit_sm', hello));
      for (let done = 0; done < 10; done++) {
        const submits = await peer.all('submit_sm', Math.min(10, done + 3));
        // After a round trip every request that the window admits has arrived.
        peer.write({ command: 'enquire_link', sequence: 100 + done });
        await peer.all('enquire_link_resp', done + 1);
        expect(peer.received.filter(({ command }) => command === 'submit_sm')).toHaveLength(
          Math.min(10, done + 3),
        );
        expect(session.unanswered).toBe(Math.min(3, 10 - done));
        answer(peer, submits[done]?.sequence as number);
      }
      await Promise.all(answers);
      expect([session.unanswered, session.queued]).toEqual([0, 0]);
    });

    it.each([
      COMMAND_STATUS.ESME_RTHROTTLED,
      COMMAND_STATUS.ESME_RMSGQFUL,
      COMMAND_STATUS.ESME_RINVDSTADR,
    ])('the status %i is an answer', async (status) => {
      const [session, peer] = await connected();
      const sent = session.request('submit_sm', hello);
      const { sequence } = await peer.first('submit_sm');
      peer.write({ command: 'submit_sm_resp', sequence, status });
      expect(await sent).toMatchObject({ command: 'submit_sm_resp', status, messageId: '' });
    });

    it('a generic_nack of its sequence number is an answer', async () => {
      const [session, peer] = await connected();
      const sent = session.request('submit_sm', hello);
      const { sequence } = await peer.first('submit_sm');
      peer.write({ command: 'generic_nack', sequence, status: COMMAND_STATUS.ESME_RINVCMDLEN });
      expect(await sent).toMatchObject({ command: 'generic_nack', status: 2 });
    });

    it('every other request has its answer', async () => {
      const [session, peer] = await connected();
      const source = { ton: 5, npi: 0, address: 'ACME' };
      const query = session.request('query_sm', { messageId: '7', source });
      const { sequence } = await peer.first('query_sm');
      peer.write({ command: 'query_sm_resp', sequence, messageId: '7', messageState: 2 });
      expect(await query).toMatchObject({ messageState: 2 });
      const cancel = session.request('cancel_sm', { messageId: '7', source, destination });
      peer.write({ command: 'cancel_sm_resp', sequence: (await peer.first('cancel_sm')).sequence });
      expect(await cancel).toMatchObject({ status: 0 });
      const replace = session.request('replace_sm', { messageId: '7', source });
      peer.write({
        command: 'replace_sm_resp',
        sequence: (await peer.first('replace_sm')).sequence,
      });
      expect(await replace).toMatchObject({ status: 0 });
      const multi = session.request('submit_multi', { destinations: [destination] });
      const refused = [{ ...destination, status: 11 }];
      const multiSequence = (await peer.first('submit_multi')).sequence;
      peer.write({
        command: 'submit_multi_resp',
        sequence: multiSequence,
        messageId: '8',
        refused,
      });
      expect(await multi).toMatchObject({ messageId: '8', refused });
    });

    it('a request with a wrong field is not sent and takes no place of the window', async () => {
      const [session, peer] = await connected({ window: 1 });
      const wrong = session.request('submit_sm', { ...hello, serviceType: 'too long' });
      expect(await errorOf(wrong)).toMatchObject({ code: 'invalid_value', field: 'serviceType' });
      const sent = session.request('submit_sm', hello);
      const { sequence } = await peer.first('submit_sm');
      answer(peer, sequence);
      expect(await sent).toMatchObject({ status: 0 });
    });

    it('a receiver may not submit', async () => {
      const [session] = await connected({ mode: 'receiver' });
      expect(await errorOf(session.request('submit_sm', hello))).toMatchObject({
        reason: 'wrong_bind',
      });
    });

    it('more than maxQueued waiting requests are refused, not held', async () => {
      const [session, peer] = await connected({ window: 1, maxQueued: 2 });
      const kept = Array.from({ length: 3 }, () => session.request('submit_sm', hello));
      expect(await errorOf(session.request('submit_sm', hello))).toMatchObject({
        reason: 'queue_full',
      });
      for (let count = 1; count <= 3; count++)
        answer(peer, (await peer.all('submit_sm', count))[count - 1]?.sequence as number);
      await Promise.all(kept);
    });

    it('an abort signal drops unwritten requests, and answers to written ones come late', async () => {
      const [session, peer] = await connected({ window: 1 });
      const [first, second] = [new AbortController(), new AbortController()];
      const written = session.request('submit_sm', hello, { signal: first.signal });
      const waiting = session.request('submit_sm', hello, { signal: second.signal });
      const { sequence } = await peer.first('submit_sm');
      second.abort();
      expect(await errorOf(waiting)).toMatchObject({ code: 'not_sent', reason: 'aborted' });
      first.abort();
      expect(await errorOf(written)).toMatchObject({
        code: 'no_answer',
        reason: 'aborted',
        sequence,
      });
      expect(session.unanswered).toBe(1);
      const late = once(session, 'late') as Promise<[LateAnswer]>;
      answer(peer, sequence, 'm1');
      expect((await late)[0]).toMatchObject({ sequence, answer: { messageId: 'm1' } });
      expect(session.unanswered).toBe(0);
      expect(
        await errorOf(session.request('submit_sm', hello, { signal: first.signal })),
      ).toMatchObject({
        code: 'not_sent',
      });
      expect(peer.received.filter(({ command }) => command === 'submit_sm')).toHaveLength(1);
    });
  });

  describe('a peer that fails', () => {
    it('a lost link leaves ten unanswered submits without an answer, and the others unsent', async () => {
      const [session, peer] = await connected({ window: 10 });
      const end = closed(session);
      const errors = Promise.all(
        Array.from({ length: 15 }, () => errorOf(session.request('submit_sm', hello))),
      );
      await peer.all('submit_sm', 10);
      peer.socket.resetAndDestroy();
      expect((await errors).map((error) => (error as SmppNotSentError).code)).toEqual([
        ...Array.from({ length: 10 }, () => 'no_answer'),
        ...Array.from({ length: 5 }, () => 'not_sent'),
      ]);
      expect(await end).toMatchObject({ reason: 'connection_lost', unanswered: 10 });
      expect(await errorOf(session.request('submit_sm', hello))).toMatchObject({
        code: 'not_sent',
      });
    });

    it('a request that times out keeps its place in the window until its late answer', async () => {
      const [session, peer] = await connected({ window: 2, responseTimeout: 30 });
      expect(await errorOf(session.request('submit_sm', hello))).toMatchObject({
        code: 'no_answer',
        reason: 'timeout',
      });
      expect(session.unanswered).toBe(1);
      const late = once(session, 'late') as Promise<[LateAnswer]>;
      const { sequence } = await peer.first('submit_sm');
      answer(peer, sequence, 'm1');
      expect((await late)[0]).toMatchObject({
        command: 'submit_sm',
        sequence,
        answer: { messageId: 'm1' },
      });
      expect([session.unanswered, session.isBound]).toEqual([0, true]);
    });

    it('a session whose whole window has timed out ends', async () => {
      const [session] = await connected({ window: 2, responseTimeout: 30 });
      const end = closed(session);
      const errors = await Promise.all(
        [1, 2, 3].map(() => errorOf(session.request('submit_sm', hello))),
      );
      expect(errors).toMatchObject([
        { code: 'no_answer', reason: 'timeout' },
        { code: 'no_answer', reason: 'timeout' },
        { code: 'not_sent', reason: 'response_timeout' },
      ]);
      expect(await end).toMatchObject({ reason: 'response_timeout', unanswered: 2 });
    });

    it('a silent peer gets an enquire_link, and the session ends without an answer to it', async () => {
      const [session, peer] = await connected({ enquireLinkInterval: 20, responseTimeout: 40 });
      const end = closed(session);
      await peer.first('enquire_link');
      expect(await end).toMatchObject({ reason: 'enquire_link_timeout' });
    });

    it('a peer that answers enquire_link keeps its session', async () => {
      const [session, peer] = await connected({ enquireLinkInterval: 10 });
      for (let count = 1; count <= 3; count++) {
        const enquiries = await peer.all('enquire_link', count);
        peer.write({
          command: 'enquire_link_resp',
          sequence: enquiries[count - 1]?.sequence as number,
        });
      }
      expect(session.isBound).toBe(true);
    });

    it('a session without messages unbinds after inactivityTimeout, whatever enquire_link says', async () => {
      const [session, peer] = await connected({ inactivityTimeout: 50, enquireLinkInterval: 10 });
      const end = closed(session);
      let answered = 0;
      await peer.until(() => {
        const enquiries = peer.received.filter(({ command }) => command === 'enquire_link');
        for (; answered < enquiries.length; answered++)
          peer.write({
            command: 'enquire_link_resp',
            sequence: enquiries[answered]?.sequence as number,
          });
        return peer.received.some(({ command }) => command === 'unbind');
      });
      peer.write({ command: 'unbind_resp', sequence: (await peer.first('unbind')).sequence });
      expect(await end).toMatchObject({ reason: 'inactivity' });
    });

    it('a malformed PDU gets a generic_nack, and the session goes on', async () => {
      const [session, peer] = await connected();
      const malformed = once(session, 'malformed');
      const bytes = encodePdu({
        command: 'deliver_sm',
        sequence: 77,
        shortMessage: Buffer.from('Hi'),
      });
      bytes[bytes.length - 3] = 200; // sm_length
      peer.socket.write(bytes);
      peer.socket.write(Buffer.from('00000010000009990000000000000058', 'hex'));
      expect(await peer.all('generic_nack', 2)).toMatchObject([
        { sequence: 77, status: COMMAND_STATUS.ESME_RINVCMDLEN },
        { sequence: 0x58, status: COMMAND_STATUS.ESME_RINVCMDID },
      ]);
      expect((await malformed)[0]).toMatchObject({ code: 'malformed_pdu' });
      const sent = session.request('submit_sm', hello);
      answer(peer, (await peer.first('submit_sm')).sequence);
      expect(await sent).toMatchObject({ status: 0 });
    });

    it('answers that complete a truncated PDU do not keep the session alive', async () => {
      const [session, peer] = await connected({ enquireLinkInterval: 30, responseTimeout: 100 });
      const end = closed(session);
      const bytes = encodePdu({ command: 'deliver_sm', sequence: 7 }).subarray(0, 20);
      bytes.writeUInt32BE(70_000);
      peer.socket.write(bytes);
      const answering = setInterval(() => peer.socket.write(Buffer.alloc(16)), 10);
      expect(await end).toMatchObject({ reason: 'enquire_link_timeout' });
      clearInterval(answering);
    });

    it('a malformed answer fails its request at once', async () => {
      const [session, peer] = await connected();
      const sent = errorOf(session.request('submit_sm', hello));
      const { sequence } = await peer.first('submit_sm');
      const bytes = encodePdu({ command: 'submit_sm_resp', sequence, messageId: 'm1' });
      bytes[bytes.length - 1] = 1; // no NUL
      peer.socket.write(bytes);
      expect(await sent).toMatchObject({ code: 'no_answer', reason: 'malformed' });
      expect(session.unanswered).toBe(0);
    });

    it('an impossible length ends the session with its reason', async () => {
      const [session, peer] = await connected();
      const end = closed(session);
      peer.socket.write(Buffer.from('7fffffff', 'hex'));
      expect(await end).toMatchObject({ reason: 'protocol_error' });
      expect(await peer.first('generic_nack')).toMatchObject({
        status: COMMAND_STATUS.ESME_RINVCMDLEN,
      });
      await peer.ended();
    });

    it('an answer without a request, or of another command, settles no request', async () => {
      const [session, peer] = await connected();
      const sent = session.request('submit_sm', hello);
      const { sequence } = await peer.first('submit_sm');
      const unexpected: unknown[] = [];
      session.on('unexpected', (pdu) => unexpected.push(pdu));
      peer.write(
        { command: 'submit_sm_resp', sequence: 999, messageId: 'x' },
        { command: 'query_sm_resp', sequence, messageId: 'x' },
      );
      answer(peer, sequence, 'right');
      expect(await sent).toMatchObject({ messageId: 'right' });
      expect(unexpected).toMatchObject([{ sequence: 999 }, { command: 'query_sm_resp' }]);
    });

    it('a peer that closes, or unbinds, ends the session with that reason', async () => {
      const [session, peer] = await connected();
      const end = closed(session);
      peer.socket.end();
      expect(await end).toMatchObject({ reason: 'peer_closed' });
      const other = await connectSmpp(options());
      sessions.push(other);
      const unbound = closed(other);
      const second = await smsc.peer(1);
      second.write({ command: 'unbind', sequence: 5 });
      expect(await second.first('unbind_resp')).toMatchObject({ sequence: 5, status: 0 });
      expect(await unbound).toMatchObject({ reason: 'peer_unbound' });
    });

    it('a peer that reads nothing ends the session before its bytes fill the memory', async () => {
      const [session, peer] = await connected({
        window: 10_000,
        maxQueued: 20_000,
        responseTimeout: 200,
      });
      const end = closed(session);
      peer.socket.pause();
      const body = { destination, tlvs: { messagePayload: Buffer.alloc(60_000) } };
      const errors = Array.from({ length: 600 }, () => errorOf(session.request('submit_sm', body)));
      expect((await end).reason).toMatch(/slow_reader|response_timeout/);
      const codes = (await Promise.all(errors)).map((error) => (error as SmppNotSentError).code);
      // Most of the 36 MB were never handed to the connection.
      expect(codes.filter((code) => code === 'not_sent').length).toBeGreaterThan(300);
    });
  });

  describe('messages of the peer', () => {
    const delivery = (sequence: number): PduInput<'deliver_sm'> => ({
      command: 'deliver_sm',
      sequence,
      shortMessage: Buffer.from(String(sequence)),
    });

    it('a delivery in the same bytes as the answer to the bind reaches the handler', async () => {
      await smsc.stop();
      smsc = await ScriptedSmsc.start((peer, { sequence }) =>
        peer.write({ command: 'bind_transceiver_resp', sequence, systemId: 'SMSC' }, delivery(9)),
      );
      const got: string[] = [];
      const [, peer] = await connected({
        handlers: {
          deliver_sm: ({ shortMessage }, { systemId }) => {
            got.push(`${systemId} ${shortMessage.toString()}`);
            return {};
          },
        },
      });
      expect(await peer.first('deliver_sm_resp')).toMatchObject({ sequence: 9, status: 0 });
      expect(got).toEqual(['SMSC 9']);
    });

    it('PDUs that arrive byte by byte, or many in one write, are each answered once', async () => {
      const [, peer] = await connected({ handlers: { deliver_sm: () => ({}) } });
      for (const byte of encodePdu(delivery(1))) peer.socket.write(Buffer.from([byte]));
      await peer.all('deliver_sm_resp', 1);
      peer.write(...Array.from({ length: 50 }, (_, index) => delivery(2 + index)));
      const answers = await peer.all('deliver_sm_resp', 51);
      expect(answers.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 51 }, (_, index) => 1 + index),
      );
    });

    it('a failing handler is answered ESME_RX_T_APPN, and a missing one ESME_RINVCMDID', async () => {
      const [session, peer] = await connected({
        handlers: { deliver_sm: () => Promise.reject(new Error('database is away')) },
      });
      const failure = once(session, 'handlerError');
      peer.write(delivery(1), { command: 'data_sm', sequence: 2 });
      expect(await peer.first('deliver_sm_resp')).toMatchObject({
        status: COMMAND_STATUS.ESME_RX_T_APPN,
      });
      expect(await peer.first('data_sm_resp')).toMatchObject({
        status: COMMAND_STATUS.ESME_RINVCMDID,
      });
      expect(await failure).toMatchObject([{ message: 'database is away' }, 'deliver_sm']);
    });

    it('a request that only a client sends is answered ESME_RINVBNDSTS', async () => {
      const [, peer] = await connected({ handlers: { submit_sm: () => ({ messageId: 'x' }) } });
      peer.write({ command: 'submit_sm', sequence: 3 });
      expect(await peer.first('submit_sm_resp')).toMatchObject({
        status: COMMAND_STATUS.ESME_RINVBNDSTS,
      });
    });

    it('at most receiveWindow deliveries are handled at a time, and answers to own requests are still read', async () => {
      const working: (() => void)[] = [];
      let most = 0;
      const [session, peer] = await connected({
        receiveWindow: 2,
        handlers: {
          deliver_sm: async () => {
            await new Promise<void>((resolve) => {
              working.push(resolve);
              most = Math.max(most, working.length);
            });
            return {};
          },
        },
      });
      peer.write(delivery(1), delivery(2), delivery(3));
      const sent = session.request('submit_sm', hello);
      answer(peer, (await peer.first('submit_sm')).sequence);
      expect(await sent).toMatchObject({ status: 0 });
      expect(working).toHaveLength(2);
      peer.write(...Array.from({ length: 200 }, (_, index) => delivery(4 + index)));
      for (let count = 0; count < 203; count++) {
        await peer.until(() => working.length > 0);
        working.shift()?.();
        await peer.all('deliver_sm_resp', count + 1);
      }
      expect(most).toBe(2);
    });

    it('the time while a slow handler keeps the connection unread does not count as silence', async () => {
      let release = (): void => undefined;
      let started = (): void => undefined;
      const inWork = new Promise<void>((resolve) => (started = resolve));
      const [session, peer] = await connected({
        receiveWindow: 1,
        responseTimeout: 60,
        enquireLinkInterval: 60,
        handlers: {
          deliver_sm: async ({ sequence }) => {
            if (sequence > 1) return {};
            await new Promise<void>((resolve) => {
              release = resolve;
              started();
            });
            return {};
          },
        },
      });
      const sent = session.request('submit_sm', hello);
      const { sequence } = await peer.first('submit_sm');
      // The second one is queued when the first is in work: nothing more is read.
      peer.write(delivery(1), delivery(2));
      await inWork;
      answer(peer, sequence);
      // Every time-out passes meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 200));
      release();
      expect(await sent).toMatchObject({ status: 0 });
      expect(session.isBound).toBe(true);
    });

    it('an alert_notification emits an event', async () => {
      const [session, peer] = await connected();
      const alert = once(session, 'alert');
      peer.write({ command: 'alert_notification', sequence: 1, source: destination });
      expect((await alert)[0]).toMatchObject({ source: destination });
    });
  });

  describe('the end', () => {
    it('unbind waits for the answers, refuses waiting requests, and closes after unbind_resp', async () => {
      const [session, peer] = await connected({ window: 1 });
      const end = closed(session);
      const sent = session.request('submit_sm', hello);
      const waiting = errorOf(session.request('submit_sm', hello));
      const { sequence } = await peer.first('submit_sm');
      const unbind = session.unbind();
      expect(await waiting).toMatchObject({ code: 'not_sent', reason: 'unbound' });
      expect(await errorOf(session.request('submit_sm', hello))).toMatchObject({
        reason: 'not_bound',
      });
      expect(peer.received.some(({ command }) => command === 'unbind')).toBe(false);
      answer(peer, sequence);
      expect(await sent).toMatchObject({ status: 0 });
      peer.write({ command: 'unbind_resp', sequence: (await peer.first('unbind')).sequence });
      await unbind;
      expect(await end).toMatchObject({ reason: 'unbound', unanswered: 0 });
      await peer.ended();
    });

    it('unbind ends without the answers of a silent peer', async () => {
      const [session] = await connected({ responseTimeout: 30, window: 10 });
      const sent = errorOf(session.request('submit_sm', hello));
      await session.unbind();
      expect(await sent).toMatchObject({ code: 'no_answer' });
      expect(session.isClosed).toBe(true);
    });

    it('close ends the session at once, and a second close has no effect', async () => {
      const [session, peer] = await connected();
      let ends = 0;
      session.on('close', () => ends++);
      const sent = errorOf(session.request('submit_sm', hello));
      await peer.first('submit_sm');
      session.close();
      session.close();
      await session.unbind();
      expect(await sent).toMatchObject({ code: 'no_answer', reason: 'closed' });
      expect(ends).toBe(1);
    });
  });
});
