import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { http, WhatsAppService } from '@dundun/messaging';
import { UncertainFailure } from '@dundun/messaging/ports';
import { kannel } from '@dundun/messaging/kannel';
import type { ServerResponse } from 'node:http';
import { describeEachDatabase, describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { InterfaceServer } from '../../support/interface-server.js';
import { SendsmsServer, say as saysKannel } from '../../support/sendsms-server.js';
import { chances } from '../../chaos/processes/chance.js';
import { DispatchFixture, Gate, ScriptedTransport, textOf } from './dispatch-fixture.js';

const HTML = '<html><h1>Unavailable</h1></html>';
const own = (code: string) => JSON.stringify({ error: { type: 'api_error', code, message: 'x' } });

type Say = (response: ServerResponse) => void;

const cut: Say = (response) => void response.socket?.destroy();
const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Say =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** Answers to the first request after the provider has accepted it. */
const AFTER_ACCEPTANCE: [string, Say][] = [
  ['a cut connection', cut],
  ...[400, 401, 403, 404, 405, 407, 408, 409, 413, 422, 425, 429, 500, 501, 502, 503, 504].flatMap(
    (status): [string, Say][] => [
      [`${status} without a body`, answer(status)],
      [`${status} with the page of a proxy`, answer(status, HTML)],
    ],
  ),
  ...[408, 429, 500, 502, 503, 504].map((status): [string, Say] => [
    `${status} with the error body of the interface`,
    answer(status, own('unavailable'), { 'content-type': 'application/json' }),
  ]),
  ['429 with Retry-After', answer(429, own('rate_limited'), { 'retry-after': '1' })],
  ['503 with Retry-After', answer(503, '', { 'retry-after': '1' })],
  ['a redirect', answer(302, '', { location: 'http://127.0.0.1:9/' })],
];

describeOneDatabase('a provider that honours keys, behind a proxy', (database) => {
  let fixture: DispatchFixture;
  let service: InterfaceServer;

  beforeEach(async () => {
    fixture = new DispatchFixture(database);
    service = await InterfaceServer.start();
    service.hasReports = false;
  });
  afterEach(async () => {
    // First the server: the stop of the app waits for requests without an answer.
    await service.close();
    await fixture.clear();
  });

  const provider = ({ url: baseUrl, apiToken, apiKey } = service) =>
    http({ baseUrl, apiToken, apiKey });
  const boot = () =>
    fixture.boot({ transport: provider(), policy: { remove: ['opt-in-required'] } });
  const posts = () => service.requests.filter(({ method }) => method === 'POST');
  const keys = () => new Set(posts().map(({ headers }) => headers['idempotency-key']));

  it('a submission keeps its key and its bytes, whatever the proxy answers after its acceptance', async () => {
    const { send, sms } = await boot();
    // The stored rows do not depend on the form of the answer.
    const answers = AFTER_ACCEPTANCE.filter((_, n) => database.kind === 'sqlite' || n % 6 === 0);
    for (const [name, say] of answers) {
      service.requests.length = 0;
      service.accepted.clear();
      service.replaceNextAnswer(say);
      const id = await send(name);
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
      expect([name, service.accepted.size, keys().size]).toEqual([name, 1, 1]);
      expect([name, new Set(posts().map(({ body }) => body)).size]).toEqual([name, 1]);
      expect([name, posts().length]).toEqual([name, 2]);
    }
  });

  it('a WhatsApp submission keeps its key, whatever the proxy answers after its acceptance', async () => {
    const { app } = await boot();
    const whatsapp = app.get(WhatsAppService);
    for (const say of [cut, answer(503), answer(502, HTML), answer(500, own('internal_error'))]) {
      service.replaceNextAnswer(say);
      const to = { to: '2348012345678', from: '2348000000001', language: 'en' };
      const sent = await whatsapp.sendTemplate({ ...to, template: 'hi', category: 'utility' });
      expect(await sent.outcome({ timeout: '20s' })).toMatchObject({ status: 'sent' });
    }
    expect(posts()).toHaveLength(8);
    expect(service.acceptedWhatsApp.size).toBe(4);
  });

  it("a refusal in the provider's own form is definite: the message is rejected, or waits in the queue", async () => {
    const { send, sms, messaging } = await boot();
    const refuse = (status: number, code: string) =>
      service.answer((_request, response) => answer(status, own(code))(response));
    refuse(422, 'sender_not_registered');
    const rejected = await send('rejected');
    await eventually(async () =>
      expect((await sms.batch(rejected)).counts).toEqual({ rejected: 1 }),
    );
    refuse(401, 'unauthorized');
    const waiting = await send('waits');
    await eventually(async () =>
      expect(await messaging.lanes()).toMatchObject([{ pauseReason: 'unauthorized' }]),
    );
    await eventually(async () => expect((await sms.batch(waiting)).counts).toEqual({ queued: 1 }));
    service.answer(undefined);
    await eventually(async () => expect((await sms.batch(waiting)).counts).toEqual({ sent: 1 }));
  });

  it('a message whose outcome is uncertain is shown as sending and cannot be cancelled', async () => {
    const { send, sms } = await boot();
    service.replaceNextAnswer(answer(503, '', { 'retry-after': '2' }));
    const id = await send('x');
    await eventually(async () => expect(service.accepted.size).toBe(1));
    expect((await sms.batch(id)).counts).toEqual({ sending: 1 });
    await expect(sms.cancel(id)).rejects.toMatchObject({ code: 'already_sent' });
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect([posts().length, keys().size]).toEqual([2, 1]);
  });

  it('a submission that was accepted before the proxy answered is found by its key and is not sent again', async () => {
    const { send, sms } = await boot();
    service.hasReports = true;
    for (const say of [answer(200, HTML), answer(200, '{}'), answer(500), cut]) {
      service.requests.length = 0;
      service.replaceNextAnswer(say);
      const id = await send('x');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ delivered: 1 }));
      const [asked] = service.requests.filter(({ method }) => method === 'GET');
      expect(asked?.url).toContain(`/ng/v1/deliveryreports?limit=1000&idempotency_key=${id}-s0`);
      expect([posts().length, service.accepted.size]).toEqual([1, 1]);
      service.accepted.clear();
    }
  });

  it('after a restart with other routes, the uncertain submission goes to its provider under its key', async () => {
    const backup = await InterfaceServer.start();
    const providers = { main: provider(), backup: provider(backup) };
    const first = await fixture.boot({ providers, routes: [{ use: 'main' }] });
    service.replaceNextAnswer(answer(429, HTML, { 'retry-after': '2' }));
    const id = await first.send('uncertain');
    await eventually(async () =>
      expect(await first.messaging.lanes()).toMatchObject([{ pauseReason: 'throttled' }]),
    );
    await first.app.close();
    const second = await fixture.boot({ providers, routes: [{ use: 'backup' }] });
    await second.send('new');
    await eventually(async () => expect((await second.sms.batch(id)).counts).toEqual({ sent: 1 }));
    await eventually(async () => expect(backup.accepted.size).toBe(1));
    expect([posts().length, keys().size, service.accepted.size]).toEqual([2, 1, 1]);
    expect(backup.requests.map(({ body }) => body)).toEqual([expect.stringContaining('new')]);
    await fixture.clear();
    await backup.close();
  });

  it('messages that arrive while a submission stays uncertain do not wait for it', async () => {
    const { send, sms } = await fixture.boot({ transport: provider(), backoff: '10m' });
    const stuck: ServerResponse[] = [];
    service.answer((request, response) => {
      if (!request.body.includes('stuck')) return false;
      // The first try is answered by the proxy, and a resend never.
      return service.handleUnheard(request, () => {
        if (stuck.push(response) === 1) answer(502, HTML)(response);
      });
    });
    const id = await send('stuck');
    await eventually(async () => expect(stuck).toHaveLength(1));
    for (const text of ['a', 'b', 'c']) {
      const next = await send(text);
      await eventually(async () => expect((await sms.batch(next)).counts).toEqual({ sent: 1 }));
    }
    expect((await sms.batch(id)).counts).toEqual({ sending: 1 });
    expect([stuck.length, service.accepted.size]).toEqual([1, 4]);
  });

  it('messages that arrive while a resend gets no answer leave before it ends', async () => {
    const { send, sms } = await boot();
    let tries = 0;
    service.answer((request, response) => {
      if (!request.body.includes('stuck')) return false;
      return service.handleUnheard(request, () => ++tries === 1 && answer(502, HTML)(response));
    });
    const id = await send('stuck');
    await eventually(async () => expect(tries).toBe(2));
    const next = await send('next');
    await eventually(async () => expect((await sms.batch(next)).counts).toEqual({ sent: 1 }));
    // The resend still waits: its end would be followed by another try.
    expect(tries).toBe(2);
    expect((await sms.batch(id)).counts).toEqual({ sending: 1 });
  });
});

describeEachDatabase(
  'a busy provider that honours keys, behind a faulty proxy',
  (database) => {
    it('each message is delivered once where 3 % each of cut connections, 500, 502 and 503 follow acceptance', async () => {
      const fixture = new DispatchFixture(database);
      const service = await InterfaceServer.start();
      service.hasReports = false;
      const { url: baseUrl, apiToken } = service;
      const { sms } = await fixture.boot({ transport: http({ baseUrl, apiToken }) });
      const chance = chances(20_261_122);
      const faults = [cut, answer(500), answer(502, HTML), answer(503, own('unavailable'))];
      let wrong = 0;
      service.answer((request, response) => {
        const fault = faults[Math.floor(chance() / 0.03)];
        if (!fault) return false;
        wrong++;
        return service.handleUnheard(request, () => fault(response));
      });
      const messages = database.kind === 'sqlite' ? 2_000 : 500;
      const to = Array.from({ length: messages }, (_, n) => String(2348010000000 + n));
      const ids = await Promise.all(
        to.map(async (one) => (await sms.send({ from: 'ACME', to: one, body: 'x' })).id),
      );
      for (const id of ids)
        await eventually(
          async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }),
          90_000,
        );
      expect(wrong).toBeGreaterThan(messages * 0.07);
      const delivered = [...service.accepted.values()].flatMap(
        ({ body }) => (JSON.parse(body) as { to: string[] }).to,
      );
      expect(delivered.toSorted()).toEqual(to);
      await fixture.clear();
      await service.close();
    });
  },
  ['sqlite', 'postgres'],
);

describeOneDatabase('a batch whose submissions all stay uncertain', (database) => {
  let fixture: DispatchFixture;
  beforeEach(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it.each([
    ['honoured', 3_600_000],
    ['not honoured', 0],
  ])(
    'the next batch is tried before more than a few of its messages were (keys %s)',
    async (_, idempotencyWindow) => {
      const transport = new ScriptedTransport({ maxRecipients: 1, idempotencyWindow });
      // Rests that are longer than a slow machine takes to plan the next batch.
      const { send, sms } = await fixture.boot({ concurrency: 2, backoff: 100 }, transport);
      const both = new Gate();
      transport.script = async (submission) => {
        await both.opened;
        if (textOf(submission) === 'poison') throw new UncertainFailure('http_502', 'x');
      };
      const to = Array.from({ length: 200 }, (__, n) => String(2348010000000 + n));
      await sms.send({ from: 'ACME', to, body: 'poison' });
      await send('next');
      both.open();
      await eventually(async () => expect(transport.texts).toEqual(['next']));
      const tried = transport.started.map(textOf).indexOf('next');
      expect(new Set(transport.started.slice(0, tried).map(({ id }) => id)).size).toBeLessThan(10);
    },
  );
});

describeOneDatabase('a provider without keys, behind a proxy', (database) => {
  let fixture: DispatchFixture;
  beforeEach(() => {
    fixture = new DispatchFixture(database);
  });
  afterEach(() => fixture.clear());

  it('only the error body of the interface proves that a submission was not accepted', async () => {
    const service = await InterfaceServer.start();
    const { url: baseUrl, apiToken } = service;
    const { send, sms } = await fixture.boot({
      transport: http({ baseUrl, apiToken, idempotencyWindow: 0 }),
    });
    const uncertain = [cut, answer(500, own('internal_error'))].concat(
      [400, 404, 408, 413, 429, 500, 502, 503, 504].map((status) => answer(status, HTML)),
    );
    for (const say of uncertain) {
      service.replaceNextAnswer(say);
      const id = await send('x');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
    }
    // Polls for the reports of `unknown` messages are requests, too.
    const posts = () => service.requests.filter(({ method }) => method === 'POST').length;
    expect([posts(), service.accepted.size]).toEqual([uncertain.length, uncertain.length]);
    for (const [status, code] of [
      [429, 'rate_limited'],
      [503, 'unavailable'],
    ] as const) {
      service.answerAsProxy({ status, body: own(code) }, 'before acceptance');
      const id = await send('x');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    }
    expect(posts()).toBe(uncertain.length + 4);
    await fixture.clear();
    await service.close();
  });

  it('only the text of Kannel proves that a submission was not accepted', async () => {
    const server = await SendsmsServer.start();
    const { url, username, password } = server;
    const { send, sms } = await fixture.boot({ transport: kannel({ url, username, password }) });
    for (const say of [cut, answer(502), answer(503), answer(503, HTML), answer(404, HTML)]) {
      server.replaceNextAnswer(say);
      const id = await send('x');
      await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ unknown: 1 }));
    }
    expect([server.requests.length, server.taken.length]).toEqual([5, 5]);
    server.answer((_request, response) => {
      server.answer(undefined);
      saysKannel(response, 503, 'Temporal failure, try again later.');
    });
    const id = await send('x');
    await eventually(async () => expect((await sms.batch(id)).counts).toEqual({ sent: 1 }));
    expect([server.requests.length, server.taken.length]).toEqual([7, 6]);
    await fixture.clear();
    await server.close();
  });
});
