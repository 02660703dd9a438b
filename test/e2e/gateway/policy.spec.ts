import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { minuteOfDay } from '../../../libs/messaging/src/policy/quiet-hours.policy.js';
import { describeOneDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { TestGateway } from './test-gateway.js';

/** Numbers in a zone with quiet hours now, and in one without. */
const [IN_LAGOS, IN_INDIA, IN_INDIA_TOO] = ['2348012345678', '919812345678', '919812345679'];

/** An hour before and after now, in Lagos. */
function aroundNow(): string {
  const now = minuteOfDay('Africa/Lagos', Date.now());
  return [now - 60, now + 60]
    .map((minute) => (minute + 1_440) % 1_440)
    .map((m) => [Math.floor(m / 60), m % 60].map((part) => String(part).padStart(2, '0')).join(':'))
    .join('-');
}

describeOneDatabase('a gateway with quiet hours and caps', (database) => {
  let gateway: TestGateway;
  let account: CreatedAccount;

  beforeAll(async () => {
    gateway = await new TestGateway({
      DATABASE_URL: database.url,
      QUIET_HOURS: aroundNow(),
      FREQUENCY_CAP: 'sms=2/24h marketing=1/7d',
      WHATSAPP_WAIT: '30s',
    }).start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const send = async (...to: string[]) => {
    const { status, body } = await gateway.call('POST', '/ng/v1/sendsms', {
      token: account.apiToken,
      body: { from: 'ACME', to, body: 'Hello' },
    });
    return { status, body, path: `/ng/v1/sms/${String(body['reference_id'])}` };
  };
  const countsAre = (path: string, counts: object) =>
    eventually(async () => {
      const { body } = await gateway.call('GET', path, { token: account.apiToken });
      expect(body['counts']).toEqual(counts);
    });

  it('quiet hours hold back only recipients whose local time is quiet', async () => {
    const night = await send(IN_LAGOS);
    const day = await send(IN_INDIA, IN_LAGOS);
    expect([night.status, day.status]).toEqual([200, 200]);
    await countsAre(day.path, { delivered: 1, queued: 1 });
    await countsAre(night.path, { queued: 1 });
    await eventually(async () => {
      const { body } = await gateway.call('GET', night.path, { token: account.apiToken });
      expect(body).toMatchObject({ status: 'queued', reason: 'quiet_hours' });
      expect(Date.parse(String(body['deferred_until']))).toBeGreaterThan(Date.now());
    });
    const recipients = `${day.path}/recipients`;
    const { body } = await gateway.call('GET', recipients, { token: account.apiToken });
    expect(body['data']).toMatchObject([
      { status: 'delivered', error_code: null },
      { status: 'queued', error_code: 'quiet_hours' },
    ]);
  });

  it('the frequency cap refuses messages above it, by recipient and category', async () => {
    const second = await send(IN_INDIA);
    await countsAre(second.path, { delivered: 1 });
    expect(await send(IN_INDIA)).toMatchObject({
      status: 422,
      body: { error: { type: 'policy_error', code: 'frequency_capped' } },
    });
    const both = await send(IN_INDIA, IN_INDIA_TOO);
    expect(both.status).toBe(200);
    await countsAre(both.path, { delivered: 1, rejected: 1 });
  });

  it('the frequency cap counts WhatsApp templates by their category', async () => {
    const post = (path: string, body: object) =>
      gateway.call('POST', `/whatsapp/ng/v1${path}`, { token: account.apiKey, body });
    const template = (template_name: string, ...params: string[]) =>
      post('/sendwhatsapp', {
        to: IN_INDIA,
        message_type: 'template',
        template_name,
        language: 'en',
        params,
      });
    await post('/contacts', { phone: IN_INDIA, opt_in: true });
    expect(await template('special_offer', '10 %')).toMatchObject({ body: { status: 'sent' } });
    expect(await template('special_offer', '20 %')).toMatchObject({
      status: 422,
      body: { error: { type: 'policy_error', code: 'frequency_capped' } },
    });
    expect(await template('order_update', 'Ada', '1')).toMatchObject({ body: { status: 'sent' } });
  });
});
