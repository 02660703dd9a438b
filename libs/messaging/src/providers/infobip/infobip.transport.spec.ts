import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackRequest } from '../../../../../test/support/callback-request.js';
import { InfobipServer } from '../../../../../test/support/providers/infobip-server.js';
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
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { infobipParser } from './infobip.js';
import { infobip } from './infobip.transport.js';

const ADA = '2348012340001';
const OBI = '2348012340002';
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

providerContract(
  'infobip',
  () => new InfobipServer(),
  ({ options }) => infobip(options),
  {
    refused: { recipients: ['2348012349901'] },
    refusedRecipient: '2348012349901',
    polls: true,
  },
);

describe('infobip', () => {
  let under: ProviderUnderTest<InfobipServer>;
  beforeAll(async () => {
    under = await openProvider(new InfobipServer(), ({ options }) =>
      infobip({ ...options, callbackUrl: 'https://app.example.com/dlr/infobip' }),
    );
  });
  afterAll(() => under.close());
  const submit = (...recipients: string[]) =>
    under.transport.submit(smsTo(recipients, { sender: 'ACME' }), signal);

  it('several recipients are one message, with our ids and the submission for the reports', async () => {
    const accepted = await submit(ADA, OBI);
    const messageIds = [`${ID}.${ADA}`, `${ID}.${OBI}`];
    expect(accepted).toEqual({ reference: ID, messageIds });
    expect(JSON.parse(under.server.requests.at(-1)!.body)).toEqual({
      messages: [
        {
          sender: 'ACME',
          destinations: [
            { to: ADA, messageId: messageIds[0] },
            { to: OBI, messageId: messageIds[1] },
          ],
          content: { text: 'Hi & bye' },
          webhooks: {
            callbackData: ID,
            contentType: 'application/json',
            delivery: {
              url: 'https://app.example.com/dlr/infobip',
              intermediateReport: true,
              notify: true,
            },
          },
        },
      ],
    });
  });

  it('a repeated request with the same message ids is accepted once', async () => {
    const before = under.server.taken.length;
    await expect(submit(ADA, OBI)).resolves.toMatchObject({ reference: ID });
    expect(under.server.taken).toHaveLength(before);
  });

  it('WhatsApp texts and templates have their own addresses', async () => {
    const channel = 'whatsapp';
    const text = smsTo([ADA], { id: `${BATCH}-s1`, channel });
    await under.transport.submit(text, signal);
    const content = { kind: 'template', template: 'order_ready', language: 'en', params: ['Ada'] };
    const template = smsTo([ADA], { id: `${BATCH}-s2`, channel, content } as object);
    await under.transport.submit(template, signal);
    expect(under.server.taken.slice(-2)).toMatchObject([
      {
        path: '/whatsapp/1/message/text',
        request: { from: '2348000000001', to: ADA, content: { text: 'Hi & bye' } },
      },
      {
        path: '/whatsapp/1/message/template',
        request: {
          callbackData: `${BATCH}-s2`,
          content: {
            templateName: 'order_ready',
            language: 'en',
            templateData: { body: { placeholders: ['Ada'] } },
          },
        },
      },
    ]);
  });

  it.each([
    ['9903', PausedFailure, 'payment_required'],
    ['9904', UnroutableFailure, 'sender_unknown'],
    ['9905', UnroutableFailure, 'not_routable'],
    ['9902', PermanentFailure, 'REJECTED_DND'],
    ['9906', UncertainFailure, 'REJECTED_SYSTEM_ERROR'],
  ])('the status of a number %s decides', async (end, kind, code) => {
    const failed = submit(`234801234${end}`);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it.each([
    [400, { errorCode: 'E400', description: 'x', action: 'x' }, PermanentFailure, 'E400'],
    [401, { errorCode: 'E401', description: 'x', action: 'x' }, PausedFailure, 'unauthorized'],
    [
      401,
      { requestError: { serviceException: { messageId: 'UNAUTHORIZED', text: 'x' } } },
      PausedFailure,
      'unauthorized',
    ],
    [403, { errorCode: 'E403' }, PausedFailure, 'account_restricted'],
    [429, { errorCode: 'E429' }, PausedFailure, 'throttled'],
    [500, { errorCode: 'E500' }, UncertainFailure, 'E500'],
  ])('an answer %i %j is classified', async (status, body, kind, code) => {
    under.server.refuse({ status, body });
    const failed = submit(ADA);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
  });

  it('a poll of more recipients than one request names reads several logs', async () => {
    const recipients = Array.from({ length: 70 }, (_, n) => String(2348012341000 + n));
    const submission = smsTo(recipients, { id: `${BATCH}-s3` });
    await under.transport.submit(submission, signal);
    const query = { ...submission, submissionId: submission.id, reference: null };
    const reports = await under.transport.fetchReports?.([query], signal);
    expect(reports?.map(({ recipient }) => recipient).toSorted()).toEqual(recipients);
    expect(reports?.[0]).toMatchObject({ submissionId: submission.id, status: 'sent' });
  });

  it.each([
    [429, JSON.stringify({ errorCode: 'E429' }), PausedFailure],
    [503, '<html>', UncertainFailure],
  ])('a poll that is answered %i is a failure, and no report', async (status, body, kind) => {
    const submission = smsTo([ADA], { id: `${BATCH}-s4` });
    under.server.loseNextAnswer();
    await expect(under.transport.submit(submission, signal)).rejects.toThrow(UncertainFailure);
    const query = { ...submission, submissionId: submission.id, reference: null };
    const poll = () => under.transport.fetchReports?.([query], signal);
    under.server.answer((_request, response) => void response.writeHead(status).end(body));
    await expect(poll()).rejects.toBeInstanceOf(kind);
    under.server.answer(undefined);
    expect(await poll()).toMatchObject([{ submissionId: submission.id, status: 'sent' }]);
  });

  it('of two identical messages without an answer the logs tell which one arrived', async () => {
    const [arrived, never] = [5, 6].map((n) => smsTo([ADA], { id: `${BATCH}-s${n}` }));
    under.server.loseNextAnswer();
    await expect(under.transport.submit(arrived!, signal)).rejects.toThrow(UncertainFailure);
    const asked = [arrived!, never!].map((one) => {
      return { ...one, submissionId: one.id, reference: null };
    });
    expect(await under.transport.fetchReports?.(asked, signal)).toMatchObject([
      { submissionId: arrived!.id },
    ]);
  });

  it('a report names the submission by callbackData', () => {
    const results = [
      {
        bulkId: 'b',
        messageId: `${ID}.${ADA}`,
        to: ADA,
        doneAt: '2026-01-01T00:00:00.000+0000',
        callbackData: ID,
        status: { groupName: 'DELIVERED', name: 'DELIVERED_TO_HANDSET' },
        error: { name: 'NO_ERROR' },
      },
    ];
    const { reports } = infobipParser().parse(callbackRequest({ body: { results } }));
    expect(reports).toMatchObject([{ submissionId: ID, recipient: ADA, status: 'delivered' }]);
  });

  namesWrongOptions(infobip, { baseUrl: 'https://x.api.infobip.com', apiKey: 'k'.repeat(20) }, [
    ['baseUrl', { baseUrl: undefined }],
    ['apiKey', { apiKey: 'App hunter2-hunter2-hunter2' }],
    ['callbackUrl', { callbackUrl: 'hunter2' }],
  ]);
});
