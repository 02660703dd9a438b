import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** A client that writes what it is told and keeps what comes back. */
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

  destroy(): void {
    this.socket.destroy();
  }
}

describe('a client that is too slow', () => {
  const gateway = new TestGateway({ REQUEST_TIMEOUT: '1s' });
  let account: CreatedAccount;
  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  it('with its body is answered 408 in the one form and cut off', async () => {
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

  it('with its headers is cut off, and many of them keep nobody out', async () => {
    const clients = await Promise.all(
      Array.from({ length: 200 }, () => SlowClient.connect(gateway.url)),
    );
    for (const client of clients) client.write('GET /ng/v1/sms HTTP/1.1\r\nHost: x\r\nX-A: ');
    const during = await gateway.call('GET', '/ng/v1/sms', { token: account.apiToken });
    expect(during.status).toBe(200);
    await Promise.all(clients.map(({ ended }) => ended));
    for (const { answer } of clients) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    const count = (): Promise<number> =>
      new Promise((resolve, reject) => {
        gateway.running.app
          .getHttpServer()
          .getConnections((error: Error | null, connections: number) =>
            error ? reject(error) : resolve(connections),
          );
      });
    await eventually(async () => {
      expect(await count()).toBeLessThan(20);
    });
  });
});

describe('more connections than a process holds', () => {
  const gateway = new TestGateway({ MAX_CONNECTIONS: '3' });
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  it('are closed at once; those it has go on', async () => {
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
