import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answered, TestGateway } from './test-gateway.js';

const PHONE = '2348012345678';
const EMAIL = 'ada@example.com';

const sms = { from: 'ACME', body: 'Order 1001 is on its way.' };
const voice = { from: '2348000000001', text: 'Your order is on its way.' };
const email = { from: 'Shop <hello@demo.test>', subject: 'Your order', text: 'It is on its way.' };
const whatsapp = {
  message_type: 'template',
  template_name: 'order_update',
  language: 'en',
  params: ['Ada', '1001'],
};

describe('the fields of a notification', () => {
  const gateway = new TestGateway();
  beforeAll(() => gateway.start());
  afterAll(() => gateway.destroy());

  const send = (body: object): Promise<Answered> =>
    gateway.call('POST', '/ng/v1/notifications', { token: gateway.running.demo?.apiKey, body });
  const refusalOf = ({ status, body }: Answered) => {
    const { code, details = [] } = body['error'] as {
      readonly code: string;
      readonly details?: readonly { readonly path: string }[];
    };
    return [status, code, ...details.map(({ path }) => path)];
  };

  it.each([
    [{}, 'invalid_field', ['via', 'to']],
    [{ to: PHONE, via: [] }, 'invalid_field', ['via']],
    [{ to: PHONE, via: 'sms', sms }, 'invalid_field', ['via']],
    [{ to: PHONE, via: Array.from({ length: 5 }, () => 'x') }, 'invalid_field', ['via']],
    [{ to: PHONE, via: ['vas'], sms }, 'invalid_field', ['via[0]', 'sms']],
    [{ to: PHONE, via: ['sms', 'sms'], sms }, 'invalid_field', ['via[1]']],
    [{ to: PHONE, via: ['sms', 'voice'], sms }, 'invalid_field', ['voice']],
    [{ to: PHONE, via: ['sms'], sms, vas: {} }, 'invalid_field', ['vas']],
    [{ to: [PHONE], via: ['sms'], sms }, 'invalid_field', ['to']],
    [{ to: `+${PHONE}`, via: ['sms'], sms }, 'invalid_field', ['to']],
    [{ to: 'a@b', via: ['sms'], sms }, 'invalid_field', ['to']],
    [{ to: EMAIL, via: ['sms'], sms }, 'invalid_field', ['to']],
    [{ to: {}, via: ['sms'], sms }, 'invalid_field', ['to']],
    [{ to: { phone: '1', fax: '1' }, via: ['sms'], sms }, 'invalid_field', ['to.fax', 'to.phone']],
    [{ to: PHONE, via: ['sms'], sms: 'Hello' }, 'invalid_field', ['sms']],
    [
      { to: PHONE, via: ['sms'], sms: { from: '+1', to: PHONE } },
      'invalid_field',
      ['sms.to', 'sms.from', 'sms.body'],
    ],
    [
      { to: PHONE, via: ['sms'], sms: { ...sms, content: 'Other' } },
      'conflicting_fields',
      ['sms.body', 'sms.content'],
    ],
    [
      { to: PHONE, via: ['voice'], voice: { ...voice, code: '1234', repeat: 4 } },
      'invalid_field',
      ['voice.repeat'],
    ],
    [
      { to: PHONE, via: ['voice'], voice: { ...voice, audio_url: 'https://x.example/a' } },
      'invalid_field',
      ['voice.audio_url'],
    ],
    [
      { to: PHONE, via: ['whatsapp'], whatsapp: { ...whatsapp, message_type: 'media' } },
      'invalid_field',
      ['whatsapp.message_type'],
    ],
    [
      { to: PHONE, via: ['whatsapp'], whatsapp: { ...whatsapp, template_name: 'none' } },
      'template_not_approved',
      ['whatsapp.template_name'],
    ],
    [
      { to: PHONE, via: ['whatsapp'], whatsapp: { ...whatsapp, params: [] } },
      'template_params_mismatch',
      ['whatsapp.params'],
    ],
    [
      { to: EMAIL, via: ['email'], email: { ...email, from: 'a@other.example' } },
      'domain_not_verified',
      ['email.from'],
    ],
    [
      { to: EMAIL, via: ['email'], email: { ...email, attachments: [] } },
      'invalid_field',
      ['email.attachments'],
    ],
    [
      { to: EMAIL, via: ['email'], email: { ...email, reply_to: ['x'], unsubscribe_url: 'x' } },
      'invalid_field',
      ['email.reply_to[0]', 'email.unsubscribe_url'],
    ],
    [
      { to: PHONE, via: ['sms'], sms, fallback: { after: 60, unless: 'read', before: 1 } },
      'invalid_field',
      ['fallback.before', 'fallback.after', 'fallback.unless'],
    ],
    [{ to: PHONE, via: ['sms'], sms, send_at: '2150-01-01' }, 'invalid_field', ['send_at']],
    [{ to: PHONE, via: ['sms'], sms, tags: ['a b'] }, 'invalid_field', ['tags[0]']],
    [
      { to: PHONE, via: ['sms'], sms, delivery_report: 'yes' },
      'invalid_field',
      ['delivery_report'],
    ],
  ])('a notification with %j is refused as %s at %j', async (body, code, paths) => {
    expect(refusalOf(await send(body))).toEqual([422, code, ...paths]);
  });

  it('a text that is too long is refused by the name that it was sent under', async () => {
    const long = { from: 'ACME', content: 'x'.repeat(2_000) };
    expect(refusalOf(await send({ to: PHONE, via: ['sms'], sms: long }))).toEqual([
      422,
      'invalid_field',
      'sms.content',
    ]);
  });
});
