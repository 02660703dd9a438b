import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface ResendEmail {
  readonly id: string;
  readonly key: string;
  readonly to: readonly string[];
  readonly [field: string]: unknown;
}

/** Errors of the recipients with these names. */
const ERRORS: Readonly<Record<string, readonly [number, string, string]>> = {
  refused: [422, 'validation_error', 'Invalid `to` field.'],
  unverified: [403, 'validation_error', 'The example.com domain is not verified.'],
  quota: [429, 'daily_quota_exceeded', 'You have reached your daily email sending quota.'],
};

/**
 * `POST /emails`, which honours keys.
 * @see https://resend.com/docs/api-reference/emails/send-email
 */
export class ResendServer extends ProviderServer<ResendEmail> {
  readonly apiKey = 're_123456789012345678';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<ResendEmail>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `Bearer ${this.apiKey}`)
      return refusal(401, 'validation_error', 'API key is invalid');
    if (url === '/domains') return { status: 200, body: { data: [] } };
    if (url !== '/emails')
      return refusal(404, 'not_found', 'The requested endpoint does not exist.');
    const key = String(headers['idempotency-key']);
    const email = JSON.parse(body) as ResendEmail;
    const known = this.taken.find((one) => one.key === key);
    if (known) return { status: 200, body: { id: known.id } };
    const error = ERRORS[email.to[0]!.split('@', 1)[0]!];
    if (error) return refusal(...error);
    const id = `49a3999c-0ce1-4ea6-ab68-${String(this.taken.length + 1).padStart(12, '0')}`;
    this.taken.push({ ...email, id, key });
    return { status: 200, body: { id } };
  }
}

function refusal(statusCode: number, name: string, message: string): ProviderAnswer {
  return { status: statusCode, body: { statusCode, name, message } };
}
