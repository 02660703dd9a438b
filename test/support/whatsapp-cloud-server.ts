import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Handler, RecordingServer } from './recording-server.js';

type Received = Parameters<Handler>[0];

/** Path of the addresses that Meta gives for files. */
const ATTACHMENTS = '/whatsapp_business/attachments/';

interface CloudMessage {
  readonly to?: string;
  readonly recipient?: string;
  readonly type?: string;
  readonly template?: { readonly name: string; readonly language: { readonly code: string } };
  readonly biz_opaque_callback_data?: string;
  readonly [field: string]: unknown;
}

interface Upload {
  readonly id: string;
  readonly type: string;
  readonly filename: string;
  readonly bytes: Buffer;
}

/** As Meta lists it; `components` has the texts with their variables. */
export interface CloudTemplate {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  status: string;
  /** `NAMED`: variables such as `{{order}}`, whose values name them. @default POSITIONAL */
  readonly parameter_format?: string;
  readonly components: readonly object[];
}

/**
 * Meta's Graph API, by its published reference: `POST /{version}/{phone number id}/messages` and
 * `…/media`, `GET /{version}/{media id}` and the address that it gives, `GET
 * /{version}/{WABA}/message_templates` in pages. It ignores keys.
 */
export class WhatsAppCloudServer extends RecordingServer {
  readonly token = 'EAAG-token-of-a-system-user';
  readonly appSecret = 'app-secret-of-16-or-more';
  readonly verifyToken = 'verify-token-of-16-or-more';
  readonly phoneNumberId = '106540352242922';
  readonly otherPhoneNumberId = '106540352242923';
  readonly wabaId = '102290129340398';
  /** Prefix of numbers that are not on WhatsApp. */
  readonly absent = '99';
  /** Numbers that WhatsApp knows by another number. */
  readonly knownAs = new Map<string, string>();
  readonly taken: CloudMessage[] = [];
  readonly uploads: Upload[] = [];
  /** Files of inbound messages by their ids. */
  readonly files = new Map<string, { readonly type: string; readonly bytes: Buffer }>();
  /** Templates of the business account; while there are none, a message may name any. */
  readonly templates: CloudTemplate[] = [];

  static async start(): Promise<WhatsAppCloudServer> {
    const server = new WhatsAppCloudServer((...exchange) => void server.#take(...exchange));
    await server.listen();
    return server;
  }

  /** The body and headers of a webhook, signed as Meta does. */
  webhook(
    value: object,
    field = 'messages',
  ): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
    const body = JSON.stringify({
      object: 'whatsapp_business_account',
      entry: [{ id: this.wabaId, time: 1_751_247_548, changes: [{ field, value }] }],
    });
    const signature = createHmac('sha256', this.appSecret).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${signature}`,
    };
    return { body, headers };
  }

  async #take(...[request, response]: Parameters<Handler>): Promise<void> {
    const { method, url, headers } = request;
    if (headers.authorization !== `Bearer ${this.token}`)
      return refuse(response, 401, 190, 'Invalid OAuth access token.');
    const { pathname, searchParams } = new URL(url, this.url);
    if (method === 'GET' && pathname === ATTACHMENTS)
      return this.#download(searchParams.get('mid') ?? '', response);
    if (method === 'GET' && /^\/v[\d.]+\/me$/.test(pathname)) return answer(response, { id: '1' });
    const [, id] = (method === 'GET' && /^\/v[\d.]+\/(\d+)$/.exec(pathname)) || [];
    if (id !== undefined) return this.#locate(id, response);
    if (method === 'GET' && pathname.endsWith(`/${this.wabaId}/message_templates`))
      return this.#list(searchParams, response);
    if (method === 'POST' && pathname.endsWith(`/${this.phoneNumberId}/media`))
      return this.#upload(request, response);
    const isOurs = [this.phoneNumberId, this.otherPhoneNumberId].some((id) =>
      pathname.endsWith(`/${id}/messages`),
    );
    if (method === 'POST' && isOurs) return this.#message(request, response);
    refuse(response, 400, 100, `Unsupported ${method} request.`);
  }

  #message({ headers, body }: Received, response: ServerResponse): void {
    // Without the type Meta reads a form.
    if (headers['content-type'] !== 'application/json')
      return refuse(response, 400, 100, 'The parameter messaging_product is required.');
    const message = JSON.parse(body) as CloudMessage;
    const to = message.to ?? message.recipient ?? '';
    if (to.startsWith(this.absent)) return refuse(response, 400, 131026, 'Message undeliverable');
    const missing = [...JSON.stringify(message).matchAll(/"id":"(\d+)"/g)].some(
      ([, id]) => !this.uploads.some((upload) => upload.id === id),
    );
    if (missing) return refuse(response, 400, 100, 'The media id is not valid.');
    const refusal = this.#refusalOf(message);
    if (refusal) return refuse(response, 400, refusal, 'The template cannot be sent.');
    this.taken.push(message);
    answer(response, {
      messaging_product: 'whatsapp',
      contacts: [{ input: to, wa_id: this.knownAs.get(to) ?? to }],
      messages: [{ id: `wamid.${this.taken.length}.${to}`, message_status: 'accepted' }],
    });
  }

  #refusalOf({ template: sent }: CloudMessage): number | undefined {
    if (!sent || this.templates.length === 0) return undefined;
    const template = this.templates.find(
      ({ name, language }) => name === sent.name && language === sent.language.code,
    );
    if (template?.status === 'PAUSED') return 132015;
    if (template?.status === 'DISABLED') return 132016;
    return template?.status === 'APPROVED' ? undefined : 132001;
  }

  async #upload({ headers, bytes }: Received, response: ServerResponse): Promise<void> {
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': headers['content-type'] ?? '' },
    }).formData();
    const file = form.get('file');
    if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof Blob))
      return refuse(response, 400, 100, 'The parameter file is required.');
    const id = String(4_490_709_327_384_033 + this.uploads.length);
    const content = Buffer.from(await file.arrayBuffer());
    this.uploads.push({ id, type: file.type, filename: file.name, bytes: content });
    answer(response, { id });
  }

  /** `GET /{media id}`: an address that is good for five minutes. */
  #locate(id: string, response: ServerResponse): void {
    const file = this.files.get(id);
    if (!file) return refuse(response, 400, 100, 'Unsupported get request. Object does not exist.');
    const sha256 = createHash('sha256').update(file.bytes).digest('hex');
    answer(response, {
      messaging_product: 'whatsapp',
      url: `${this.url}${ATTACHMENTS}?mid=${id}&ext=1790000000&hash=ATs`,
      mime_type: file.type,
      sha256,
      file_size: String(file.bytes.length),
      id,
    });
  }

  #download(id: string, response: ServerResponse): void {
    const file = this.files.get(id);
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
  }

  #list(query: URLSearchParams, response: ServerResponse): void {
    const [limit, from] = [Number(query.get('limit') ?? 25), Number(query.get('after') ?? 0)];
    const data = this.templates.slice(from, from + limit);
    const more = from + limit < this.templates.length;
    answer(response, {
      data,
      paging: {
        // As long as the cursors of Meta.
        cursors: { before: String(from), after: String(from + limit).padStart(180, '0') },
        ...(more && { next: 'https://graph.facebook.com/…' }),
      },
    });
  }
}

function answer(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** An answer in Meta's error form. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
): void {
  const error = { message, type: 'OAuthException', code, fbtrace_id: 'A1b2' };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
}
