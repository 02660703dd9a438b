import {
  MessagingModule,
  type MessagingOptions,
  simulator,
  type TransportFactory,
  WhatsAppService,
} from '@dundun/messaging';
import { PausedFailure, type MessageTransport } from '@dundun/messaging/ports';
import { smtp } from '@dundun/messaging/smtp';
import { inMemoryDatabase } from '@dundun/messaging/testing';
import { whatsappCloud } from '@dundun/messaging/whatsapp-cloud';
import { afterEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createServer } from 'node:net';
import { eventually } from '../../support/eventually.js';

const KEY = Buffer.alloc(32, 7).toString('base64');

let app: TestingModule | undefined;
afterEach(async () => {
  jest.restoreAllMocks();
  await app?.close();
  app = undefined;
});

async function boot(options: MessagingOptions): Promise<TestingModule> {
  app = await Test.createTestingModule({
    imports: [
      TypeOrmModule.forRoot(inMemoryDatabase()),
      MessagingModule.forRoot({ callbackPath: false, ...options }),
    ],
  }).compile();
  app.useLogger(false);
  return app.init();
}

/** The simulator with other members. */
const changed =
  (members: object): TransportFactory =>
  (context) =>
    Object.assign(simulator()(context), members) as MessageTransport;
const failing = () => {
  throw new Error('no route to host');
};

it.each<[string, TransportFactory, RegExp]>([
  ['factory throws', failing, /^providers\.backup: no route to host$/],
  [
    'factory refuses an option',
    smtp({ url: 'smtp://127.0.0.1:1', tls: 'off', verpKeys: [] }),
    /^providers\.backup: smtp\.verpKeys: must have at least one key$/,
  ],
  ['hook throws', changed({ onModuleInit: failing }), /^provider backup: no route to host$/],
  ['listen() throws', changed({ listen: failing }), /^provider backup: no route to host$/],
])('the boot error of a provider whose %s begins with its name', async (_, backup, error) => {
  const providers = { main: simulator(), backup };
  await expect(boot({ providers, routes: [{ use: 'main' }] })).rejects.toThrow(error);
});

it('the boot error of a mail listener whose port is taken begins with the name of its provider', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) =>
    taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)),
  );
  const listener = { port, host: '127.0.0.1' };
  const mail = smtp({ url: 'smtp://127.0.0.1:1', tls: 'off', verpKeys: [KEY], listener });
  await expect(boot({ providers: { mail } })).rejects.toThrow(/^provider mail: .*EADDRINUSE/);
  await new Promise((resolve) => taken.close(resolve));
});

it('errors of uploads, and of the read of templates, name the provider', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  const meta = whatsappCloud({
    token: 'x'.repeat(32),
    phoneNumberId: '106540352242922',
    wabaId: '106540352242923',
    baseUrl: 'http://127.0.0.1:1',
  });
  const running = await boot({ providers: { meta }, whatsapp: { templates: 'synced' } });
  const upload = running
    .get(WhatsAppService)
    .uploadMedia({ content: Buffer.from('%PDF-1.7'), contentType: 'application/pdf' });
  await expect(upload).rejects.toThrow(PausedFailure);
  await expect(upload).rejects.toThrow(/^meta: .*ECONNREFUSED/);
  await eventually(async () =>
    expect(error.mock.calls.map(([line]) => line)).toContainEqual(
      expect.stringMatching(/^templates: .*provider meta: /),
    ),
  );
});

it('a file goes to the provider that carries media of the tenant from the number', async () => {
  const uploads: string[] = [];
  const platform = (name: string): TransportFactory =>
    changed({
      uploadMedia: async (_: unknown, sender: string) => {
        uploads.push(`${name} ${sender}`);
        return `${name}-1`;
      },
    });
  const running = await boot({
    providers: { one: platform('one'), other: platform('other'), ads: platform('ads') },
    routes: [
      { channel: 'whatsapp', category: 'marketing', use: 'ads' },
      { channel: 'whatsapp', tenant: 'shop', use: 'one' },
      { channel: 'whatsapp', from: '2348012345678', use: 'ads' },
      { use: 'other' },
    ],
  });
  const whatsApp = running.get(WhatsAppService);
  const file = { content: Buffer.from('%PDF-1.7'), contentType: 'application/pdf' };
  expect([
    await whatsApp.uploadMedia(file, { tenant: 'shop' }),
    await whatsApp.uploadMedia(file, { tenant: 'bank' }),
    await whatsApp.uploadMedia(file),
    await whatsApp.uploadMedia({ ...file, from: '2348012345678' }, { tenant: 'bank' }),
  ]).toEqual(['one-1', 'other-1', 'other-1', 'ads-1']);
  expect(uploads).toEqual(['one ', 'other ', 'other ', 'ads 2348012345678']);
});
