import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { WebhookEndpointsService } from '../../../src/webhooks/webhook-endpoints.service.js';
import { OURS } from '../../integration/providers/provider-case.js';
import { PROVIDERS } from '../../integration/providers/provider-cases.js';
import { Receiver } from '../../integration/webhooks/receiver.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

const WRITER = '2348012345601';

/** All of them in one file, each for the numbers of its own prefix. */
describe('a gateway whose carriers are providers over HTTP', () => {
  const providers = PROVIDERS.map(([name, make], n) => {
    return { name, prefix: `2348${10 + n}`, ...make(`/callbacks/${name}`) };
  });
  let directory: string;
  let gateway: TestGateway;
  let account: CreatedAccount;
  let receiver: Receiver;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dundun-providers-'));
    await Promise.all(providers.map(({ server }) => server.listen()));
    const carriers = Object.fromEntries(
      providers.map(({ name, carrier }) => [name, { type: name, ...carrier() }]),
    );
    const routes = providers.map(({ name, prefix }) => {
      return { channel: 'sms', to: [prefix], use: name };
    });
    const file = join(directory, 'carriers.json');
    await writeFile(file, JSON.stringify({ carriers, routes }));
    receiver = await Receiver.start();
    gateway = new TestGateway({ CARRIERS_FILE: file, WEBHOOK_ALLOW_PRIVATE: 'true' });
    await gateway.start();
    account = await gateway.account();
    await gateway.senders.addNumber(account.accountId, OURS);
    const webhooks = gateway.running.app.get(WebhookEndpointsService, { strict: false });
    await webhooks.set(account.accountId, receiver.url);
  });
  afterAll(async () => {
    await gateway?.destroy();
    await receiver?.close();
    await Promise.all(providers.map(({ server }) => server.close()));
    await rm(directory, { recursive: true });
  });

  type Callback = ReturnType<(typeof providers)[number]['delivered']>;
  const post = async ({ path, body, headers }: Callback) =>
    (await fetch(gateway.url + path, { method: 'POST', headers, body })).status;
  const told = (type: string) =>
    receiver.received
      .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
      .filter((event) => event.type === type)
      .map(({ data }) => data);

  it.each(providers)(
    'an SMS leaves by $name, and is delivered by the callback at its path',
    async ({ prefix, server, lastId, delivered }) => {
      const to = `${prefix}1234567`;
      const sent = await gateway.call('POST', '/ng/v1/sendsms', {
        token: account.apiToken,
        body: { from: 'ACME', to: [to], body: 'Hello', delivery_report: 'yes' },
      });
      expect(sent.status).toBe(200);
      const id = String(sent.body['reference_id']);
      const counts = async () =>
        (await gateway.call('GET', `/ng/v1/sms/${id}`, { token: account.apiToken })).body['counts'];
      await eventually(async () => expect(await counts()).toEqual({ sent: 1 }));
      expect(server.taken).toHaveLength(1);
      expect(await post(delivered({ id: lastId(), submission: `${id}-s0`, to }))).toBe(204);
      expect(await counts()).toEqual({ delivered: 1 });
      await eventually(async () =>
        expect(
          told('sms.delivery_report').filter((data) => data['reference_id'] === id),
        ).toContainEqual(expect.objectContaining({ to, status: 'delivered' })),
      );
    },
  );

  it.each(providers)(
    "an SMS to the account's number at $name calls its webhook; one that is changed is refused",
    async ({ name, written }) => {
      const text = `Hello ${name}`;
      const callback = written(WRITER, text);
      expect(await post(callback)).toBe(204);
      await eventually(async () =>
        expect(told('sms.message_received')).toContainEqual(
          expect.objectContaining({ from: WRITER, to: OURS, text }),
        ),
      );
      const changed = {
        ...callback,
        path: callback.path.replace(/secret-.*/, 'another-secret-of-theirs'),
        body: callback.body.replace('Hello', 'Hallo'),
      };
      expect(await post(changed)).toBe(401);
    },
  );

  it.each(providers)(
    'a check of the address by $name, an empty GET or POST, is answered 200',
    async ({ name, written }) => {
      const bare = `${gateway.url}/callbacks/${name}`;
      const whole = gateway.url + written(WRITER, 'x').path;
      for (const address of [bare, whole.split('?')[0] ?? ''])
        for (const init of [
          {},
          { method: 'POST' },
          { method: 'POST', headers: { 'content-type': 'application/json' } },
          { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        ])
          expect((await fetch(address, init)).status).toBe(200);
      expect((await fetch(`${bare}x`)).status).toBe(404);
    },
  );

  it('a form in ISO-8859-1 is read in its character set', async () => {
    const talking = providers.find(({ name }) => name === 'africas-talking');
    const { path } = talking?.written(WRITER, 'x') ?? { path: '' };
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=iso-8859-1' };
    const body = `text=Arr%EAt&to=${OURS}&id=e1&from=%2B${WRITER}`;
    expect(await post({ path, body, headers })).toBe(204);
    await eventually(async () =>
      expect(told('sms.message_received')).toContainEqual(
        expect.objectContaining({ from: WRITER, text: 'Arrêt' }),
      ),
    );
  });

  it('an SMS from a short code or a name calls the webhook with it as its sender', async () => {
    const talking = providers.find(({ name }) => name === 'africas-talking');
    const { path, headers } = talking?.written(WRITER, 'x') ?? { path: '', headers: {} };
    for (const [n, from] of ['21512', 'My Bank'].entries()) {
      const fields = { text: 'Your code', to: OURS, id: `named-${n}`, from };
      expect(await post({ path, headers, body: new URLSearchParams(fields).toString() })).toBe(204);
      await eventually(async () =>
        expect(told('sms.message_received')).toContainEqual(
          expect.objectContaining({ from, bsuid: null, text: 'Your code' }),
        ),
      );
    }
  });

  it('no line of the log has a secret of a carrier', () => {
    const log = gateway.log.join('');
    const secrets = providers.flatMap(({ carrier }) =>
      Object.entries(carrier()).filter(([key]) =>
        /secret|token|(?:api|access|signing)_key$/.test(key),
      ),
    );
    for (const [, secret] of secrets) expect(log).not.toContain(secret);
  });
});
