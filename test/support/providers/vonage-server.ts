import { verify } from 'node:crypto';
import { basic, type ProviderAnswer, ProviderServer } from './provider-server.js';

interface VonageMessage {
  readonly from: string;
  readonly to: string;
  readonly client_ref?: string;
  readonly [field: string]: unknown;
}

/** What the Reports API knows of a message. */
interface VonageRecord {
  readonly id: string;
  readonly message: VonageMessage;
  status: string;
  receivedAt: Date;
}

/**
 * `/v1/messages` and `/v2/reports/records` of Vonage.
 * @see https://developer.vonage.com/en/api/messages
 * @see https://developer.vonage.com/en/api/reports
 */
export class VonageServer extends ProviderServer<VonageMessage> {
  /** Records of the messages; one that is not here yet is not found. */
  readonly records: VonageRecord[] = [];
  /** Most records of an answer. */
  mostOnPage = 1_000;
  now = () => new Date();
  readonly apiKey = 'abcd1234';
  readonly apiSecret = 'secret-of-the-account';
  /** Public key of an application, which may be used instead of key and secret. */
  publicKey: string | undefined;

  get options() {
    const { apiKey, apiSecret, url: baseUrl } = this;
    return { apiKey, apiSecret, baseUrl };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<VonageMessage>['handle']>[0]): ProviderAnswer {
    if (!this.#isAllowed(headers.authorization ?? '')) return refusal(401, '#unauthorized');
    if (url === '/v2/applications?page_size=1')
      return {
        status: 200,
        body: { page_size: 1, total_items: 0, _embedded: { applications: [] } },
      };
    if (url.startsWith('/v2/reports/records?')) return this.#recordsOf(url, headers.authorization);
    if (url !== '/v1/messages') return refusal(404, '#not-found');
    const message = JSON.parse(body) as VonageMessage;
    if (message.to === undefined) return refusal(422, '/messages#1150');
    if (!/^\d{7,15}$/.test(message.to)) return refusal(422, '/messages#1170');
    if (message.to.startsWith('99')) return refusal(422, '/messages#1240');
    this.taken.push(message);
    const id = `aaaaaaaa-bbbb-4ccc-8ddd-${String(this.taken.length).padStart(12, '0')}`;
    this.records.push({ id, message, status: 'submitted', receivedAt: this.now() });
    return { status: 202, body: { message_uuid: id } };
  }

  #recordsOf(url: string, authorization: string | undefined): ProviderAnswer {
    // It takes no token of an application.
    if (authorization !== basic(this.apiKey, this.apiSecret)) return refusal(401, '#unauthorized');
    const { searchParams } = new URL(url, 'http://x');
    const given = (name: string) => searchParams.get(name);
    const [from, until] = ['date_start', 'date_end'].map((name) => Date.parse(given(name) ?? ''));
    const hasTimes = from! >= 0 && until! - from! <= 86_400_000;
    const isAsked = given('account_id') === this.apiKey && given('direction') === 'outbound';
    if (!isAsked || given('product') !== 'MESSAGES' || hasTimes === (given('id') !== null))
      return refusal(422, '/reports#invalid-filter');
    const ids = given('id')?.split(',');
    const found = this.records.filter(({ id, message, receivedAt }) =>
      ids
        ? ids.includes(id)
        : message.to === given('to') &&
          receivedAt.getTime() >= from! &&
          receivedAt.getTime() < until!,
    );
    const start = Number(given('cursor') ?? 0);
    const end = start + this.mostOnPage;
    searchParams.set('cursor', String(end));
    const next = { href: `https://api.nexmo.com/v2/reports/records?${searchParams.toString()}` };
    const isMore = found.length > end;
    const records = found.slice(start, end).map(recordOf);
    return {
      status: 200,
      body: {
        _links: { self: { href: url }, ...(isMore && { next }) },
        request_status: isMore ? 'TRUNCATED' : 'SUCCESS',
        items_count: records.length,
        records,
      },
    };
  }

  #isAllowed(authorization: string): boolean {
    if (authorization === basic(this.apiKey, this.apiSecret)) return true;
    const [head, claims, signature] = authorization.replace('Bearer ', '').split('.');
    if (!this.publicKey || !signature) return false;
    const signed = Buffer.from(`${head}.${claims}`);
    return verify('sha256', signed, this.publicKey, Buffer.from(signature, 'base64url'));
  }
}

function recordOf({ id, message, status, receivedAt }: VonageRecord) {
  return {
    account_id: 'abcd1234',
    message_id: id,
    client_ref: message.client_ref,
    direction: 'outbound',
    from: message.from,
    to: message.to,
    provider: message['channel'],
    status,
    error_code: '0',
    date_received: receivedAt.toISOString(),
    date_finalized: receivedAt.toISOString(),
    total_price: '0.0100',
    currency: 'EUR',
  };
}

/** RFC 7807. */
function refusal(status: number, error: string): ProviderAnswer {
  return { status, body: problem(error) };
}

export function problem(error: string) {
  return {
    type: `https://developer.vonage.com/api-errors${error}`,
    title: 'A title',
    detail: 'What is wrong',
    instance: 'bf0ca0bf927b3b52e3cb03217e1a1ddf',
  };
}
