import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import { transportContext } from '../../../../../test/support/transport-context.js';
import type { EmailContent } from '../../message/content/email-content.js';
import { PermanentFailure } from '../../message/errors.js';
import type { Submission } from '../../ports/message-transport.js';
import { http, type HttpTransport } from './http.transport.js';

const { signal } = new AbortController();
const [ADA, BEA, CAT, DAN] = ['ada', 'bea', 'cat', 'dan'].map((name) => `${name}@example.org`) as [
  string,
  string,
  string,
  string,
];
const CONTENT = {
  kind: 'email',
  from: { email: 'shop@example.com', name: 'Shop' },
  subject: 'Hello',
  text: 'Hello',
} as const satisfies EmailContent;
const BASE: Omit<Submission, 'content' | 'recipients'> = {
  id: '0198f6f0-0000-7000-8000-000000000001-s0',
  batchId: '0198f6f0-0000-7000-8000-000000000001',
  tenant: '',
  channel: 'email',
  sender: 'shop@example.com',
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date(1_790_000_000_000),
  firstSentAt: new Date(1_790_000_000_000),
};

describe('email over the interface', () => {
  let service: InterfaceServer;
  let transport: HttpTransport;

  beforeEach(async () => {
    service = await InterfaceServer.start();
    const { url: baseUrl, apiKey } = service;
    transport = http({ baseUrl, apiKey })(transportContext()) as HttpTransport;
  });
  afterEach(async () => {
    await transport.onApplicationShutdown();
    await service.close();
  });

  async function submit(
    content: Partial<EmailContent>,
    recipients: readonly string[],
    more: Partial<Submission> = {},
  ) {
    const of = { ...BASE, content: { ...CONTENT, ...content }, recipients, ...more };
    const accepted = await transport.submit(of as Submission, signal);
    const body = JSON.parse(service.requests.at(-1)?.body ?? '') as Record<string, unknown>;
    return { accepted, body };
  }

  it('a provider with an svk_ key alone carries email and WhatsApp', () => {
    expect(transport.capabilities.channels).toEqual(['whatsapp', 'email']);
  });

  it('an email goes out with all its fields, under the svk_ key, and the ids of its messages are kept', async () => {
    const { accepted, body } = await submit(
      {
        to: [{ email: ADA, name: 'Ada' }],
        cc: [{ email: BEA }],
        replyTo: [{ email: 'help@example.com' }],
        html: '<p>Hello</p>',
        headers: { 'X-Entity-Ref-ID': '7' },
        category: 'marketing',
        unsubscribeUrl: 'https://example.com/u',
      },
      [ADA, BEA, CAT],
      {
        labels: { tags: ['order'], metadata: { order: '7' } },
        attachments: [
          {
            filename: 'a.ics',
            contentType: 'text/calendar; method=REQUEST',
            content: Buffer.from('file'),
          },
          { filename: 'b.png', contentType: 'image/png', contentId: 'b', content: Buffer.of(1) },
        ],
      },
    );
    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/email/ng/v1/messages' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer svk_test',
      'idempotency-key': BASE.id,
    });
    expect(body).toEqual({
      from: { email: 'shop@example.com', name: 'Shop' },
      to: [{ email: ADA, name: 'Ada' }],
      cc: [{ email: BEA }],
      bcc: [CAT],
      reply_to: [{ email: 'help@example.com' }],
      subject: 'Hello',
      text: 'Hello',
      html: '<p>Hello</p>',
      attachments: [
        { filename: 'a.ics', content_type: 'text/calendar; method=REQUEST', content: 'ZmlsZQ==' },
        { filename: 'b.png', content_type: 'image/png', content: 'AQ==', content_id: 'b' },
      ],
      headers: { 'X-Entity-Ref-ID': '7' },
      category: 'marketing',
      unsubscribe_url: 'https://example.com/u',
    });
    const { reference, messageIds } = accepted;
    expect(messageIds).toEqual([0, 1, 2].map((position) => `${reference}-${position}`));
  });

  it('copies of their own go out with the variables of each recipient', async () => {
    const personal = [{ name: 'Ada', variables: { first: 'A' } }, undefined];
    const { body } = await submit({ subject: 'Hi {{first}}' }, [ADA, BEA], { personal });
    expect(body).toMatchObject({
      subject: 'Hi {{first}}',
      recipients: [{ email: ADA, name: 'Ada', variables: { first: 'A' } }, { email: BEA }],
    });
    expect(body).not.toHaveProperty('to');
  });

  it('only the recipients of the submission are named', async () => {
    const to = [{ email: ADA }, { email: BEA }];
    const cc = [{ email: CAT }];
    const addressed = async (recipients: readonly string[]) => {
      const { body } = await submit({ to, cc }, recipients, { id: `x-${recipients.join()}` });
      return [body['to'], body['cc'], body['bcc'], body['recipients']];
    };
    expect(await addressed([BEA])).toEqual([[{ email: BEA }], [], [], undefined]);
    expect(await addressed([CAT, DAN])).toEqual([[{ email: CAT }], [], [DAN], undefined]);
    expect(await addressed([DAN])).toEqual([[DAN], undefined, undefined, undefined]);
    expect(await addressed([DAN, 'eve@example.org'])).toEqual([
      undefined,
      undefined,
      undefined,
      [DAN, 'eve@example.org'],
    ]);
    const braces = submit({ to, text: '{{x}}' }, [DAN, 'eve@example.org']);
    await expect(braces).rejects.toBeInstanceOf(PermanentFailure);
  });

  it('a refusal of the service is the refusal of the message, with its code', async () => {
    const refused = submit({ from: { email: 'shop@example.net' } }, [ADA]);
    await expect(refused).rejects.toMatchObject({ code: 'domain_not_verified' });
    await expect(refused).rejects.toBeInstanceOf(PermanentFailure);
  });

  it('polls read the events of a send, with the details of a bounce', async () => {
    const { accepted } = await submit({}, [ADA, 'gone@example.org']);
    const { reference } = accepted;
    const query = { channel: 'email', recipients: [ADA], firstSentAt: BASE.firstSentAt };
    const reports = await transport.fetchReports(
      [
        { ...query, submissionId: BASE.id, reference },
        { ...query, submissionId: 'unknown', reference: 'nothing' },
        { ...query, submissionId: 'lost', reference: null },
      ],
      signal,
    );
    expect(reports).toMatchObject([
      { submissionId: BASE.id, reference, recipient: ADA, status: 'delivered' },
      {
        recipient: 'gone@example.org',
        status: 'bounced',
        errorCode: '5.1.1',
        details: { category: 'recipient', smtp_code: 550, enhanced_code: '5.1.1' },
      },
    ]);
  });
});
