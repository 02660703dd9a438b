import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import axios, { type AxiosRequestConfig, type CreateAxiosDefaults } from 'axios';
import { Agent } from 'node:http';
import { PausedFailure, UncertainFailure } from '../../message/errors.js';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import { HttpClient } from './http-client.js';

const made = (config: CreateAxiosDefaults = {}) => new HttpService(axios.create(config));

describe('HttpClient', () => {
  const request = {
    method: 'POST',
    path: '/ng/v1/sendsms',
    headers: {
      authorization: 'Bearer tok_test',
      'content-type': 'application/json',
      'idempotency-key': 'k-1',
    },
    body: { from: 'ACME', to: ['2348012345678'], body: 'x', delivery_report: 'none' },
    maxBytes: 1_000_000,
  } as const;
  const signal = new AbortController().signal;

  let service: InterfaceServer;
  let clients: HttpClient[];
  beforeEach(async () => {
    service = await InterfaceServer.start();
    clients = [];
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await service.close();
  });
  const send = (http: HttpService, asked: AbortSignal = signal) => {
    const client = new HttpClient(http, service.url, 4);
    clients.push(client);
    return client.send(request, asked);
  };

  it('interceptors see and change the request and see the parsed answer', async () => {
    const http = made();
    const seen: unknown[] = [];
    http.axiosRef.interceptors.request.use((config) => {
      seen.push(config.data);
      config.headers.set('x-trace', 'abc');
      return config;
    });
    http.axiosRef.interceptors.response.use((response) => {
      seen.push(response.data);
      return response;
    });
    const answer = await send(http);
    expect(service.requests[0]?.headers['x-trace']).toBe('abc');
    expect(service.requests[0]?.headers['content-type']).toBe('application/json');
    expect(seen).toEqual([request.body, answer.body]);
    expect(answer.body).toMatchObject({ status_code: 200 });
  });

  it('error interceptors get an AxiosError', async () => {
    const http = made();
    const seen: unknown[] = [];
    http.axiosRef.interceptors.response.use(undefined, (error: unknown) => {
      seen.push(error);
      return Promise.reject(error);
    });
    service.answer((_request, response) => {
      response
        .writeHead(429, { 'retry-after': '3', 'content-type': 'application/json' })
        .end('{"error":{"code":"rate_limited"}}');
    });
    expect(await send(http)).toEqual({
      status: 429,
      retryAfter: '3',
      headers: expect.objectContaining({ 'retry-after': '3' }),
      body: { error: { code: 'rate_limited' } },
      text: '',
    });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ isAxiosError: true, response: { status: 429 } });
  });

  it('default headers and timeouts of HttpService apply', async () => {
    await send(made({ headers: { common: { 'x-tenant': 't1' } } }));
    expect(service.requests[0]?.headers['x-tenant']).toBe('t1');
    service.answer(() => undefined);
    let late: unknown;
    // On a busy machine the time may be over before it is connected: then nothing was sent.
    for (let timeout = 500; service.requests.length < 2; timeout *= 2)
      late = await send(made({ timeout })).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(UncertainFailure);
    expect(late).toMatchObject({ code: 'timeout' });
  });

  it('an agent of HttpService is used', async () => {
    const agent = new Agent();
    let sockets = 0;
    agent.on('free', () => undefined);
    const create = agent.createConnection.bind(agent);
    agent.createConnection = (...args) => {
      sockets++;
      return create(...args);
    };
    await send(made({ httpAgent: agent }));
    expect(sockets).toBe(1);
    expect(service.accepted.size).toBe(1);
    agent.destroy();
  });

  it('a custom adapter is used and its failure is uncertain', async () => {
    const seen: AxiosRequestConfig[] = [];
    const http = made({
      adapter: (config) => {
        seen.push(config);
        return Promise.reject(new Error('no idea what happened'));
      },
    });
    await expect(send(http)).rejects.toBeInstanceOf(UncertainFailure);
    expect(seen).toHaveLength(1);
    expect(service.requests).toHaveLength(0);
  });

  it("a request interceptor's failure is unsent and a response interceptor's uncertain", async () => {
    const before = made();
    before.axiosRef.interceptors.request.use(() => Promise.reject(new Error('tok_test')));
    const unsent = send(before);
    await expect(unsent).rejects.toBeInstanceOf(PausedFailure);
    await expect(unsent).rejects.toMatchObject({
      code: 'not_sent',
      message: expect.not.stringContaining('tok_test'),
    });
    expect(service.requests).toHaveLength(0);

    const after = made();
    after.axiosRef.interceptors.response.use(() => Promise.reject(new Error('tok_test')));
    await expect(send(after)).rejects.toBeInstanceOf(UncertainFailure);
    expect(service.accepted.size).toBe(1);
  });

  it('concurrent requests keep to the connection limit and all complete', async () => {
    const client = new HttpClient(undefined, service.url, 4);
    clients.push(client);
    const sockets = new Set<unknown>();
    service.answer((_request, response) => {
      sockets.add(response.socket);
      return false;
    });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.send(
          { ...request, headers: { ...request.headers, 'idempotency-key': `k${index}` } },
          signal,
        ),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(service.accepted.size).toBe(100);
    expect(sockets.size).toBeLessThanOrEqual(4);
  });

  it('an abort signal ends only its running requests', async () => {
    const client = new HttpClient(undefined, service.url, 8);
    clients.push(client);
    const giveUp = new AbortController();
    await expect(client.send(request, giveUp.signal)).resolves.toMatchObject({ status: 200 });
    let held = 0;
    const allHeld = new Promise<void>((resolve) => {
      service.answer(() => void (++held === 6 && resolve()));
    });
    const running = Array.from({ length: 5 }, () => client.send(request, giveUp.signal));
    const elsewhere = new AbortController();
    const other = client.send(request, elsewhere.signal);
    const ended = Promise.allSettled(running);
    await allHeld;
    giveUp.abort();
    for (const { reason } of (await ended) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: 'aborted' });
    await expect(client.send(request, giveUp.signal)).rejects.toMatchObject({ code: 'not_sent' });
    elsewhere.abort();
    await expect(other).rejects.toMatchObject({ code: 'aborted' });
  });

  it('a closed client sends no request', async () => {
    const client = new HttpClient(undefined, service.url, 4);
    await client.close();
    await expect(client.send(request, signal)).rejects.toMatchObject({ code: 'not_sent' });
  });
});
