import { isSigned } from './aws-requests.js';
import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface SesEmail {
  readonly id: string;
  readonly Destination: { readonly ToAddresses: readonly string[] };
  readonly Content: { readonly Raw: { readonly Data: string } };
  readonly [field: string]: unknown;
}

/**
 * `POST /v2/email/outbound-emails`, for requests that are signed.
 * @see https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
 */
export class SesServer extends ProviderServer<SesEmail> {
  readonly region = 'eu-west-1';
  readonly credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  };

  get options() {
    const { region, credentials, url: baseUrl } = this;
    return { region, credentials, baseUrl, configurationSet: 'mail' };
  }

  /** The message that was taken last. */
  get lastMessage(): string {
    return Buffer.from(this.taken.at(-1)!.Content.Raw.Data, 'base64').toString();
  }

  /** Answers the next request with an error of this type. */
  fail(status: number, type: string, message = 'x'): void {
    this.answer((request, response) => {
      this.answer(undefined);
      const { body, headers } = failure(status, type, message);
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  }

  protected handle(request: Parameters<ProviderServer<SesEmail>['handle']>[0]): ProviderAnswer {
    const { url, body } = request;
    if (!isSigned(request, this.credentials, { region: this.region, service: 'ses' }))
      return failure(403, 'InvalidSignatureException', 'The request signature does not match.');
    if (url === '/v2/email/account') return { status: 200, body: { SendingEnabled: true } };
    if (url !== '/v2/email/outbound-emails') return failure(404, 'NotFoundException', 'x');
    const email = JSON.parse(body) as SesEmail;
    if (email.Destination.ToAddresses[0]!.startsWith('refused'))
      return failure(400, 'BadRequestException', 'Illegal address');
    const id = `0100017${String(this.taken.length + 1).padStart(8, '0')}-000000`;
    this.taken.push({ ...email, id });
    return { status: 200, body: { MessageId: id } };
  }
}

function failure(status: number, type: string, message: string) {
  return { status, body: { message }, headers: { 'x-amzn-errortype': type } };
}
