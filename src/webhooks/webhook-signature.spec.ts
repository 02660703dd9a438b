import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, webhookHeaders } from './webhook-signature.js';

describe('webhook signature', () => {
  it('the signature matches the published test vector', () => {
    const headers = webhookHeaders(
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330_000,
      '{"test": 2432232314}',
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('the public package verifies the signature', () => {
    const secret = newWebhookSecret();
    const body = JSON.stringify({ type: 'sms.delivery_report', data: { from: 'ÀCMÉ 🥁' } });
    const headers = { ...webhookHeaders('id-1', Date.now(), body, [secret]) };
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature');
    expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'id-2' })).toThrow(
      'No matching signature',
    );
    expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow(
      'No matching signature',
    );
  });

  it('during a rotation satisfies receivers that know either secret', () => {
    const [next, previous] = [newWebhookSecret(), newWebhookSecret()];
    const headers = { ...webhookHeaders('id', Date.now(), '{}', [next, previous]) };
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    expect(new Webhook(next).verify('{}', headers)).toEqual({});
    expect(new Webhook(previous).verify('{}', headers)).toEqual({});
  });

  it('a new secret has 32 random bytes', () => {
    const secrets = Array.from({ length: 50 }, newWebhookSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
  });
});
