import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { PROVIDERS } from '../integration/providers/provider-cases.js';
import { buildPackages } from '../support/builds.js';
import { freePort } from '../support/free-port.js';
import { type FreshApp, packagesOfReadme, writeSettings } from '../frame/fresh-app.js';
import { Guide } from './guide.js';
import { ROOT } from './markdown-blocks.js';

const APP: FreshApp = {
  manager: 'npm',
  nest: 12,
  server: 'express',
  runner: 'jest',
  builder: 'swc',
};

/** As `nest new` makes it, with what a guide asks for in words. */
const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, { rawBody: true });
app.enableShutdownHooks();
await app.listen(process.env.PORT ?? 3000);
`;

let guide: Guide | undefined;
beforeAll(() => buildPackages());
afterEach(async () => guide?.close());

/** The guide in a fresh app, whose packages are those of the repository. */
async function open(
  name: string,
  places: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Guide> {
  const port = String(await freePort());
  guide = await Guide.open(
    name,
    { '127.0.0.1:3000': `127.0.0.1:${port}`, ...places },
    { PORT: port, ...env },
  );
  const { directory } = guide;
  await writeSettings(directory, APP);
  await mkdir(join(directory, 'src'));
  await writeFile(join(directory, 'src/main.ts'), MAIN);
  const packages = join(directory, 'node_modules');
  await mkdir(packages);
  for (const one of await readdir(join(ROOT, 'node_modules')))
    if (!one.startsWith('.')) await symlink(join(ROOT, 'node_modules', one), join(packages, one));
  await writeDriver(join(packages, 'better-sqlite3'));
  return guide;
}

/** The repository has libsql in the place of better-sqlite3, which needs a compiler. */
async function writeDriver(folder: string): Promise<void> {
  const source = await readFile(join(ROOT, 'src/config/sqlite-driver.ts'), 'utf8');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
    },
  });
  await mkdir(folder);
  const manifest = { name: 'better-sqlite3', version: '12.0.0', main: 'index.cjs' };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'index.cjs'), `${outputText}\nmodule.exports = SqliteDriver;\n`);
}

/** The install line of the library's README, which a suite of its own runs in fresh apps. */
async function expectInstalled(): Promise<void> {
  const installed = await readFile(join(guide!.directory, 'npm.log'), 'utf8');
  const names = (await packagesOfReadme(APP)).filter((name) => name !== '@dundun/dashboard');
  expect(installed.split('\n')[0]).toBe(`install ${names.join(' ')}`);
}

it('the first message: the app compiles, places an order and hears that its SMS is delivered', async () => {
  const opened = await open('first-message');
  expect(await opened.walk()).toMatch(/"order":1,"message":"[^"]+"[^]*is delivered/);
  const body = new URLSearchParams({ phone: 'hello' });
  const wrong = await fetch(opened.inPlace('http://127.0.0.1:3000/orders'), {
    method: 'POST',
    body,
  });
  expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 'invalid_field' }]);
  await expectInstalled();
});

it('the test of an app: its tests pass, in the app of the first message', async () => {
  const first = await readFile(join(ROOT, 'docs/guides/first-message.md'), 'utf8');
  const opened = await open('test-an-app');
  for (const [, file = '', code = ''] of first.matchAll(
    /`(src\/[^`]+)`:\n\n```ts file\n([^]*?)^```/gm,
  ))
    await writeFile(join(guide!.directory, file), code);
  expect(await opened.walk()).toMatch(/Tests: +3 passed, 3 total/);
});

it('the migration from nestjs-twilio: the app compiles, and a reminder leaves for Twilio', async () => {
  const twilio = PROVIDERS.find(([name]) => name === 'twilio')![1]('/dlr/twilio');
  await twilio.server.listen();
  try {
    const { account_sid: sid = '', auth_token: token = '' } = twilio.carrier();
    const opened = await open(
      'migrate-from-nestjs-twilio',
      {
        'transport: twilio({ accountSid,': `transport: twilio({ baseUrl: '${twilio.server.url}', accountSid,`,
      },
      { TWILIO_ACCOUNT_SID: sid, TWILIO_AUTH_TOKEN: token },
    );
    expect(await opened.walk()).toMatch(/is sent/);
    expect(twilio.server.taken).toHaveLength(1);
    await expectInstalled();
  } finally {
    await twilio.server.close();
  }
});

it('the migration from BullMQ: two requests with one key send one message', async () => {
  const opened = await open('migrate-from-bullmq');
  const ids = [...(await opened.walk()).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  await expectInstalled();
});
