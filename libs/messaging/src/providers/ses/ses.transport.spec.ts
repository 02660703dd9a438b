import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BATCH,
  emailTo,
  mailContract,
  namesWrongOptions,
  openProvider,
  type ProviderUnderTest,
} from '../../../../../test/support/providers/provider-contract.js';
import { SesServer } from '../../../../../test/support/providers/ses-server.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import {
  PausedFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { ses } from './ses.transport.js';

const [ADA, BEA, CAT] = ['ada@example.org', 'bea@example.org', 'cat@example.org'] as const;
const ID = `${BATCH}-s0`;
const { signal } = new AbortController();

mailContract(
  'ses',
  () => new SesServer(),
  ({ options }) => ses(options),
);

describe('ses', () => {
  let under: ProviderUnderTest<SesServer>;
  beforeAll(async () => {
    under = await openProvider(new SesServer(), ({ options }) => ses(options));
  });
  afterAll(() => under.close());
  const submit = (...given: Parameters<typeof emailTo>) =>
    under.transport.submit(emailTo(...given), signal);

  it('there are no keys, and each recipient has a request', () => {
    expect(under.transport.capabilities).toEqual({
      channels: ['email'],
      maxRecipients: 1,
      idempotencyWindow: 0,
      connections: 16,
    });
  });

  it('each recipient gets the whole message, and the submission is named', async () => {
    const content = {
      from: { email: 'shop@example.com', name: 'Shöp' },
      to: [{ email: ADA, name: 'Doe, Ada' }],
      cc: [{ email: BEA }],
      html: '<img src="cid:b">',
      headers: { 'X-Entity-Ref-ID': '7' },
      category: 'marketing',
      unsubscribeUrl: 'https://example.com/u',
    } as const;
    const attachments = [
      { filename: 'b.png', contentType: 'image/png', contentId: 'b', content: Buffer.of(1) },
      {
        filename: 'i.ics',
        contentType: 'text/calendar; method=REQUEST',
        content: Buffer.from('BEGIN:VCALENDAR'),
      },
    ];
    const { reference, messageIds } = await submit([CAT], content, { attachments });
    const sent = under.server.taken.at(-1)!;
    expect({ reference, messageIds }).toEqual({ reference: sent.id, messageIds: [sent.id] });
    expect(sent).toMatchObject({
      Destination: { ToAddresses: [CAT] },
      EmailTags: [{ Name: 'submission', Value: ID }],
      ConfigurationSetName: 'mail',
    });
    const hidden = under.server.lastMessage;
    for (const line of [
      `To: "Doe, Ada" <${ADA}>`,
      `Cc: ${BEA}`,
      'X-Entity-Ref-ID: 7',
      'List-Unsubscribe: <https://example.com/u>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      'Content-ID: <b>',
      'Content-Type: text/calendar; method=REQUEST',
    ])
      expect(hidden).toContain(`\r\n${line}`);
    expect(hidden).toMatch(/^From: =\?UTF-8\?/);
    expect(hidden).not.toContain(CAT);
    await submit([ADA], content, { attachments });
    expect(under.server.lastMessage).toBe(hidden);
  });

  it('temporary credentials are asked for before each request', async () => {
    const { credentials } = under.server;
    let asked = 0;
    const tokens = ses({
      ...under.server.options,
      credentials: () => {
        if (++asked > 1) throw new Error('hunter2');
        return { ...credentials, sessionToken: 'token-of-a-role' };
      },
    })(transportContext());
    // The double signs without the token.
    await expect(tokens.submit(emailTo([ADA]), signal)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect(under.server.requests.at(-1)!.headers['x-amz-security-token']).toBe('token-of-a-role');
    const before = under.server.requests.length;
    const failed = tokens.submit(emailTo([ADA]), signal);
    await expect(failed).rejects.toBeInstanceOf(PausedFailure);
    await expect(failed).rejects.not.toThrow(/hunter2/);
    expect(under.server.requests).toHaveLength(before);
  });

  it.each([
    [403, 'InvalidSignatureException', 'x', PausedFailure, 'unauthorized'],
    [403, 'AccessDeniedException', 'x', PausedFailure, 'unauthorized'],
    [400, 'AccountSuspendedException', 'x', PausedFailure, 'account_restricted'],
    [429, 'TooManyRequestsException', 'x', PausedFailure, 'throttled'],
    [400, 'LimitExceededException:http://internal/', 'x', PausedFailure, 'throttled'],
    [400, 'MailFromDomainNotVerifiedException', 'x', UnroutableFailure, 'sender_unknown'],
    [400, 'MessageRejected', 'Email address is not verified.', UnroutableFailure, 'sender_unknown'],
    [400, 'MessageRejected', 'x', PermanentFailure, 'MessageRejected'],
    [503, 'ServiceUnavailable', 'x', UncertainFailure, 'ServiceUnavailable'],
    [500, 'InternalFailure', 'x', UncertainFailure, 'InternalFailure'],
  ])('an answer %i %s (%s) is classified', async (status, type, message, kind, code) => {
    under.server.fail(status, type, message);
    const failed = submit([ADA]);
    await expect(failed).rejects.toBeInstanceOf(kind);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.not.toThrow(under.server.credentials.secretAccessKey);
  });

  const { region, credentials } = new SesServer();
  const valid = { region, credentials };
  namesWrongOptions(ses, valid, [
    ['region', { region: 'Ireland' }],
    [
      'credentials.secretAccessKey',
      { credentials: { ...credentials, secretAccessKey: 'hunter2 ' } },
    ],
    ['credentials.accessKeyId', { credentials: undefined }],
    ['configurationSet', { configurationSet: 'a set' }],
  ]);
});
