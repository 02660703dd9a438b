import { MessageHistory } from '@dundun/messaging/operations';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getDataSourceToken } from '@nestjs/typeorm';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { DataSource, IsNull, Not } from 'typeorm';
import ts from 'typescript';
import { Alerts } from '../../../src/alerts/alerts.js';
import type { Insights } from '../../../src/portal/portal-api.js';
import { ProbeEntity } from '../../../src/probes/probes.tables.js';
import { newWebhookSecret } from '../../../src/webhooks/webhook-signature.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { SendsmsServer } from '../../support/sendsms-server.js';
import { blocks, ROOT } from '../../docs/markdown-blocks.js';
import { signedIn } from '../portal/portal-client.js';
import { commandLine } from './command-line.js';
import { TestGateway } from './test-gateway.js';

const NUMBER = '2348012345678';
const NOWHERE = '01993021-0000-7000-8000-000000000000';

interface Result {
  readonly carrier: string;
  readonly state: string;
}

describeEachDatabase('probes to test phones', (database) => {
  const secret = newWebhookSecret();
  let smsc: SendsmsServer;
  let directory: string;
  let settings: Record<string, string>;
  /** What the gateway has answered to the phone. */
  const answers: unknown[] = [];
  let gateway: TestGateway;

  const source = () => gateway.running.app.get<DataSource>(getDataSourceToken(), { strict: false });
  /** The call of a phone, signed at a time. */
  const call = (body: string, at = new Date(), by = secret) => {
    const id = 'msg_1';
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(by).sign(id, at, body),
    };
    return fetch(`${settings['PUBLIC_URL']}/probes`, { method: 'POST', headers, body });
  };
  /** What the program of docs/routes.md gets that a phone runs. */
  const answeredToPhone = async (text: string): Promise<unknown> => {
    const [block] = blocks().filter(
      ({ page, code }) => page === 'docs/routes.md' && /\/probes'/.test(code),
    );
    const placed = (block?.code ?? '')
      .replace('https://messages.example.com', String(settings['PUBLIC_URL']))
      .replace(/'Probe [-0-9a-f]+'/, JSON.stringify(text));
    const { outputText } = ts.transpileModule(placed, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    });
    const args = ['--input-type=module', '--eval', outputText];
    const env = { PATH: process.env['PATH'], PROBE_SECRET: secret };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
    return JSON.parse(stdout);
  };
  const probe = async (...args: string[]) => {
    const { code, stdout, stderr } = await commandLine(
      ['probe', '--json', ...args],
      settings,
      directory,
    );
    expect(stderr).toBe('');
    expect(stdout).not.toContain(NUMBER);
    return { code, probes: (JSON.parse(stdout) as { probes: Result[] }).probes };
  };

  beforeAll(async () => {
    smsc = await SendsmsServer.start();
    directory = await mkdtemp(join(tmpdir(), 'dundun-probes-'));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { username, password } = smsc;
    const file = join(directory, 'carriers.json');
    await writeFile(
      file,
      JSON.stringify({
        carriers: {
          // It reports each message as delivered, and sends none.
          liar: { type: 'simulator' },
          honest: {
            type: 'kannel',
            url: smsc.url,
            username,
            password,
            callback_url: url,
            callback_secret: 'a-secret-of-kannel-1',
          },
        },
        routes: [{ channel: 'sms', use: { failover: ['liar', 'honest'] } }],
      }),
    );
    settings = {
      DATABASE_URL: database.url,
      PORT: String(port),
      PUBLIC_URL: url,
      CARRIERS_FILE: file,
      PROBE_NUMBERS: NUMBER,
      PROBE_SECRET: secret,
      PROBE_FROM: 'ACME',
      PROBE_WAIT: '8s',
      ALERTS_EVERY: '1s',
    };
    gateway = await new TestGateway(settings).start();
    // The phone calls what it gets, and the network reports it.
    smsc.answer(async ({ body, headers }) => {
      answers.push(await answeredToPhone(body));
      const link = String(headers['x-kannel-dlr-url']);
      const filled = link.replaceAll(/%(.)/g, (_, one: string) =>
        one === '%' ? '%' : one === 'd' ? '1' : 'x',
      );
      setTimeout(() => void fetch(filled), 200);
      return false;
    });
  });
  afterAll(async () => {
    await gateway?.destroy();
    await smsc?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('a message of an honest carrier arrives, one of a carrier that lies does not, and the exit code says so', async () => {
    const honest = await probe('--carrier', 'honest');
    expect(honest).toEqual({
      code: 0,
      probes: [
        {
          carrier: 'honest',
          country: 'NG',
          number: '+234 801 ••• 5678',
          state: 'arrived',
          reported: expect.any(String),
          seconds: expect.any(Number),
        },
      ],
    });
    const both = await probe();
    expect(both.code).toBe(1);
    expect(both.probes).toMatchObject([
      { carrier: 'liar', state: 'missing', reported: 'delivered', seconds: null },
      { carrier: 'honest', state: 'arrived' },
    ]);
    expect(new Set(smsc.taken.map(({ headers }) => headers['x-kannel-to']))).toEqual(
      new Set([NUMBER]),
    );
    await eventually(async () => expect(answers).toEqual([{ seen: true }, { seen: true }]));
    const wrong = await commandLine(['probe', '--json', '--carrier', 'none'], settings, directory);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('must carry SMS, as these: liar, honest'),
    ]);
  });

  it('a delivery that no phone has got is a doubt about the carrier and country: in Insights, in the command, and as an alert', async () => {
    const history = gateway.running.app.get(MessageHistory, { strict: false });
    await eventually(async () => {
      expect(await history.doubtfulReceipts()).toMatchObject([
        {
          provider: 'liar',
          channel: 'sms',
          country: 'NG',
          witness: 'phones',
          share: 0,
          others: 1,
          messages: 1,
          reason: 'test phones got 0 of 1 messages that were reported as delivered',
        },
      ]);
    }, 20_000);
    const operator = await signedIn(gateway, 'operator');
    const { doubts } = await operator.ok<Insights>('GET', 'insights');
    expect(doubts).toMatchObject([{ provider: 'liar', country: 'NG' }]);
    const { stdout } = await commandLine(['insights', 'receipts', '--json'], settings, directory);
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ provider: 'liar' }] });
    await eventually(async () => {
      const page = { account: null, limit: 10, cursor: undefined };
      const { data } = await gateway.running.app.get(Alerts, { strict: false }).list(page);
      expect(data).toMatchObject([
        { kind: 'doubtful_receipts', subject: 'liar sms NG phones', state: 'raised' },
      ]);
    }, 20_000);
  });

  it('a call without the right signature, of another time or without a text changes nothing', async () => {
    await source().manager.update(ProbeEntity, { carrier: 'liar' }, { seenAt: null });
    const { id } = await source().manager.findOneByOrFail(ProbeEntity, { carrier: 'liar' });
    const body = JSON.stringify({ text: `Probe ${id}` });
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    const bare = await fetch(`${settings['PUBLIC_URL']}/probes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    for (const answered of [
      bare,
      await call(body, new Date(), newWebhookSecret()),
      await call(body, minutes(-6)),
      await call(body, minutes(6)),
    ]) {
      expect(answered.status).toBe(401);
      expect(await answered.json()).toMatchObject({ error: { code: 'unauthorized' } });
    }
    for (const wrong of ['[', '{}', '{"text":1}']) expect((await call(wrong)).status).toBe(422);
    for (const other of ['Your code is 123456', `Probe ${NOWHERE}`, 'Probe x'])
      expect(await (await call(JSON.stringify({ text: other }))).json()).toEqual({ seen: false });
    const lies = source().manager;
    expect(await lies.countBy(ProbeEntity, { carrier: 'liar', seenAt: Not(IsNull()) })).toBe(0);
    // A call that is repeated keeps the time of the first.
    const [first, second] = [await call(body), await call(body)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await lies.countBy(ProbeEntity, { id, seenAt: Not(IsNull()) })).toBe(1);
  });

  it('with PROBE_EVERY two processes send the probes of a time once', async () => {
    await source().manager.deleteAll(ProbeEntity);
    const schedule = { ...settings, PORT: '0', PROBE_EVERY: '1h' };
    const others = [new TestGateway(schedule), new TestGateway(schedule)];
    await Promise.all(others.map((each) => each.start()));
    try {
      await eventually(async () => {
        const sent = await source().manager.find(ProbeEntity, { order: { slot: 'ASC' } });
        expect(sent.map(({ carrier }) => carrier)).toEqual(['honest', 'liar']);
        expect(sent.every(({ isOpen }) => isOpen === 0)).toBe(true);
      }, 30_000);
    } finally {
      await Promise.all(others.map((each) => each.destroy()));
    }
  });
});
