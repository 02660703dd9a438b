import { type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface TelnyxMessage {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  status: string;
}

/** `/v2/messages` of Telnyx. @see https://developers.telnyx.com/api-reference/messages/send-a-message */
export class TelnyxServer extends ProviderServer<TelnyxMessage> {
  readonly apiKey = 'KEY0123456789ABCDEF_abcdefghijklmnop';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    method,
    url,
    headers,
    body,
  }: Parameters<ProviderServer<TelnyxMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `Bearer ${this.apiKey}`)
      return refusal(401, '10009', 'Authentication failed');
    if (url === '/v2/balance')
      return {
        status: 200,
        body: {
          data: {
            balance: '1.00',
            credit_limit: '11.50',
            available_credit: '12.50',
            currency: 'USD',
          },
        },
      };
    if (method === 'GET') {
      const found = this.taken.find(({ id }) => url === `/v2/messages/${id}`);
      return found
        ? { status: 200, body: { data: payloadOf(found) } }
        : refusal(404, '10005', 'Resource not found');
    }
    if (url !== '/v2/messages') return refusal(404, '10005', 'Resource not found');
    const request = JSON.parse(body) as TelnyxMessage['request'];
    const to = String(request['to']);
    if (!/^\+\d{8,15}$/.test(to)) return refusal(400, '40310', "Invalid 'to' address");
    if (to.startsWith('+99')) return refusal(400, '40300', 'Blocked due to STOP message');
    if (request['from'] === undefined && request['messaging_profile_id'] === undefined)
      return refusal(400, '40305', "Invalid 'from' address");
    const id = `40385f64-5717-4562-b3fc-${String(this.taken.length + 1).padStart(12, '0')}`;
    const message = { id, request, status: 'queued' };
    this.taken.push(message);
    return { status: 200, body: { data: payloadOf(message) } };
  }
}

/** The payload of answers and webhooks. */
export function payloadOf({ id, request, status }: TelnyxMessage) {
  const failed = { code: '40008', title: 'Undeliverable' };
  return {
    record_type: 'message',
    direction: 'outbound',
    id,
    type: 'SMS',
    from: { phone_number: request['from'], carrier: 'Telnyx', line_type: 'Wireless' },
    to: [{ phone_number: request['to'], status, carrier: 'MTN', line_type: 'Wireless' }],
    text: request['text'],
    encoding: 'GSM-7',
    parts: 1,
    errors: status === 'delivery_failed' ? [failed] : [],
    webhook_url: request['webhook_url'] ?? null,
  };
}

function refusal(status: number, code: string, title: string): ProviderAnswer {
  return { status, body: telnyxError(code, title) };
}

export function telnyxError(code: string, title = 'A title') {
  const url = `https://developers.telnyx.com/docs/overview/errors/${code}`;
  return { errors: [{ code, title, detail: 'What is wrong', meta: { url } }] };
}
