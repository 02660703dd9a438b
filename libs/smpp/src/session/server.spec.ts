import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Certificate, certificates } from '../../../../test/support/certificates.js';
import { eventually } from '../../../../test/support/eventually.js';
import { ScriptedPeer } from '../../../../test/support/smpp/scripted-peer.js';
import type { PduInput } from '../codec/pdu.js';
import { COMMAND_STATUS } from '../command-status.js';
import { readReceipt, writeReceipt } from '../receipt.js';
import { connectSmpp, type ConnectOptions } from './client.js';
import { smallNetworkOf } from './server.js';
import { SmppServer, type SmppServerOptions } from './server.js';
import type { SmppSession } from './session.js';
import { SmppBindError, SmppConnectError } from './session-errors.js';
import type { SessionClosed } from './session-options.js';

const destination = { ton: 1, npi: 1, address: '2348012345678' };
const hello = { destination, shortMessage: Buffer.from('Hello') };

describe('a server', () => {
  let server: SmppServer | undefined;
  const clients: SmppSession[] = [];
  const peers: ScriptedPeer[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const { socket } of peers.splice(0)) socket.destroy();
    await server?.close();
    server = undefined;
  });

  async function started(more: Partial<SmppServerOptions> = {}): Promise<number> {
    server = new SmppServer({
      authenticate: ({ systemId, password }) => ({
        status: systemId === 'tester' && password === 'secret' ? 0 : COMMAND_STATUS.ESME_RINVPASWD,
      }),
      systemId: 'GATEWAY',
      ...more,
    });
    return (await server.listen({ host: '127.0.0.1', port: 0 })).port;
  }
  async function client(port: number, more: Partial<ConnectOptions> = {}): Promise<SmppSession> {
    const session = await connectSmpp({
      host: '127.0.0.1',
      port,
      systemId: 'tester',
      password: 'secret',
      ...more,
    });
    clients.push(session);
    return session;
  }
  async function scripted(port: number, localAddress?: string): Promise<ScriptedPeer> {
    const peer = await ScriptedPeer.connect(port, localAddress);
    peers.push(peer);
    return peer;
  }
  const nextSession = async (): Promise<SmppSession> =>
    ((await once(server as SmppServer, 'session')) as [SmppSession])[0];
  const closed = async (session: SmppSession): Promise<SessionClosed> =>
    ((await once(session, 'close')) as [SessionClosed])[0];

  it('submits reach the handler with the name of the bind, and receipts come back', async () => {
    const port = await started({
      handlers: {
        submit_sm: async ({ shortMessage, source, destination: to }, session) => {
          const messageId = `${session.systemId}-${shortMessage.toString()}`;
          const now = new Date('2026-11-24T09:00:00Z');
          const receipt = writeReceipt({
            messageId,
            state: 'delivered',
            submitDate: now,
            doneDate: now,
          });
          setImmediate(() => {
            void session.request('deliver_sm', { source: to, destination: source, ...receipt });
          });
          return { messageId };
        },
      },
    });
    const receipts: unknown[] = [];
    const session = await client(port, {
      handlers: {
        deliver_sm: (pdu) => {
          receipts.push(readReceipt(pdu)?.messageId);
          return {};
        },
      },
    });
    expect(session.systemId).toBe('GATEWAY');
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((text) =>
        session.request('submit_sm', { ...hello, shortMessage: Buffer.from(text) }),
      ),
    );
    expect(answers.map((each) => 'messageId' in each && each.messageId)).toEqual([
      'tester-a',
      'tester-b',
      'tester-c',
    ]);
    await eventually(async () => expect(receipts).toEqual(['tester-a', 'tester-b', 'tester-c']));
  });

  it('a wrong password is refused, announced without it, and the connection closes', async () => {
    const port = await started();
    const refused = once(server as SmppServer, 'refused');
    const peer = await scripted(port);
    peer.write({ command: 'bind_transmitter', sequence: 1, systemId: 'tester', password: 'wrong' });
    expect(await peer.first('bind_transmitter_resp')).toMatchObject({ status: 0x0e });
    await peer.ended();
    expect((await refused)[0]).toEqual({
      systemId: 'tester',
      status: COMMAND_STATUS.ESME_RINVPASWD,
      peer: { address: '127.0.0.1', port: expect.any(Number), isTls: false },
    });
    expect(server?.sessions).toEqual([]);
    await expect(client(port, { password: 'wrong' })).rejects.toBeInstanceOf(SmppBindError);
  });

  it('a failing bind decision is answered ESME_RBINDFAIL', async () => {
    const port = await started({
      authenticate: () => Promise.reject(new Error('database is away')),
    });
    const failure = once(server as SmppServer, 'failure');
    await expect(client(port)).rejects.toMatchObject({ status: COMMAND_STATUS.ESME_RBINDFAIL });
    expect(await failure).toMatchObject([{ message: 'database is away' }]);
  });

  it('requests before the bind, and a second bind, are refused', async () => {
    let taken = 0;
    const port = await started({
      handlers: { submit_sm: () => ({ messageId: String(++taken) }) },
    });
    const peer = await scripted(port);
    peer.write({ command: 'submit_sm', sequence: 1 }, { command: 'enquire_link', sequence: 2 });
    expect(await peer.first('submit_sm_resp')).toMatchObject({
      status: COMMAND_STATUS.ESME_RINVBNDSTS,
    });
    await peer.first('enquire_link_resp');
    const bind = { systemId: 'tester', password: 'secret' };
    peer.write(
      { command: 'bind_transceiver', sequence: 3, ...bind },
      { command: 'bind_transceiver', sequence: 4, ...bind },
    );
    const answers = await peer.all('bind_transceiver_resp', 2);
    const statuses = Object.fromEntries(answers.map(({ sequence, status }) => [sequence, status]));
    expect(statuses).toEqual({ 3: 0, 4: COMMAND_STATUS.ESME_RALYBND });
    expect(answers.find(({ status }) => status === 0)?.tlvs).toEqual({ scInterfaceVersion: 0x34 });
    expect(taken).toBe(0);
  });

  it('a peer of SMPP 3.3 gets no TLV in the answer to its bind', async () => {
    const peer = await scripted(await started());
    const bind = { systemId: 'tester', password: 'secret', interfaceVersion: 0x33 };
    peer.write({ command: 'bind_receiver', sequence: 1, ...bind });
    expect((await peer.first('bind_receiver_resp')).tlvs).toEqual({});
  });

  it('a connection that does not bind in time is closed', async () => {
    const peer = await scripted(await started({ bindTimeout: 30 }));
    peer.write({ command: 'enquire_link', sequence: 1 });
    await peer.ended();
    expect(server?.sessions).toEqual([]);
  });

  it('a receiver gets deliveries and may not submit; a transmitter gets none', async () => {
    const port = await started({ handlers: { submit_sm: () => ({ messageId: 'x' }) } });
    const first = nextSession();
    const peer = await scripted(port);
    const bind = { systemId: 'tester', password: 'secret' };
    peer.write({ command: 'bind_receiver', sequence: 1, ...bind });
    const receiver = await first;
    const delivered = receiver.request('deliver_sm', hello);
    peer.write({ command: 'deliver_sm_resp', sequence: (await peer.first('deliver_sm')).sequence });
    expect(await delivered).toMatchObject({ status: 0 });
    receiver.alert({ source: destination });
    await peer.first('alert_notification');
    peer.write({ command: 'submit_sm', sequence: 2 });
    expect(await peer.first('submit_sm_resp')).toMatchObject({
      status: COMMAND_STATUS.ESME_RINVBNDSTS,
    });
    const second = nextSession();
    await client(port, { mode: 'transmitter' });
    await expect((await second).request('deliver_sm', hello)).rejects.toMatchObject({
      reason: 'wrong_bind',
    });
  });

  it('the decision on a bind sets its windows', async () => {
    let most = 0;
    const working: (() => void)[] = [];
    const port = await started({
      authenticate: () => ({ status: 0, window: 1, receiveWindow: 2 }),
      handlers: {
        submit_sm: async () => {
          await new Promise<void>((resolve) => {
            working.push(resolve);
            most = Math.max(most, working.length);
          });
          return { messageId: 'x' };
        },
      },
    });
    const bound = nextSession();
    const session = await client(port, { window: 20 });
    const answers = Promise.all(
      Array.from({ length: 20 }, () => session.request('submit_sm', hello)),
    );
    let done = false;
    void answers.then(() => (done = true));
    while (!done) {
      working.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(most).toBe(2);
    const serverSide = await bound;
    const deliveries = [1, 2].map(() => serverSide.request('deliver_sm', hello));
    expect([serverSide.unanswered, serverSide.queued]).toEqual([1, 1]);
    expect(await Promise.all(deliveries)).toMatchObject([{ status: 3 }, { status: 3 }]);
  });

  it('a client that reads no answers is not read any further, and is disconnected in the end', async () => {
    let taken = 0;
    const port = await started({
      responseTimeout: 300,
      handlers: { submit_sm: () => ({ messageId: String(++taken).padStart(64, 'x') }) },
    });
    const bound = nextSession();
    const peer = await scripted(port);
    peer.write({
      command: 'bind_transmitter',
      sequence: 1,
      systemId: 'tester',
      password: 'secret',
    });
    const end = closed(await bound);
    peer.socket.pause();
    let sequence = 1;
    let isOver = false;
    void end.then(() => (isOver = true));
    // Until the system takes no more: the server reads nothing.
    while (!isOver && sequence < 2_000_000) {
      const batch = Array.from({ length: 500 }, () => ({
        command: 'submit_sm' as const,
        sequence: ++sequence,
        destination,
      }));
      peer.write(...batch);
      if (peer.socket.writableLength > 2 ** 20)
        await new Promise((resolve) => setTimeout(resolve, 5));
      else await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await end).reason).toBe('slow_reader');
    expect(taken).toBeLessThan(sequence);
  });

  it('close takes no more connections, unbinds every session, and ends', async () => {
    const port = await started();
    const sessions = await Promise.all([client(port), client(port)]);
    const ends = Promise.all(sessions.map(closed));
    const stranger = await scripted(port);
    await (server as SmppServer).close();
    expect(await ends).toMatchObject([{ reason: 'peer_unbound' }, { reason: 'peer_unbound' }]);
    await stranger.ended();
    await expect(client(port)).rejects.toBeInstanceOf(SmppConnectError);
    server = undefined;
  });

  it('more than maxConnections connections are closed', async () => {
    const port = await started({ maxConnections: 1 });
    await client(port);
    const socket = connect(port, '127.0.0.1');
    await once(socket.resume(), 'close');
    expect(server?.sessions).toHaveLength(1);
  });

  it('a network has maxUnboundPerNetwork connections without a bind, and places again after binds and ends', async () => {
    const port = await started({ maxUnboundPerNetwork: 2 });
    const strangers = [await scripted(port), await scripted(port)];
    const limited = once(server as SmppServer, 'limited');
    await (await scripted(port)).ended();
    expect(await limited).toMatchObject([
      { limit: 'maxUnboundPerNetwork', peer: { address: '127.0.0.1' } },
    ]);
    const other = await scripted(port, '127.0.0.2');
    const bind = { systemId: 'tester', password: 'secret' };
    other.write({ command: 'bind_transmitter', sequence: 1, ...bind });
    expect(await other.first('bind_transmitter_resp')).toMatchObject({ status: 0 });
    strangers[0]?.write({ command: 'bind_transmitter', sequence: 1, ...bind });
    await strangers[0]?.first('bind_transmitter_resp');
    strangers[1]?.socket.destroy();
    await eventually(async () => {
      const next = await Promise.all([client(port), client(port)]);
      expect(next.every(({ isBound }) => isBound)).toBe(true);
    });
  });

  it('a network has maxBoundPerNetwork binds, and a place again after the end of one', async () => {
    const port = await started({
      maxBoundPerNetwork: 2,
      networkOf: (address) => address.slice(0, 3),
    });
    const [first] = [await client(port), await client(port)];
    const limited = once(server as SmppServer, 'limited');
    await expect(client(port)).rejects.toMatchObject({ status: COMMAND_STATUS.ESME_RBINDFAIL });
    expect(await limited).toMatchObject([{ limit: 'maxBoundPerNetwork' }]);
    const neighbour = await scripted(port, '127.0.0.2');
    const bind = { systemId: 'tester', password: 'secret' };
    neighbour.write({ command: 'bind_transmitter', sequence: 1, ...bind });
    expect((await neighbour.first('bind_transmitter_resp')).status).not.toBe(0);
    await first?.unbind();
    await eventually(async () => expect((await client(port)).isBound).toBe(true));
  });

  const withoutAnswer = ['enquire_link_resp', 'outbind'] as const;
  it.each(['enquire_link', 'submit_sm', ...withoutAnswer] as const)(
    'a flood of %s before a bind gets maxUnboundRequests answers, then the connection ends',
    async (command) => {
      const port = await started({ maxUnboundRequests: 5 });
      const peer = await scripted(port);
      const flood = Array.from({ length: 1_000 }, (_, n) => ({ command, sequence: n + 1 }));
      peer.write(...(flood as PduInput[]));
      await peer.ended();
      expect(peer.received.length).toBeLessThanOrEqual(5);
    },
  );

  it('a flood of unknown PDUs before a bind gets maxUnboundRequests answers, then the connection ends', async () => {
    const peer = await scripted(await started({ maxUnboundRequests: 5 }));
    const unknown = Buffer.alloc(16);
    unknown.writeUInt32BE(16);
    unknown.writeUInt32BE(0xbad, 4);
    peer.socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => unknown)));
    await peer.ended();
    expect(peer.received.length).toBeLessThanOrEqual(5);
  });

  it('maxUnboundRequests does not count what comes after the bind', async () => {
    const peer = await scripted(await started({ maxUnboundRequests: 5 }));
    peer.write({
      command: 'bind_transmitter',
      sequence: 1,
      systemId: 'tester',
      password: 'secret',
    });
    await peer.first('bind_transmitter_resp');
    const links = Array.from({ length: 100 }, (_, n) => ({
      command: 'enquire_link' as const,
      sequence: n + 2,
    }));
    peer.write(...links);
    expect(await peer.all('enquire_link_resp', 100)).toHaveLength(100);
  });

  it.each(['enquire_link', 'bind_receiver', 'deliver_sm', 'query_sm', ...withoutAnswer] as const)(
    'a flood of %s of a bound transmitter gets maxControlRequests answers, then the session ends',
    async (command) => {
      const port = await started({ maxControlRequests: 5 });
      const bound = nextSession();
      const peer = await scripted(port);
      const bind = { systemId: 'tester', password: 'secret' };
      peer.write({ command: 'bind_transmitter', sequence: 1, ...bind });
      const closed = once(await bound, 'close');
      const flood = Array.from({ length: 1_000 }, (_, n) => ({ command, sequence: n + 2 }));
      peer.write(...(flood as PduInput[]));
      await peer.ended();
      expect(peer.received.length).toBeLessThanOrEqual(6);
      expect(await closed).toMatchObject([{ reason: 'too_many_requests' }]);
    },
  );

  it('maxControlRequests counts neither messages nor second answers', async () => {
    const submit_sm = () => Promise.resolve({ messageId: 'm' });
    const port = await started({ maxControlRequests: 1, handlers: { submit_sm } });
    const bound = nextSession();
    const peer = await scripted(port);
    const bind = { systemId: 'tester', password: 'secret' };
    peer.write({ command: 'bind_transceiver', sequence: 1, ...bind });
    const session = await bound;
    const submits = Array.from({ length: 50 }, (_, n) => ({
      command: 'submit_sm' as const,
      sequence: n + 2,
    }));
    peer.write(...submits);
    expect(await peer.all('submit_sm_resp', 50)).toHaveLength(50);
    for (let n = 0; n < 10; n++) {
      const answered = session.request('deliver_sm', {});
      const asked = (await peer.all('deliver_sm', n + 1)).at(-1);
      const answer = { command: 'deliver_sm_resp' as const, sequence: asked?.sequence ?? 0 };
      peer.write(answer, answer);
      await answered;
    }
    expect(session.isBound).toBe(true);
  });

  it('a flood of a bind is answered in order, in many turns of the event loop', async () => {
    const port = await started({ maxControlRequests: 2_000 });
    const bound = nextSession();
    const peer = await scripted(port);
    peer.write({
      command: 'bind_transmitter',
      sequence: 1,
      systemId: 'tester',
      password: 'secret',
    });
    let inTurn = 0;
    let most = 0;
    (await bound).on('malformed', () => {
      if (inTurn++ > 0) return;
      setImmediate(() => {
        most = Math.max(most, inTurn);
        inTurn = 0;
      });
    });
    const sequences = Array.from({ length: 2_000 }, (_, n) => n + 2);
    const unknown = sequences.map((sequence) => {
      const pdu = Buffer.alloc(16);
      for (const [index, value] of [16, 0xbad, 0, sequence].entries())
        pdu.writeUInt32BE(value, index * 4);
      return pdu;
    });
    peer.socket.write(Buffer.concat(unknown));
    const nacks = await peer.all('generic_nack', sequences.length);
    expect(nacks.map(({ sequence }) => sequence)).toEqual(sequences);
    expect(most).toBeLessThanOrEqual(100);
  });

  it.each([
    'maxUnboundPerNetwork',
    'maxBoundPerNetwork',
    'maxUnboundRequests',
    'maxControlRequests',
  ])('the option %s is checked', (name) => {
    const options = { authenticate: () => ({ status: 0 }), [name]: 0 };
    expect(() => new SmppServer(options)).toThrow(expect.objectContaining({ field: name }));
  });

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:0:0:8::', '2001:db8:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
  ])('the network of %s is %s', (address, network) => {
    expect(smallNetworkOf(address)).toBe(network);
  });

  it('a taken port is an error of listen', async () => {
    const port = await started();
    const other = new SmppServer({ authenticate: () => ({ status: 0 }) });
    await expect(other.listen({ host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await other.close();
  });
});

describe('a server with TLS', () => {
  let ca: string;
  let certificate: Certificate;
  let server: SmppServer;
  let port: number;

  beforeAll(async () => {
    const made = await certificates({ own: { name: '127.0.0.1' } });
    ca = made.ca;
    certificate = made.of.own as Certificate;
  });
  beforeEach(async () => {
    server = new SmppServer({
      authenticate: (_bind, { isTls }) => ({ status: isTls ? 0 : 0x0d }),
      tls: certificate,
      bindTimeout: 500,
      handlers: { submit_sm: ({ shortMessage }) => ({ messageId: shortMessage.toString() }) },
    });
    port = (await server.listen({ host: '127.0.0.1', port: 0 })).port;
  });
  afterEach(() => server.close());

  const options = (): ConnectOptions => ({ host: '127.0.0.1', port, systemId: 'a', password: 'b' });

  it('a client that trusts the certificate submits', async () => {
    const session = await connectSmpp({ ...options(), tls: { ca } });
    expect(await session.request('submit_sm', hello)).toMatchObject({ messageId: 'Hello' });
    await session.unbind();
  });

  it('a client that does not trust the certificate is not connected', async () => {
    const failure = once(server, 'failure');
    await expect(connectSmpp({ ...options(), tls: true })).rejects.toThrow(SmppConnectError);
    await failure;
  });

  it('connections in their handshake count for maxUnboundPerNetwork', async () => {
    const silent = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    await expect(connectSmpp({ ...options(), tls: { ca } })).rejects.toThrow(SmppConnectError);
    for (const socket of silent) socket.destroy();
    await eventually(async () => {
      const session = await connectSmpp({ ...options(), tls: { ca } });
      await session.unbind();
    });
  });

  it('a client that never finishes its handshake is closed', async () => {
    const failure = once(server, 'failure');
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket.resume(), 'close');
    expect(await failure).toMatchObject([{ code: 'ERR_TLS_HANDSHAKE_TIMEOUT' }]);
  });
});
