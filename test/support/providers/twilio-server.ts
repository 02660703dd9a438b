import { basic, type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface TwilioMessage {
  readonly sid: string;
  readonly fields: URLSearchParams;
  status: string;
}

/** `Messages.json` of Twilio. @see https://www.twilio.com/docs/messaging/api/message-resource */
export class TwilioServer extends ProviderServer<TwilioMessage> {
  readonly accountSid = `AC${'a1'.repeat(16)}`;
  readonly authToken = 'f'.repeat(32);

  get options() {
    const { accountSid, authToken, url: baseUrl } = this;
    return { accountSid, authToken, baseUrl };
  }

  protected handle({
    method,
    url,
    headers,
    body,
  }: Parameters<ProviderServer<TwilioMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== basic(this.accountSid, this.authToken))
      return refusal(401, 20003, 'Authenticate');
    const path = `/2010-04-01/Accounts/${this.accountSid}/Messages`;
    if (method === 'GET') {
      const found = this.taken.find(({ sid }) => url === `${path}/${sid}.json`);
      return found ? { status: 200, body: resourceOf(found) } : refusal(404, 20404, 'Not found');
    }
    if (url !== `${path}.json`) return refusal(404, 20404, 'The resource was not found');
    const fields = new URLSearchParams(body);
    const to = fields.get('To') ?? '';
    if (!/^(whatsapp:)?\+\d{8,15}$/.test(to)) return refusal(400, 21211, "Invalid 'To' Number");
    if (to.includes('+99')) return refusal(400, 21610, 'Attempt to send to unsubscribed recipient');
    if (!fields.has('Body') && !fields.has('ContentSid'))
      return refusal(400, 21602, 'Message body is required');
    if (!fields.has('From') && !fields.has('MessagingServiceSid'))
      return refusal(400, 21603, "A 'From' phone number is required");
    const sid = `SM${String(this.taken.length).padStart(32, '0')}`;
    const message = { sid, fields, status: 'queued' };
    this.taken.push(message);
    return { status: 201, body: resourceOf(message) };
  }
}

function resourceOf({ sid, fields, status }: TwilioMessage) {
  return {
    sid,
    to: fields.get('To'),
    from: fields.get('From'),
    status,
    error_code: status === 'undelivered' ? 30003 : null,
    error_message: null,
    num_segments: '1',
    price: null,
  };
}

function refusal(status: number, code: number, message: string): ProviderAnswer {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  return { status, body: { code, message, more_info, status } };
}
