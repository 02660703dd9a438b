import { verify } from 'node:crypto';
import { basic, type ProviderAnswer, ProviderServer } from './provider-server.js';

interface VonageMessage {
  readonly to: string;
  readonly client_ref?: string;
  readonly [field: string]: unknown;
}

/** `/v1/messages` of Vonage. @see https://developer.vonage.com/en/api/messages */
export class VonageServer extends ProviderServer<VonageMessage> {
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
    if (url !== '/v1/messages') return refusal(404, '#not-found');
    const message = JSON.parse(body) as VonageMessage;
    if (!/^\d{7,15}$/.test(message.to)) return refusal(422, '/messages#1170');
    if (message.to.startsWith('99')) return refusal(422, '/messages#1240');
    this.taken.push(message);
    const id = String(this.taken.length).padStart(12, '0');
    return { status: 202, body: { message_uuid: `aaaaaaaa-bbbb-4ccc-8ddd-${id}` } };
  }

  #isAllowed(authorization: string): boolean {
    if (authorization === basic(this.apiKey, this.apiSecret)) return true;
    const [head, claims, signature] = authorization.replace('Bearer ', '').split('.');
    if (!this.publicKey || !signature) return false;
    const signed = Buffer.from(`${head}.${claims}`);
    return verify('sha256', signed, this.publicKey, Buffer.from(signature, 'base64url'));
  }
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
