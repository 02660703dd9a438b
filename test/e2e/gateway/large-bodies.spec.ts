import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import type { CreatedAccount } from '../../../src/accounts/accounts.service.js';
import { newSecret } from '../../../src/accounts/credentials.js';
import { newWebhookSecret } from '../../../src/webhooks/webhook-signature.js';
import { TestGateway } from './test-gateway.js';

const SEND = '/ng/v1/sendsms';
const CALLBACKS = '/messaging/delivery-reports';

/** Invalid JSON, so that the answer shows whether the body was parsed. */
const noJson = (bytes: number): string => 'x'.repeat(bytes);

describe('a large body', () => {
  const gateway = new TestGateway({
    CARRIER: 'http',
    CARRIER_URL: 'http://127.0.0.1:9',
    CARRIER_TOKEN: newSecret('api_token'),
    CARRIER_CALLBACK_SECRET: newWebhookSecret(),
  });
  let account: CreatedAccount;

  beforeAll(async () => {
    await gateway.start();
    account = await gateway.account();
  });
  afterAll(() => gateway.destroy());

  const post = async (path: string, raw: string, token?: string): Promise<unknown> => {
    const { status, body } = await gateway.call('POST', path, { raw, ...(token && { token }) });
    return [status, (body['error'] as { code: string }).code];
  };

  it('a large body of a request with a valid credential is read', async () => {
    const { apiToken, apiKey } = account;
    expect(await post(SEND, noJson(100_000), apiToken)).toEqual([400, 'malformed_json']);
    expect(await post('/whatsapp/ng/v1/contacts', noJson(100_000), apiKey)).toEqual([
      400,
      'malformed_json',
    ]);
  });

  it('a large body without a valid credential is not read', async () => {
    const [rotated, suspended] = [await gateway.account('rotated'), await gateway.account('away')];
    await gateway.accounts.rotateToken(rotated.accountId);
    await gateway.accounts.suspend(suspended.accountId);
    const refused = [401, 'unauthorized'];
    expect(await post(SEND, noJson(100_000))).toEqual(refused);
    expect(await post(SEND, noJson(100_000), 'tok_x')).toEqual(refused);
    expect(await post(SEND, noJson(100_000), newSecret('api_token'))).toEqual(refused);
    expect(await post(SEND, noJson(100_000), rotated.apiToken)).toEqual(refused);
    expect(await post(SEND, noJson(100_000), suspended.apiToken)).toEqual([
      403,
      'account_disabled',
    ]);
    expect(await post('/ng/v1/nothing', noJson(100_000))).toEqual([404, 'not_found']);
  });

  it('a chunked body without a valid credential is not read', async () => {
    const answer = await fetch(gateway.url + SEND, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Readable.toWeb(Readable.from([Buffer.from('{')])) as ReadableStream,
      duplex: 'half',
    });
    expect(answer.status).toBe(401);
    await answer.text();
  });

  it('the callback path reads bodies up to 1 MiB and parses none without a signature', async () => {
    expect(await post(CALLBACKS, noJson(1_000_000))).toEqual([401, 'unauthorized']);
    expect(await post(CALLBACKS, noJson(1_100_000))).toEqual([413, 'payload_too_large']);
  });

  it('a small body is read before the credential is checked', async () => {
    expect(await post(SEND, noJson(60_000))).toEqual([400, 'malformed_json']);
  });
});
