import { type ProviderAnswer, ProviderServer } from './provider-server.js';

interface PostmarkEmail {
  readonly id: string;
  readonly To: string;
  readonly Cc?: string;
  readonly Bcc?: string;
  readonly [field: string]: unknown;
}

/**
 * `POST /email`, which knows no keys. Addresses that start with `inactive` are suppressed.
 * @see https://postmarkapp.com/developer/api/email-api
 */
export class PostmarkServer extends ProviderServer<PostmarkEmail> {
  readonly serverToken = 'ed742d75-5a45-49b6-a0a1-5b9ec3dc9e5d';

  get options() {
    return { serverToken: this.serverToken, baseUrl: this.url };
  }

  protected handle({
    url,
    headers,
    body,
  }: Parameters<ProviderServer<PostmarkEmail>['handle']>[0]): ProviderAnswer {
    if (headers['x-postmark-server-token'] !== this.serverToken)
      return refusal(401, 10, 'Request does not contain a valid Server token.');
    if (url === '/server') return { status: 200, body: { ID: 1, Name: 'ACME' } };
    if (url !== '/email') return { status: 404, body: '' };
    const email = JSON.parse(body) as PostmarkEmail;
    const { To, Cc, Bcc } = email;
    const all = [To, Cc ?? [], Bcc ?? []].flat().join(', ').split(', ');
    if (To.startsWith('refused')) return refusal(422, 300, "Invalid 'To' address.");
    const inactive = all.filter((one) => one.startsWith('inactive'));
    const found = inactive.join(', ');
    if (inactive.length === all.length)
      return refusal(
        422,
        406,
        `You tried to send to recipients that have been marked as inactive. Found inactive addresses: ${found}. Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.`,
      );
    const id = `b7bc2f4a-e38e-4336-af7d-${String(this.taken.length + 1).padStart(12, '0')}`;
    this.taken.push({ ...email, id });
    const Message =
      found === ''
        ? 'OK'
        : `Message OK, but will not deliver to these inactive addresses: ${found}. Inactive recipients are ones that have generated a hard bounce or a spam complaint.`;
    return {
      status: 200,
      body: {
        To,
        SubmittedAt: '2026-11-28T10:00:00.0000000-05:00',
        MessageID: id,
        ErrorCode: 0,
        Message,
      },
    };
  }
}

function refusal(status: number, ErrorCode: number, Message: string): ProviderAnswer {
  return { status, body: { ErrorCode, Message } };
}
