import { basic, type ProviderAnswer, ProviderServer } from './provider-server.js';

export interface PlivoMessage {
  readonly id: string;
  readonly request: Readonly<Record<string, unknown>>;
  state: string;
}

const API_ID = '97ceeb52-58b6-11e1-86da-77300b68f8bb';

/** `Message/` of Plivo. @see https://www.plivo.com/docs/messaging/api/message */
export class PlivoServer extends ProviderServer<PlivoMessage> {
  readonly authId = 'MAXXXXXXXXXXXXXXXXXX';
  readonly authToken = 'token-of-the-account-1234';

  get options() {
    const { authId, authToken, url: baseUrl } = this;
    return { authId, authToken, baseUrl };
  }

  protected handle({
    method,
    url,
    headers,
    body,
  }: Parameters<ProviderServer<PlivoMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== basic(this.authId, this.authToken))
      return refusal(401, 'authentication failed');
    const path = `/v1/Account/${this.authId}/Message/`;
    if (url === `/v1/Account/${this.authId}/`)
      return { status: 200, body: { api_id: API_ID, auth_id: this.authId, cash_credits: '12.50' } };
    if (method === 'GET') {
      const found = this.taken.find(({ id }) => url === `${path}${id}/`);
      return found ? { status: 200, body: resourceOf(found) } : refusal(404, 'not found');
    }
    if (url !== path) return refusal(404, 'not found');
    const request = JSON.parse(body) as PlivoMessage['request'];
    const dst = String(request['dst']);
    if (dst.startsWith('+99')) return refusal(400, `${dst} is not a valid number`);
    const id = `db3ce55a-7f1d-11e1-8ea7-${String(this.taken.length).padStart(12, '0')}`;
    this.taken.push({ id, request, state: 'queued' });
    return {
      status: 202,
      body: { api_id: API_ID, message: 'message(s) queued', message_uuid: [id] },
    };
  }
}

function resourceOf({ id, request, state }: PlivoMessage) {
  return {
    api_id: API_ID,
    message_uuid: id,
    message_state: state,
    to_number: String(request['dst']).replace('+', ''),
    from_number: request['src'],
    error_code: state === 'undelivered' ? '30' : '000',
    total_amount: '0.00350',
  };
}

function refusal(status: number, error: string): ProviderAnswer {
  return { status, body: { api_id: API_ID, error } };
}
