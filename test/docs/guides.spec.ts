import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Processes, type RunningGateway } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { describeOneDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { Guide } from './guide.js';
import { ROOT } from './markdown-blocks.js';

const OWN = 'http://127.0.0.1:3000';

const isInstalled = (command: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((one) => existsSync(join(one, command)));

const RECEIVERS = join(ROOT, 'src/webhooks/receivers');

/** Debian has no .NET: its Mono compiles and runs the same file. */
const MONO = ['sh', '-c', 'mcs Receiver.cs && exec mono Receiver.exe'] as const;

/** The receivers of a page, by its table. */
function receiversOf(page: string) {
  const rows = page.matchAll(/^\| ([\w#]+) \| \[([\w.]+)\]\((\S+)\) \| `([^`]+)` \|$/gm);
  return [...rows].map(([, language = '', file = '', link = '', command = '']) => {
    const isMono = command.startsWith('dotnet ') && !isInstalled('dotnet') && isInstalled('mcs');
    const [program = '', ...args] = isMono ? MONO : command.split(' ');
    return { language, file, link, program, args };
  });
}

const PAGE = readFileSync(join(ROOT, 'docs/guides/verify-a-webhook.md'), 'utf8');

it('a guide has at most 90 lines, and a suite beside this one', () => {
  const names = readdirSync(join(ROOT, 'docs/guides'));
  const suites = readdirSync(join(ROOT, 'test/docs'))
    .filter((name) => name.endsWith('guides.spec.ts'))
    .map((name) => readFileSync(join(ROOT, 'test/docs', name), 'utf8'))
    .join();
  for (const name of names) {
    const page = readFileSync(join(ROOT, 'docs/guides', name), 'utf8');
    expect([name, page.split('\n').length <= 91]).toEqual([name, true]);
    expect(suites).toContain(`'${name.replace('.md', '')}'`);
  }
});

const GUIDES = readdirSync(join(ROOT, 'docs/guides')).map(
  (name) => [name, readFileSync(join(ROOT, 'docs/guides', name), 'utf8')] as const,
);

it.each(GUIDES.filter(([, page]) => /=.*change-me/.test(page)))(
  '%s says what to change before it prints a sample that production refuses',
  (_, page) => {
    expect(page.split(/^.*=.*change-me/m)[0]).toContain('in place of `change-me`');
  },
);

it.each(GUIDES.filter(([, page]) => page.includes('a proxy passes')))(
  '%s names the proxy that it asks for',
  (_, page) => {
    expect(page).toMatch(/`TRUSTED_PROXIES`[^]*^TRUSTED_PROXIES=/m);
  },
);

it('the guide of webhooks sets WEBHOOK_ALLOW_PRIVATE before the gateway starts', () => {
  expect(PAGE).toMatch(/WEBHOOK_ALLOW_PRIVATE=true[^.]*\.[^.]*`\.env` before the gateway starts/);
});

describe('guides for a running gateway', () => {
  let processes: Processes;
  let gateway: RunningGateway;
  let guide: Guide;
  let account: string;
  let token: string;

  beforeAll(() => buildGateway());
  beforeEach(async () => {
    processes = new Processes();
    gateway = await processes.gateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
    [token] = (await gateway.told(/tok_[0-9A-Za-z]{49}/)) as unknown as [string];
    [account] = (await gateway.told(/acc_[0-9A-Za-z]{22}/)) as unknown as [string];
  });
  afterEach(async () => {
    await guide.close();
    await processes.destroy();
  });

  async function open(name: string, places: Readonly<Record<string, string>> = {}): Promise<Guide> {
    guide = await Guide.open(
      name,
      { [OWN]: gateway.url, ...places },
      {
        DATABASE_URL: `sqlite:${join(await processes.directory(), 'gateway.sqlite')}`,
        WEBHOOK_ALLOW_PRIVATE: 'true',
        TOKEN: token,
        ACCOUNT: account,
      },
    );
    return guide;
  }

  const receivers = receiversOf(PAGE);
  it.each(receivers.filter(({ program }) => isInstalled(program)))(
    'the receiver in $language takes genuine callbacks alone ($program)',
    async ({ file, program, args }) => {
      const port = String(await freePort());
      await open('verify-a-webhook', { '8787': port });
      const [set = '', curl = '', send = '', ...others] = guide.blocks('sh');
      expect(others).toEqual([]);
      const [, secret = ''] = /secret +(whsec_\S+)/.exec(await guide.run(set)) ?? [];
      const code = readFileSync(join(RECEIVERS, file), 'utf8');
      await writeFile(join(guide.directory, file), guide.inPlace(code));
      const own = { WEBHOOK_SECRET: secret };
      guide.start(
        program,
        args.map((arg) => guide.inPlace(arg)),
        own,
      );
      await eventually(async () => void (await fetch(`http://127.0.0.1:${port}/`)));
      expect((await guide.run(curl, own)).trim().split('\n')).toEqual(['204', '401']);
      await guide.run(send);
      await eventually(async () =>
        expect(guide.output.match(/sms\.delivery_report/g)).toHaveLength(2),
      );
    },
  );
  for (const { language, program } of receivers.filter((one) => !isInstalled(one.program)))
    it.todo(
      `the receiver in ${language} takes genuine callbacks alone: ${program} is not installed`,
    );

  it('the guide lists every receiver, and shows those in Node and Python and the request as they are', () => {
    const listed = receiversOf(PAGE);
    expect([...listed.map(({ file }) => file), 'try.sh'].toSorted()).toEqual(
      readdirSync(RECEIVERS).toSorted(),
    );
    for (const { file, link } of listed) expect(link).toBe(`../../src/webhooks/receivers/${file}`);
    for (const file of ['receiver.mjs', 'receiver.py', 'try.sh'])
      expect(PAGE).toContain(`\n${readFileSync(join(RECEIVERS, file), 'utf8')}\`\`\``);
  });

  it('the guide of a queued message names the hold of its lane, and ends it', async () => {
    await gateway.stop('SIGTERM');
    const held = ['lanes', 'pause', '--lane', `${account}:sms`, '--reason', 'Works', '--json'];
    expect(await processes.dundun(held)).toMatchObject({ code: 0 });
    gateway = await processes.gateway();
    await open('message-stays-queued');
    const sent = await fetch(`${gateway.url}/ng/v1/sendsms`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'ACME', to: ['2348012345678'], body: 'Hello' }),
    });
    const { reference_id: id } = (await sent.json()) as { reference_id: string };
    const own = { REFERENCE: id };
    const [read = '', lanes = '', carriers = '', ready = '', resume = '', ...others] =
      guide.blocks('sh');
    expect(others).toEqual([]);
    expect(JSON.parse(await guide.run(read, own))).toMatchObject({ counts: { queued: 1 } });
    expect(await guide.run(lanes)).toMatch(/held +.*operator/);
    expect(await guide.run(carriers)).toMatch(/^carrier +channels +health/);
    expect(JSON.parse(await guide.run(ready))).toMatchObject({ status: expect.any(String) });
    expect(await guide.run(resume)).toMatch(/status +resumed/);
    await eventually(async () =>
      expect(JSON.parse(await guide.run(read, own))).toMatchObject({ counts: { delivered: 1 } }),
    );
  });
});

describeOneDatabase('the guide of two processes', (database) => {
  let guide: Guide;
  beforeAll(() => buildGateway());
  afterEach(() => guide.close());

  it('its commands run as written: the worker sends, and another one goes on after a kill', async () => {
    const [api, worker] = [await freePort(), await freePort()];
    guide = await Guide.open(
      'two-processes',
      {
        'postgres://dundun:change-me@127.0.0.1:5432/dundun': await database.another(),
        'PORT=3000': `PORT=${api}`,
        'PORT=3001': `PORT=${worker}`,
        '127.0.0.1:3000': `127.0.0.1:${api}`,
        '127.0.0.1:3001': `127.0.0.1:${worker}`,
      },
      { LEASE: '2s' },
    );
    const output = await guide.run(guide.blocks('sh').join('\n'));
    expect(output.match(/"delivered":1/g)).toHaveLength(2);
  });
});
