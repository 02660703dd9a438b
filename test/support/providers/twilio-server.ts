import { basic, type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface TwilioMessage {
  readonly sid: string;
  readonly fields: URLSearchParams;
  status: string;
  createdAt: Date;
  /** `null`: still queued, so that no search by date finds it. @default the time of the request */
  sentAt: Date | null;
}

/** `Messages.json` of Twilio. @see https://www.twilio.com/docs/messaging/api/message-resource */
export class TwilioServer extends ProviderServer<TwilioMessage> {
  readonly accountSid = `AC${'a1'.repeat(16)}`;
  readonly authToken = 'f'.repeat(32);

  /** Most entries of a page, where fewer than the request wants. */
  mostOnPage = 1_000;

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
    if (url === `/2010-04-01/Accounts/${this.accountSid}/Balance.json`)
      return {
        status: 200,
        body: { account_sid: this.accountSid, balance: '12.50', currency: 'USD' },
      };
    const path = `/2010-04-01/Accounts/${this.accountSid}/Messages`;
    if (method === 'GET' && url.startsWith(`${path}.json?`)) return this.#listOf(url);
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
    const now = new Date();
    const message = { sid, fields, status: 'queued', createdAt: now, sentAt: now };
    this.taken.push(message);
    return { status: 201, body: resourceOf(message) };
  }

  /** The latest first; pages follow by the `next_page_uri` of the answer. */
  #listOf(url: string): ProviderAnswer {
    const { pathname, searchParams } = new URL(url, 'http://x');
    const [to, from, since] = ['To', 'From', 'DateSent>'].map((name) => searchParams.get(name));
    if (since && !/^\d{4}-\d\d-\d\d$/.test(since)) return refusal(400, 20001, 'Invalid DateSent');
    const found = this.taken
      .filter(({ fields }) => !to || fields.get('To') === to)
      .filter(({ fields }) => !from || fields.get('From') === from)
      .filter(({ sentAt }) => !since || (sentAt && sentAt.toISOString().slice(0, 10) >= since))
      .toReversed();
    const size = Math.min(Number(searchParams.get('PageSize') ?? 50), this.mostOnPage);
    const page = Number(searchParams.get('Page') ?? 0);
    const messages = found.slice(page * size, (page + 1) * size);
    searchParams.set('Page', String(page + 1));
    searchParams.set('PageToken', `PA${messages.at(-1)?.sid}`);
    const next = found.length > (page + 1) * size ? `${pathname}?${searchParams.toString()}` : null;
    return {
      status: 200,
      body: { messages: messages.map(resourceOf), page, page_size: size, next_page_uri: next },
    };
  }
}

function resourceOf({ sid, fields, status, createdAt, sentAt }: TwilioMessage) {
  return {
    sid,
    body: fields.get('Body') ?? '',
    direction: 'outbound-api',
    date_created: rfc2822(createdAt),
    date_sent: sentAt && rfc2822(sentAt),
    messaging_service_sid: fields.get('MessagingServiceSid'),
    to: fields.get('To'),
    from: fields.get('From'),
    status,
    error_code: status === 'undelivered' ? 30003 : null,
    error_message: null,
    num_segments: '1',
    price: null,
  };
}

function rfc2822(time: Date): string {
  return time.toUTCString().replace('GMT', '+0000');
}

function refusal(status: number, code: number, message: string): ProviderAnswer {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  return { status, body: { code, message, more_info, status } };
}
