import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { transportContext } from '../../../../../test/support/transport-context.js';
import { Logger } from '@nestjs/common';
import { PausedFailure, PermanentFailure, UncertainFailure } from '../../message/errors.js';
import type { SentSubmission, Submission } from '../../ports/message-transport.js';
import { InterfaceServer } from '../../../../../test/support/interface-server.js';
import type { HttpTransportOptions } from './http.options.js';
import { http, type HttpTransport } from './http.transport.js';

const { signal } = new AbortController();
const template: Submission = {
  id: '0198f6f0-0000-7000-8000-000000000001-s0',
  batchId: '0198f6f0-0000-7000-8000-000000000001',
  tenant: '',
  channel: 'whatsapp',
  sender: '2348000000001',
  content: {
    kind: 'template',
    template: 'order_update',
    language: 'en',
    params: ['Ade', '17'],
    category: 'utility',
  },
  recipients: ['2348012345678'],
  deliveryReport: true,
  attempt: 1,
  dueAt: new Date(1_790_000_000_000),
  firstSentAt: new Date(1_790_000_000_000),
};
const text: Submission = { ...template, content: { kind: 'text', text: 'Your code is 1234' } };

describe('WhatsApp over the interface', () => {
  let service: InterfaceServer;
  let made: HttpTransport[];
  const transport = (options: Partial<HttpTransportOptions> = {}) => {
    const { url: baseUrl, apiToken, apiKey } = service;
    const one = http({ baseUrl, apiToken, apiKey, ...options })(transportContext());
    made.push(one as HttpTransport);
    return one as HttpTransport;
  };
  const answer = (status: number, body: unknown) =>
    service.answer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });

  beforeEach(async () => {
    service = await InterfaceServer.start();
    made = [];
  });
  afterEach(async () => {
    await Promise.all(made.map((one) => one.onApplicationShutdown()));
    await service.close();
  });

  const [LINK, FILE] = ['https://cdn.example.com/a.png', { mediaId: '44', filename: 'a.pdf' }];
  it.each([
    [
      'a text header',
      { header: { type: 'text', text: 'Ade' } },
      { components: { header: { type: 'text', text: 'Ade' } } },
    ],
    [
      'a document as header',
      { header: { type: 'document', ...FILE } },
      { components: { header: { type: 'document', media_id: '44', filename: 'a.pdf' } } },
    ],
    [
      'buttons',
      {
        buttons: [
          { type: 'url', index: 0, suffix: 'a/1' },
          { type: 'quick_reply', index: 1, payload: 'yes' },
          { type: 'copy_code', index: 2, code: 'A1' },
        ],
      },
      {
        components: {
          buttons: [
            { type: 'url', index: 0, value: 'a/1' },
            { type: 'quick_reply', index: 1, value: 'yes' },
            { type: 'copy_code', index: 2, value: 'A1' },
          ],
        },
      },
    ],
    [
      'media',
      { kind: 'media', type: 'image', link: LINK, caption: 'Here' },
      { message_type: 'media', media: { type: 'image', link: LINK, caption: 'Here' } },
    ],
  ])('%s goes out in its own fields', async (_, content, fields) => {
    const whole = 'kind' in content ? content : { ...template.content, ...content };
    await transport().submit({ ...template, content: whole } as Submission, signal);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject(fields);
  });

  it('an upload is the bytes of the file with its type and name', async () => {
    answer(200, { media_id: '106540352242922' });
    const content = Buffer.from([0x25, 0x50, 0xff, 0x00]);
    const file = { content, contentType: 'application/pdf', filename: 'a b.pdf' };
    expect(await transport().uploadMedia(file, '', signal)).toBe('106540352242922');
    const [request] = service.requests;
    expect(request).toMatchObject({
      method: 'POST',
      url: '/whatsapp/ng/v1/media?filename=a%20b.pdf',
      headers: { authorization: 'Bearer svk_test', 'content-type': 'application/pdf' },
    });
    answer(422, { error: { code: 'invalid_field' } });
    await expect(transport().uploadMedia(file, '', signal)).rejects.toBeInstanceOf(
      PermanentFailure,
    );
  });

  it('a template goes out as section 2.3 says, under the svk_ key, and the answer is kept whole', async () => {
    const accepted = await transport().submit(template, signal);
    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/whatsapp/ng/v1/sendwhatsapp' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer svk_test',
      'content-type': 'application/json',
      'idempotency-key': template.id,
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      to: '2348012345678',
      message_type: 'template',
      template_name: 'order_update',
      language: 'en',
      params: ['Ade', '17'],
    });
    expect(accepted).toEqual({
      reference: expect.stringMatching(/^wamid\./),
      messageIds: [accepted.reference],
      details: { cost: '0.0125', currency: 'USD', category: 'utility', sender: '2348000000001' },
    });
    expect(await transport().submit({ ...template, attempt: 2 }, signal)).toEqual(accepted);
    expect(service.acceptedWhatsApp.size).toBe(1);
  });

  it.each([
    ['text', {}],
    ['text', { textField: { sms: 'content' } }],
    ['content', { textField: { whatsapp: 'content' } }],
    ['body', { textField: { whatsapp: 'body' } }],
  ] as const)('a text goes out in the field %s', async (field, options) => {
    await transport(options).submit(text, signal);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
      to: '2348012345678',
      message_type: 'text',
      [field]: 'Your code is 1234',
    });
  });

  it('price and sender of an answer are used only where they have the right type', async () => {
    const lies = { cost: -1, currency: 'dollars', category: {}, sender: null };
    answer(200, { message_id: 'wamid.1', status: 'queued', ...lies });
    expect((await transport().submit(text, signal)).details).toEqual({});
    answer(200, { message_id: 'wamid.1', cost: 1e-7, category: 'x'.repeat(300), sender: 17 });
    expect((await transport().submit(text, signal)).details).toEqual({
      cost: '0.0000001',
      category: 'x'.repeat(64),
      sender: '17',
    });
    answer(200, { status: 'sent' });
    await expect(transport().submit(text, signal)).rejects.toBeInstanceOf(UncertainFailure);
  });

  it.each(['window_closed', 'opt_in_required', 'template_not_approved'])(
    'the refusal %s is for good, by its code',
    async (code) => {
      answer(422, { error: { type: 'policy_error', code, message: 'No' } });
      const failure = await transport()
        .submit(text, signal)
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(PermanentFailure);
      expect(failure).toMatchObject({ code });
    },
  );

  it('the error of a refused key names the credential, and never shows it', async () => {
    const failure = await transport({ apiKey: 'svk_other' })
      .submit(text, signal)
      .catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(PausedFailure);
    expect(String((failure as Error).message)).toMatch(/Check apiKey$/);
    expect(String((failure as Error).message)).not.toContain('svk_other');
  });

  it('without a key the transport names WhatsApp as not configured, and stored messages wait', async () => {
    const { apiToken, url: baseUrl } = service;
    const keyless = http({ baseUrl, apiToken })(transportContext());
    made.push(keyless as HttpTransport);
    expect(keyless.capabilities.channels).toEqual(['sms', 'voice', 'vas']);
    expect(transport().capabilities.channels).toEqual(['sms', 'whatsapp', 'email', 'voice', 'vas']);
    await expect(keyless.submit(text, signal)).rejects.toBeInstanceOf(PausedFailure);
    expect(service.requests).toEqual([]);
  });

  it('a poll asks for each message by its id, and a message that the service does not know fails no other', async () => {
    const { reference } = await transport().submit(template, signal);
    const sent = (submissionId: string, known: string | null): SentSubmission => ({
      submissionId,
      channel: 'whatsapp',
      reference: known,
      recipients: ['2348012345678'],
      firstSentAt: template.firstSentAt,
    });
    const asked = [sent('a', 'wamid.gone'), sent(template.id, reference), sent('b', null)];
    expect(await transport().fetchReports(asked, signal)).toEqual([
      {
        submissionId: template.id,
        reference,
        messageId: reference,
        recipient: '2348012345678',
        status: 'read',
        rawStatus: 'read',
        errorCode: null,
        providerTime: null,
      },
    ]);
  });

  it('a poll that is cut short keeps its reports, and delays no SMS', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    const asked: SentSubmission[] = [];
    for (let n = 0; n < 20; n++) {
      const submission = { ...template, id: `${template.batchId}-s${n}` };
      const { reference } = await transport().submit(submission, signal);
      const { id: submissionId, channel, recipients, firstSentAt } = submission;
      asked.push({ submissionId, channel, reference, recipients, firstSentAt });
    }
    service.requests.length = 0;
    service.answer((_request, response) => {
      if (service.requests.length <= 8) return false;
      response.writeHead(429, { 'retry-after': '1' }).end('{}');
      return true;
    });
    expect(await transport().fetchReports(asked, signal)).toHaveLength(8);
    service.answer((request, response) => {
      if (!request.url.startsWith('/whatsapp/')) return false;
      response.writeHead(401).end('{}');
      return true;
    });
    const sms = { ...text, channel: 'sms', sender: service.sender } as const;
    const { reference } = await transport().submit(sms, signal);
    const { recipients, firstSentAt } = sms;
    const other = {
      submissionId: 'sms',
      channel: 'sms',
      reference,
      recipients,
      firstSentAt,
    } as const;
    expect(await transport().fetchReports([...asked, other], signal)).toMatchObject([
      { submissionId: 'sms', status: 'delivered' },
    ]);
    warn.mockRestore();
  });
});
