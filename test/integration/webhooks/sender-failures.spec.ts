import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { webhookAttemptOf } from '../../../src/webhooks/webhooks.dto.js';
import { answer } from './receiver.js';
import { describeWebhooks } from './webhook-stage.js';
import { statusChange } from './webhook-fixture.js';

describeWebhooks('webhook sender and bad receivers', (stage) => {
  it('a time-out is a failed attempt', async () => {
    stage.gateway = await stage.start({ timeout: 150 });
    const customer = await stage.receiver(() => undefined);
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { attempt: 1, status: null, error: 'timeout', response: null },
    ]);
    expect((await stage.deliveries(webhook_id))[0]!.dueAt).toBeGreaterThan(stage.clock.now());
  });

  it('a 410 disables the endpoint and due deliveries wait until it is enabled', async () => {
    const customer = await stage.receiver(answer(410, {}, 'moved away'));
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(await stage.gateway.endpoints.get(stage.account, webhook_id)).toMatchObject({
      disabledReason: 'gone',
    });
    await stage.gateway.commit([statusChange(stage.account)]);
    expect(await stage.deliveries(webhook_id)).toHaveLength(1);
    stage.clock.advance(10_000);
    await stage.work();
    expect(customer.received).toHaveLength(1);
    customer.respond = answer(200);
    await stage.gateway.endpoints.update(stage.account, webhook_id, { enabled: true });
    await stage.work();
    expect(customer.received).toHaveLength(2);
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { status: 410, error: 'gone' },
      { status: 200 },
    ]);
  });

  it.each([
    ['this process', () => Promise.resolve(stage.gateway)],
    ['another process', () => stage.start()],
  ])('a 410 from the former URL after %s disables nothing', async (_, mover) => {
    const held: ServerResponse[] = [];
    const before = await stage.receiver((response) => void held.push(response));
    const after = await stage.receiver();
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, before.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.gateway.poll();
    await before.first(1);
    await (await mover()).endpoints.set(stage.account, after.url);
    held[0]!.writeHead(410).end();
    await stage.gateway.idle();
    expect(await stage.gateway.endpoints.get(stage.account, webhook_id)).toMatchObject({
      disabledAt: null,
      failingSince: null,
    });
    stage.clock.advance(10_000);
    await stage.work();
    expect(await stage.attempts(webhook_id)).toMatchObject([{ error: 'gone' }, { error: null }]);
    expect(after.received.map(({ id }) => id)).toEqual(before.received.map(({ id }) => id));
  });

  it('a moved endpoint has a new five-day period', async () => {
    const customer = await stage.receiver(answer(500));
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    stage.clock.advance(6 * 24 * 3_600_000);
    await stage.gateway.endpoints.update(stage.account, webhook_id, { url: `${customer.url}&new` });
    await stage.work();
    expect(await stage.gateway.endpoints.get(stage.account, webhook_id)).toMatchObject({
      disabledAt: null,
      failingSince: expect.any(Number),
    });
    expect(customer.received).toHaveLength(2);
  });

  it('five days without success disable an endpoint and a success restarts the period', async () => {
    const customer = await stage.receiver(answer(500));
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    const day = 24 * 3_600_000;
    const fail = async () => {
      await stage.gateway.commit([statusChange(stage.account)]);
      await stage.work();
    };
    await fail();
    stage.clock.advance(3 * day);
    customer.respond = answer(200);
    await stage.work();
    customer.respond = answer(500);
    stage.clock.advance(3 * day);
    await fail();
    expect((await stage.gateway.endpoints.get(stage.account, webhook_id)).disabledAt).toBeNull();
    stage.clock.advance(4.9 * day);
    await fail();
    expect((await stage.gateway.endpoints.get(stage.account, webhook_id)).disabledAt).toBeNull();
    stage.clock.advance(0.2 * day);
    await fail();
    expect(await stage.gateway.endpoints.get(stage.account, webhook_id)).toMatchObject({
      disabledReason: 'failing',
    });
  });

  it('redirects are failures and not followed', async () => {
    const inside = await stage.receiver();
    const customer = await stage.receiver(answer(307, { location: inside.url }));
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(inside.received).toEqual([]);
    expect(await stage.attempts(webhook_id)).toMatchObject([{ status: 307, error: 'redirect' }]);
  });

  it('Retry-After delays the next attempt', async () => {
    const customer = await stage.receiver(answer(429, { 'retry-after': '3600' }));
    await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    customer.respond = answer(200);
    stage.clock.advance(3_590_000);
    await stage.work();
    expect(customer.received).toHaveLength(1);
    stage.clock.advance(20_000);
    await stage.work();
    expect(customer.received).toHaveLength(2);
  });

  it('at most one kilobyte of an answer is read', async () => {
    let written = 0;
    const customer = await stage.receiver(async (response) => {
      response.writeHead(200);
      const blocks = function* () {
        for (; written < 500_000_000; written += 65_536) yield 'x'.repeat(65_536);
      };
      await pipeline(Readable.from(blocks()), response).catch(() => undefined);
    });
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(written).toBeLessThan(50_000_000);
    const [attempt] = await stage.attempts(webhook_id);
    expect(attempt).toMatchObject({ status: 200, error: null });
    expect(attempt!.response).toBe('x'.repeat(1_024));
  });

  it('a cut socket is a failed attempt', async () => {
    const customer = await stage.receiver(
      (_response, _received, request) => void request.socket.destroy(),
    );
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { status: null, error: 'connection_lost' },
    ]);
  });

  it('a refused connection and a non-HTTP answer are failed attempts', async () => {
    const gibberish = createServer((socket) => {
      socket.resume().end('220 mail.example ESMTP\r\n');
    });
    gibberish.listen(0, '127.0.0.1');
    await once(gibberish, 'listening');
    const { port } = gibberish.address() as AddressInfo;
    const { webhook_id } = await stage.gateway.endpoints.set(
      stage.account,
      `http://127.0.0.1:${port}/`,
    );
    await stage.gateway.commit([statusChange(stage.account)]);
    await stage.work();
    gibberish.close();
    await once(gibberish, 'close');
    await once(connect(port, '127.0.0.1'), 'error');
    stage.clock.advance(10_000);
    await stage.work();
    expect(await stage.attempts(webhook_id)).toMatchObject([
      { status: null, error: 'invalid_response' },
      { status: null, error: 'connection_refused' },
    ]);
  });

  it('private addresses are not connected to', async () => {
    const inside = await stage.receiver();
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, inside.url);
    const guarded = await stage.start({ allowPrivate: false });
    await guarded.commit([statusChange(stage.account)]);
    await stage.work(guarded);
    expect(inside.received).toEqual([]);
    expect(await stage.attempts(webhook_id)).toMatchObject([{ error: 'address_forbidden' }]);
  });

  it('an attempt looks the same for a private address and for a name that does not exist', async () => {
    const inside = await stage.receiver();
    const guarded = await stage.start({ allowPrivate: false });
    const told = [];
    for (const url of [inside.url, 'https://no-such-name.invalid/hook']) {
      const account = await stage.gateway.account();
      const { webhook_id } = await stage.gateway.endpoints.set(account, url);
      await guarded.commit([statusChange(account)]);
      await stage.work(guarded);
      const { data } = await guarded.endpoints.attempts(account, webhook_id, { limit: 10 });
      const [attempt] = data.map(webhookAttemptOf);
      told.push({ status: attempt?.status_code, error: attempt?.error, text: attempt?.response });
    }
    expect(told[0]).toEqual({ status: null, error: 'no_public_address', text: null });
    expect(told[1]).toEqual(told[0]);
  });

  it('a port that is no longer allowed is not connected to', async () => {
    const customer = await stage.receiver();
    const { webhook_id } = await stage.gateway.endpoints.set(stage.account, customer.url);
    const strict = await stage.start({ ports: [[443, 443]] });
    await strict.commit([statusChange(stage.account)]);
    await stage.work(strict);
    expect(customer.received).toEqual([]);
    const [attempt] = await stage.attempts(webhook_id);
    expect(attempt).toMatchObject({ status: null, error: 'port_forbidden' });
    expect((await stage.deliveries(webhook_id))[0]!.dueAt).toBeGreaterThan(stage.clock.now());
  });
});
