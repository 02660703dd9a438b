import { http } from '@dundun/messaging';
import { standardWebhooks } from '@dundun/messaging/values';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interfaceParser } from '../../libs/messaging/src/providers/http/interface-callbacks.js';
import { callbackRequest } from '../support/callback-request.js';
import { RecordingServer } from '../support/recording-server.js';
import { transportContext } from '../support/transport-context.js';
import { ROOT } from './markdown-blocks.js';

const [, SECTION = ''] = readFileSync(join(ROOT, 'docs/carriers.md'), 'utf8').split(
  '### The interface of SMS\n',
);
const [REQUEST = messageOf(''), REPORT = messageOf('')] = [
  ...SECTION.matchAll(/^```http\n(.*?)^```$/gms),
].map(([, text = '']) => messageOf(text));
const [, ANSWER = ''] = /^```json\n(.*?)^```$/ms.exec(SECTION) ?? [];

const TOKEN = 'tok_0123456789';
let service: RecordingServer;

beforeEach(async () => {
  service = new RecordingServer((_, response) => response.end(ANSWER));
  await service.listen();
});
afterEach(() => service.close());

it('the request that docs/carriers.md shows is what http() sends, and its answer accepts the submission', async () => {
  const transport = http({ baseUrl: service.url, apiToken: TOKEN })(transportContext());
  const { from, to, body } = JSON.parse(REQUEST.body) as Record<string, string>;
  const id = REQUEST.headers['idempotency-key'] ?? '';
  const at = new Date();
  const { reference } = await transport.submit(
    {
      id,
      batchId: id.replace(/-s0$/, ''),
      tenant: '',
      channel: 'sms',
      sender: from ?? '',
      content: { kind: 'text', text: body ?? '' },
      recipients: to as unknown as string[],
      deliveryReport: true,
      attempt: 1,
      dueAt: at,
      firstSentAt: at,
    },
    new AbortController().signal,
  );
  const [sent] = service.requests;
  expect(`${sent?.method} ${sent?.url}`).toBe(REQUEST.start);
  expect(sent?.body).toBe(REQUEST.body);
  const authorization = `Bearer ${TOKEN}`;
  expect(sent?.headers).toMatchObject({ ...REQUEST.headers, authorization });
  expect(reference).toBe((JSON.parse(ANSWER) as Record<string, unknown>)['reference_id']);
});

it('the report that docs/carriers.md shows is signed with its secret, and names the submission of the answer', () => {
  const { headers, body } = REPORT;
  const [secret = ''] = /whsec_[A-Za-z0-9+/=]{24,}/.exec(SECTION) ?? [];
  const request = callbackRequest({
    headers,
    body: JSON.parse(body) as unknown,
    rawBody: Buffer.from(body),
    receivedAt: Number(headers['webhook-timestamp']) * 1_000,
  });
  expect(standardWebhooks([secret]).verify(request)).toBe(true);
  const { reference_id: reference } = JSON.parse(ANSWER) as Record<string, unknown>;
  expect(interfaceParser(transportContext().channels).parse(request).reports).toMatchObject([
    {
      reference,
      recipient: '2348012345678',
      status: 'delivered',
      messageId: `${String(reference)}-0`,
    },
  ]);
});

/** The parts of a request; names of headers in small letters. */
function messageOf(text: string) {
  const [head = '', body = ''] = text.trim().split('\n\n');
  const [start = '', ...lines] = head.split('\n');
  const headers: Record<string, string> = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at).toLowerCase(), line.slice(at + 2)];
    }),
  );
  return { start, headers, body };
}
