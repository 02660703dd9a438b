import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import type { Template } from '../../../src/accounts/templates.js';
import { describeOneDatabase } from '../../support/databases.js';
import { type Answered, TestGateway } from './test-gateway.js';

const APPROVED: Template = {
  name: 'order_update',
  language: 'en',
  category: 'utility',
  status: 'approved',
  params_count: 1,
};

describeOneDatabase('a WhatsApp message repeated under its key', (db) => {
  let gateway: TestGateway;
  let account: CreatedAccount;
  let next = 0;

  beforeAll(async () => {
    gateway = await new TestGateway({ DATABASE_URL: db.url }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const ask = (path: string, body: object, headers = {}): Promise<Answered> =>
    gateway.call('POST', `/whatsapp/ng/v1${path}`, { token: account.apiKey, body, headers });
  const put = (template: Partial<Template>): Promise<void> =>
    gateway.accounts.putTemplate(account.accountId, { ...APPROVED, ...template });

  it.each([
    ['has another category', { category: 'marketing' }],
    ['is approved no more', { status: 'rejected' }],
    ['takes other params', { params_count: 2 }],
  ] as const)(
    'a repeated WhatsApp send gets its first answer although its template %s',
    async (_, change) => {
      const key = { 'idempotency-key': `key-${next}` };
      const to = `23482${String(next++).padStart(4, '0')}0000`;
      await ask('/contacts', { phone: to, opt_in: true });
      const template = { message_type: 'template', template_name: APPROVED.name, language: 'en' };
      const body = { ...template, to, params: ['1001'] };
      await put({});
      const first = await ask('/sendwhatsapp', body, key);
      expect(first).toMatchObject({ status: 200, body: { status: 'sent', category: 'utility' } });
      await put(change);
      const again = await ask('/sendwhatsapp', body, key);
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await ask('/sendwhatsapp', { ...body, params: ['2'] }, key)).toMatchObject({
        status: 422,
        body: { error: { code: 'idempotency_key_reused' } },
      });
      if ('category' in change) return;
      expect(await ask('/sendwhatsapp', body, { 'idempotency-key': 'fresh' })).toMatchObject({
        status: 422,
        body: { error: { code: expect.stringMatching(/^template_/) } },
      });
    },
  );
});
