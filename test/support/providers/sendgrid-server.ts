import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface SendGridMail {
  readonly id: string;
  readonly personalizations: readonly {
    readonly to: readonly { readonly email: string }[];
  }[];
  readonly [field: string]: unknown;
}

/**
 * `POST /v3/mail/send`, whose answer is empty.
 * @see https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
 */
export class SendGridServer extends ProviderServer<SendGridMail> {
  readonly apiKey = 'SG.1234567890123456789012.abc';

  get options() {
    return { apiKey: this.apiKey, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<SendGridMail>['handle']>[0]): ProviderAnswer {
    if (headers.authorization !== `Bearer ${this.apiKey}`)
      return refusal(401, 'The provided authorization grant is invalid, expired, or revoked');
    if (url === '/v3/scopes') return { status: 200, body: { scopes: ['mail.send'] } };
    if (url !== '/v3/mail/send') return refusal(404, 'Not Found');
    const mail = JSON.parse(body) as SendGridMail;
    if (mail.personalizations[0]!.to[0]!.email.startsWith('refused'))
      return refusal(400, 'Does not contain a valid address.', 'personalizations.0.to.0.email');
    const id = `LRzXl_NHStOGhQ4kofSm_${this.taken.length + 1}`;
    this.taken.push({ ...mail, id });
    return { status: 202, body: '', headers: { 'x-message-id': id } };
  }
}

function refusal(status: number, message: string, field: string | null = null): ProviderAnswer {
  return { status, body: { errors: [{ message, field, help: null }] } };
}
