import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface ClickatellMessage {
  readonly to: string;
  readonly clientMessageId?: string;
  readonly [field: string]: unknown;
}

/** Errors of the numbers with these ends. */
const ERRORS: Readonly<Record<string, readonly [number, string]>> = {
  '9901': [25, 'Invalid recipient address'],
  '9902': [26, 'Recipient opted out'],
  '9903': [20, 'Insufficient account balance'],
  '9904': [45, 'FROM number is not related to integration'],
  '9905': [110, 'USA country limit: must use two-way integration'],
  '9906': [18, 'Internal error'],
};

/** `/v1/message` of One API. @see https://docs.clickatell.com/channels/one-api/one-api-reference/ */
export class ClickatellServer extends ProviderServer<ClickatellMessage> {
  readonly apiKey = 'XXXXXXXXXXXXXXXXXXXXXX==';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<ClickatellMessage>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== this.apiKey)
      return refusal(401, 1, 'Invalid or missing integration API Key');
    if (url === '/public-client/balance')
      return { status: 200, body: { balance: 12.5, currency: 'ZAR' } };
    if (url !== '/v1/message') return refusal(404, 41, 'Resource does not exist');
    const { messages } = JSON.parse(body) as { readonly messages: readonly ClickatellMessage[] };
    if (messages.length > 200)
      return refusal(400, 22, 'Maximum messages per request payload exceeded');
    const results = messages.map((message) => {
      const { to } = message;
      const [code, description] = ERRORS[to.slice(-4)] ?? [];
      if (code !== undefined)
        return { apiMessageId: null, accepted: false, to, error: { code, description } };
      this.taken.push(message);
      const apiMessageId = `fd496adebb6e42258736${String(this.taken.length).padStart(12, '0')}`;
      return { apiMessageId, accepted: true, to, error: null };
    });
    const accepted = results.filter((one) => one.accepted).length;
    const status = accepted === results.length ? 202 : accepted === 0 ? 400 : 207;
    return { status, body: { messages: results, error: null } };
  }
}

function refusal(status: number, code: number, description: string): ProviderAnswer {
  return { status, body: { messages: [], error: { code, description } } };
}
