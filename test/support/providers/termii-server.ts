import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface TermiiMessage {
  readonly to: string;
  readonly from: string;
  readonly [field: string]: unknown;
}

/** `/api/sms/send` of Termii. @see https://developers.termii.com/messaging-api */
export class TermiiServer extends ProviderServer<TermiiMessage> {
  readonly apiKey = 'TL0123456789abcdef';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    body,
  }: Parameters<ProviderServer<TermiiMessage>['handle']>[0]): ProviderAnswer {
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (pathname === '/api/get-balance')
      return searchParams.get('api_key') === this.apiKey
        ? { status: 200, body: { user: 'ACME', balance: 12.5, currency: 'NGN' } }
        : { status: 401, body: { message: 'Unauthorized' } };
    if (url !== '/api/sms/send') return { status: 404, body: { message: 'Not found' } };
    const { api_key, ...message } = JSON.parse(body) as TermiiMessage;
    if (api_key !== this.apiKey) return { status: 401, body: { message: 'Unauthorized' } };
    if (message.from === 'UNKNOWN')
      return { status: 400, body: { code: 400, message: 'Invalid Sender Id', status: 'error' } };
    this.taken.push(message);
    const message_id = `9122821270554876${String(this.taken.length).padStart(3, '0')}`;
    return {
      status: 200,
      body: { code: 'ok', message_id, message: 'Successfully Sent', balance: 9, user: 'Ada' },
    };
  }
}
