import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PlivoServer } from '../../../../../test/support/providers/plivo-server.js';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import { plivo } from './plivo.transport.js';

const TO = '2348012345678';
const { signal } = new AbortController();
const api_id = '97ceeb52-58b6-11e1-86da-77300b68f8bb';

providerContract(
  'plivo',
  () => new PlivoServer(),
  ({ options }) => plivo(options),
  { refused: { recipients: ['9912345678'] }, polls: true, most: 1 },
);

describe('plivo', () => {
  let under: ProviderUnderTest<PlivoServer>;
  beforeAll(async () => {
    under = await openProvider(new PlivoServer(), ({ options }) =>
      plivo({ ...options, callbackUrl: 'https://app.example.com/dlr/plivo' }),
    );
  });
  afterAll(() => under.close());

  it('an SMS has an address of callbacks that names the submission', async () => {
    const accepted = await under.transport.submit(smsTo([TO]), signal);
    const { id, request } = under.server.taken.at(-1)!;
    expect(accepted).toEqual({ reference: id, messageIds: [id] });
    expect(request).toEqual({
      src: '+2348000000001',
      dst: `+${TO}`,
      type: 'sms',
      text: 'Hi & bye',
      url: `https://app.example.com/dlr/plivo?submission=${BATCH}-s0`,
      method: 'POST',
    });
  });

  it('a WhatsApp template has its parameters in the body', async () => {
    const content = { kind: 'template', template: 'order_ready', language: 'en', params: ['Ada'] };
    const message = smsTo([TO], { channel: 'whatsapp', content } as object);
    await under.transport.submit(message, signal);
    expect(under.server.taken.at(-1)?.request).toMatchObject({
      type: 'whatsapp',
      template: {
        name: 'order_ready',
        language: 'en',
        components: [{ type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }],
      },
    });
  });

  it.each([
    [400, PermanentFailure, 'invalid_parameter'],
    [401, PausedFailure, 'unauthorized'],
    [402, PausedFailure, 'payment_required'],
    [403, PausedFailure, 'account_restricted'],
    [404, PausedFailure, 'unauthorized'],
    [429, PausedFailure, 'throttled'],
    [500, UncertainFailure, 'http_500'],
  ])("an answer %i in Plivo's form is classified", async (status, kind, code) => {
    under.server.refuse({ status, body: { api_id, error: `about ${TO}` } });
    const failed = under.transport.submit(smsTo([TO]), signal);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(TO);
  });

  it('a number that the answer lists as invalid is refused', async () => {
    const body = { api_id, message: 'x', message_uuid: [], invalid_number: [TO] };
    under.server.refuse({ status: 202, body });
    await expect(under.transport.submit(smsTo([TO]), signal)).rejects.toMatchObject({
      name: 'PermanentFailure',
      code: 'invalid_number',
    });
  });

  it('a poll reads status and error of a message', async () => {
    await under.transport.submit(smsTo([TO]), signal);
    const message = under.server.taken.at(-1)!;
    message.state = 'undelivered';
    const query = { ...smsTo([TO]), submissionId: `${BATCH}-s0`, reference: message.id };
    expect(await under.transport.fetchReports?.([query], signal)).toMatchObject([
      {
        submissionId: `${BATCH}-s0`,
        messageId: message.id,
        status: 'undelivered',
        errorCode: '30',
      },
    ]);
  });

  namesWrongOptions(plivo, { authId: 'M'.repeat(20), authToken: 't'.repeat(20) }, [
    ['authId', { authId: 'hunter2' }],
    ['authToken', { authToken: 'hunter2\n' }],
    ['connections', { connections: 0 }],
  ]);
});
