import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** A raw TCP client that records the answers. */
class SlowClient {
  answer = '';
  readonly ended: Promise<unknown>;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8').on('data', (chunk: string) => (this.answer += chunk));
    socket.on('error', () => undefined);
    this.ended = once(socket, 'close');
  }

  static async connect(url: string): Promise<SlowClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const client = new SlowClient(socket);
    await once(socket, 'connect');
    return client;
  }

  write(bytes: string): void {
    this.socket.write(bytes);
  }

  /** Writes the text and closes its writing side. */
  hangUp(bytes: string): void {
    this.socket.end(bytes);
  }

  /** Stops reading, the operating system's buffer included. */
  readNothing(): void {
    this.socket.pause();
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/**
 * Clients that are served meanwhile are connected before: a new connection would itself be too slow where
 * the machine stands still for a third of a second.
 */
async function arrive(gateway: TestGateway): Promise<void> {
  await eventually(async () => {
    const { status } = await gateway.call('GET', '/health/live');
    if (status !== 200) throw new Error(`answered ${status}`);
  });
}

describe('a client that is too slow', () => {
  const gateway = new TestGateway({ REQUEST_TIMEOUT: '1s' });
  let account: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  it('a client that is too slow with its body gets 408 and is disconnected', async () => {
    const client = await SlowClient.connect(gateway.url);
    client.write(
      `POST /ng/v1/sendsms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.apiToken}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"from":`,
    );
    await client.ended;
    expect(client.answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(JSON.parse(client.answer.slice(client.answer.indexOf('\r\n\r\n')))).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'request_timeout',
        message: expect.any(String),
      },
    });
  });

  it('a client that goes on too slowly with a refused body gets no second answer', async () => {
    const client = await SlowClient.connect(gateway.url);
    client.write(
      'POST /ng/v1/sendsms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"from":',
    );
    await client.ended;
    expect(client.answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 401']);
  });

  it('clients that are too slow with their headers are disconnected and block no other client', async () => {
    await arrive(gateway);
    const clients = await Promise.all(
      Array.from({ length: 200 }, () => SlowClient.connect(gateway.url)),
    );
    for (const client of clients) client.write('GET /ng/v1/sms HTTP/1.1\r\nHost: x\r\nX-A: ');
    const during = await gateway.call('GET', '/ng/v1/sms', { token: account.apiToken });
    expect(during.status).toBe(200);
    await Promise.all(clients.map(({ ended }) => ended));
    for (const { answer } of clients) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await eventually(async () => {
      expect(await gateway.connections()).toBeLessThan(20);
    });
  });
});

describe('a client with a broken connection', () => {
  const gateway = new TestGateway({ REQUEST_TIMEOUT: '1s' });
  let account: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const request = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.apiToken}\r\n\r\n`;

  /** Others are served meanwhile, and in the end none of these connections is left. */
  async function outlives(clients: readonly SlowClient[]): Promise<number> {
    const { status } = await gateway.call('GET', '/ng/v1/sms', { token: account.apiToken });
    await eventually(async () => expect(await gateway.connections()).toBeLessThan(20));
    for (const client of clients) client.destroy();
    return status;
  }

  const connect = async (count: number): Promise<SlowClient[]> => {
    await arrive(gateway);
    return Promise.all(Array.from({ length: count }, () => SlowClient.connect(gateway.url)));
  };

  it('a silent connection is closed', async () => {
    expect(await outlives(await connect(200))).toBe(200);
  });

  it('a client that disconnects in the middle of a body leaves no connection and no message behind', async () => {
    const clients = await connect(200);
    for (const client of clients)
      client.hangUp(
        `POST /ng/v1/sendsms HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"from"`,
      );
    expect(await outlives(clients)).toBe(200);
  });

  it('a request is processed although its client half-closes', async () => {
    const [client] = await connect(1);
    client!.hangUp(request('/ng/v1/sms'));
    await client!.ended;
    expect(client!.answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('a client that reads no answer is disconnected', async () => {
    const to = Array.from({ length: 20_000 }, (_, index) => String(2_348_000_000_000 + index));
    const sent = await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello', send_at: '2150-01-01T00:00:00Z' },
    });
    // Each asks for 16 MB; the operating system takes some of it in its place.
    const clients = await connect(30);
    for (const client of clients) {
      client.readNothing();
      client.write(request(`/ng/v1/sms/${String(sent.body['reference_id'])}`).repeat(50));
    }
    expect(await outlives(clients)).toBe(200);
  });
});

describe('more connections than a process holds', () => {
  const gateway = new TestGateway({ MAX_CONNECTIONS: '3' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('connections above the limit are closed and the existing ones go on', async () => {
    const held: SlowClient[] = [];
    for (let n = 0; n < 3; n++) {
      const client = await SlowClient.connect(gateway.url);
      client.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(async () => expect(client.answer).toContain('200 OK'));
      held.push(client);
    }
    const extra = await SlowClient.connect(gateway.url);
    await extra.ended;
    expect(extra.answer).toBe('');
    const [first] = held;
    if (first) first.answer = '';
    first?.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await eventually(async () => expect(first?.answer).toContain('200 OK'));
    for (const client of held) client.destroy();
  });
});
