import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { ClickatellServer } from '../../../../../test/support/providers/clickatell-server.js';
import {
  BATCH,
  namesWrongOptions,
  openProvider,
  providerContract,
  type ProviderUnderTest,
  smsTo,
} from '../../../../../test/support/providers/provider-contract.js';
import {
  PausedFailure,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { clickatellParser } from './clickatell.js';
import { clickatell } from './clickatell.transport.js';

const ADA = '2348012340001';
const OBI = '2348012340002';
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

providerContract(
  'clickatell',
  () => new ClickatellServer(),
  ({ options }) => clickatell(options),
  {
    refused: { recipients: ['2348012349901'] },
    refusedRecipient: '2348012349901',
    polls: false,
  },
);

describe('clickatell', () => {
  let under: ProviderUnderTest<ClickatellServer>;
  beforeAll(async () => {
    under = await openProvider(new ClickatellServer(), ({ options }) => clickatell(options));
  });
  afterAll(() => under.close());
  const submit = (...recipients: string[]) => under.transport.submit(smsTo(recipients), signal);

  it('each recipient has a message that names submission and recipient', async () => {
    const { messageIds } = await submit(ADA, OBI);
    expect(messageIds).toEqual([
      'fd496adebb6e42258736000000000001',
      'fd496adebb6e42258736000000000002',
    ]);
    expect(JSON.parse(under.server.requests.at(-1)!.body)).toEqual({
      messages: [ADA, OBI].map((to) => ({
        channel: 'sms',
        to,
        content: 'Hi & bye',
        clientMessageId: `${ID}.${to}`,
        from: '2348000000001',
      })),
    });
  });

  it('each recipient that is refused beside an accepted one has its reason', async () => {
    const { rejected } = await submit(ADA, '2348012349902', '2348012349904');
    expect(Object.fromEntries(rejected ?? [])).toEqual({
      2348012349902: '26',
      2348012349904: 'sender_unknown',
    });
  });

  it.each([
    ['9901', PermanentFailure, '25'],
    ['9903', PausedFailure, 'payment_required'],
    ['9904', UnroutableFailure, 'sender_unknown'],
    ['9905', UnroutableFailure, 'not_routable'],
    ['9906', UncertainFailure, '18'],
  ])('the error of a number %s decides', async (end, kind, code) => {
    const failed = submit(`234801234${end}`);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it.each([
    [401, 1, PausedFailure, 'unauthorized'],
    [400, 2, PausedFailure, 'account_restricted'],
    [402, 20, PausedFailure, 'payment_required'],
    [400, 43, PausedFailure, 'throttled'],
    [503, 19, RetryableFailure, '19'],
    [500, 18, UncertainFailure, '18'],
    [400, 21, PermanentFailure, '21'],
  ])('an answer %i with the error %i for all is classified', async (status, number, kind, code) => {
    const error = { code: number, description: 'x' };
    under.server.refuse({ status, body: { messages: [], error } });
    const failed = submit(ADA);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it('a WhatsApp text is sent, a template is not', async () => {
    await under.transport.submit(smsTo([ADA], { channel: 'whatsapp' }), signal);
    expect(under.server.taken.at(-1)).toMatchObject({ channel: 'whatsapp', content: 'Hi & bye' });
    const content = { kind: 'template', template: 'order_ready', language: 'en', params: [] };
    const template = smsTo([ADA], { channel: 'whatsapp', content } as object);
    await expect(under.transport.submit(template, signal)).rejects.toMatchObject({
      code: 'unsupported_content',
    });
  });

  it('a status without a recipient names submission and recipient by clientMessageId', () => {
    const update = {
      channel: 'sms',
      messageId: 'm-1',
      clientMessageId: `${ID}.${OBI}`,
      timestamp: 1_505_820_180_000,
      statusCode: 5,
      status: 'DEVICE_ACK',
    };
    const body = { integrationId: 'i', event: { messageStatusUpdate: [update] } };
    expect(clickatellParser().parse(callbackRequest({ body })).reports).toMatchObject([
      { submissionId: ID, messageId: 'm-1', recipient: OBI, status: 'delivered' },
    ]);
  });

  namesWrongOptions(clickatell, { apiKey: 'k'.repeat(20) }, [
    ['apiKey', { apiKey: 'hunter2' }],
    ['maxRecipients', { maxRecipients: 0 }],
    ['maxRecipients', { maxRecipients: 201 }],
  ]);
});
