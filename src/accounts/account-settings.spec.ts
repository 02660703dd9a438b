import { expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountSettings } from './account-settings.js';

it('a channel with a limit of its own has no higher rate, and other channels are as before', () => {
  const settings = new AccountSettings({} as DataSource);
  const most = { whatsapp: { max: 80, per: 1_000 } };
  const of = (max: number, per: number) => settings.rateLimit({ max, per }, most);
  expect(of(200, 1_000)('acc_1:whatsapp')).toEqual({ max: 80, per: 1_000 });
  expect(of(200, 1_000)('acc_1:sms')).toEqual({ max: 200, per: 1_000 });
  // 600 a minute are ten a second.
  expect(of(600, 60_000)('acc_1:whatsapp')).toEqual({ max: 600, per: 60_000 });
});

it('a word that an account has chosen keeps its meaning where a later version has it among the others', async () => {
  const account = {
    id: 'acc_1',
    rate: null,
    // `quit` opts out by default.
    consentWords: { start: ['ndiyo', 'quit'] },
  };
  const source = { manager: { find: () => Promise.resolve([account]) } };
  const settings = new AccountSettings(source as unknown as DataSource);
  await settings.onModuleInit();
  settings.onApplicationShutdown();
  const read = (text: string) =>
    settings.inbound.consent?.(text, { tenant: 'acc_1' } as Parameters<
      NonNullable<typeof settings.inbound.consent>
    >[1]);
  const words = ['ndiyo', 'quit', 'stop', 'unsubscribe', 'start'];
  expect(words.map(read)).toEqual(['opted_in', 'opted_in', 'opted_out', 'opted_out', undefined]);
});
