import {
  DeferredFailure,
  InboundMediaError,
  MessagingConfigError,
  PermanentFailure,
  RetryableFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import type { PlatformTemplate } from '../../message/templates.js';
import { identifier, own, recipientNumber } from '../../message/report-fields.js';
import type {
  InboundMedia,
  MediaRequest,
  MediaUpload,
  MessageTransport,
  ProviderAccount,
  Submission,
  SubmissionAccepted,
  TransportFactory,
} from '../../ports/message-transport.js';
import {
  group,
  optional,
  type OptionReader,
  type ReadersOf,
  record,
  textLike,
  withDefault,
} from '../../ports/option-schema.js';
import type { ClientAnswer } from '../http-client/http-client.js';
import {
  HttpProvider,
  isSuccess,
  type ProviderRequest,
  serviceOptions,
  type ServiceOptions,
  type ServiceSettings,
} from '../http-client/http-provider.js';
import type { FilePlaces } from '../http-client/provider-files.js';
import {
  DAY,
  graphFailure,
  numberFailure,
  PAIR_RATE,
  TEMPLATE_PAUSED,
  WEEK,
} from './graph-failures.js';
import { messageBody } from './graph-messages.js';
import { templateOf } from './graph-templates.js';
import { keepNewest } from '../../message/keep-newest.js';
import type { Clock } from '../../ports/clock.js';

const MAX_ANSWER = 65_536;
/** Milliseconds for which a template that Meta paused is refused without a request. */
const TEMPLATE_PAUSE = 60_000;

/** Templates of a page, and bytes of its answer: a template has up to some kilobytes. */
const PAGE = 100;
const MAX_PAGE = 4 * 1_048_576;
/** Most pages, against cursors that never end. */
const MAX_PAGES = 100;

const graphId = (of: string) =>
  textLike(/^\d{5,32}$/, `the id that Meta gives the ${of}: 5 to 32 digits`);
const phoneNumberId = graphId('number');

/** Id of a number at Meta; `undefined`: it has none. */
type PhoneNumberIdOf = (sender: string) => string | undefined | Promise<string | undefined>;

const byNumber = record(phoneNumberId);

const phoneNumberIds: OptionReader<
  PhoneNumberIdOf | Readonly<Record<string, string>>,
  PhoneNumberIdOf | Readonly<Record<string, string>>
> = (name, value) =>
  typeof value === 'function' ? (value as PhoneNumberIdOf) : byNumber(name, value);

/** Options of {@link whatsappCloud}. */
export interface WhatsAppCloudOptions extends ServiceOptions {
  /** Access token of a system user with `whatsapp_business_messaging`. */
  readonly token: string;
  /** Id of the number that sends, not the number itself. Needed without `phoneNumberIds`. */
  readonly phoneNumberId?: string;
  /**
   * Ids of further numbers, by number: `{ '2348000000002': '106540352242923' }`, or a function that
   * finds them. @default none
   */
  readonly phoneNumberIds?: Readonly<Record<string, string>> | PhoneNumberIdOf;
  /**
   * Id of the WhatsApp business account (WABA), for `whatsapp: { templates: 'synced' }`. The token
   * then needs `whatsapp_business_management`, too. @default its templates are not read
   */
  readonly wabaId?: string;
  /** Version of the Graph API. @default 'v23.0' */
  readonly version?: string;
}

const CLOUD = {
  token: textLike(
    /^[\x21-\x7e]{16,}$/,
    'an access token: at least 16 characters, without white space and without Bearer',
  ),
  phoneNumberId: optional(phoneNumberId),
  phoneNumberIds: optional(phoneNumberIds),
  wabaId: optional(graphId('business account')),
  version: withDefault(textLike(/^v\d{1,3}\.\d$/, 'a version such as v23.0'), 'v23.0'),
  ...serviceOptions({ name: 'whatsapp-cloud', baseUrl: 'https://graph.facebook.com' }),
} satisfies ReadersOf<WhatsAppCloudOptions>;

const read = group(CLOUD);

interface CloudSettings
  extends
    ServiceSettings,
    Pick<WhatsAppCloudOptions, 'token' | 'phoneNumberId' | 'phoneNumberIds' | 'wabaId'> {
  readonly version: string;
}

/**
 * Sends templates, texts and media through Meta's WhatsApp Cloud API. It has no idempotency keys: a message
 * with a lost answer is `unknown` until its first status, which repeats the id of the submission, and
 * is never sent again. Limit the rate to that of the number, by default 80 messages a second.
 * @throws MessagingConfigError naming the option and the remedy
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
 * @example
 * MessagingModule.forRoot({
 *   providers: { meta: { transport: whatsappCloud({ token, phoneNumberId }), rateLimit: '80/s' } },
 *   callbackPath: 'dlr',
 *   callbacks: {
 *     providers: {
 *       meta: { parser: whatsappCloudParser(), verifier: whatsappCloudSignature({ appSecret, verifyToken }) },
 *     },
 *   },
 * });
 */
export function whatsappCloud(options: WhatsAppCloudOptions): TransportFactory {
  const settings = read('whatsappCloud', options);
  if (settings.phoneNumberId === undefined && settings.phoneNumberIds === undefined)
    throw new MessagingConfigError(
      'whatsappCloud.phoneNumberId: is missing; pass the id that Meta shows beside the number, or phoneNumberIds',
    );
  return (context) => new WhatsAppCloudTransport(settings, context, { channels: ['whatsapp'] });
}

const MEDIA_ID = /^\d{5,32}$/;

/** @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#download-media */
const FILES: FilePlaces = {
  path: /^\/whatsapp_business\/attachments\/$/,
  own: ['lookaside.fbsbx.com'],
};

export class WhatsAppCloudTransport extends HttpProvider<CloudSettings> {
  /** Numbers that cannot send now, with the reason, where there are several. */
  readonly #numbers = new Pauses(this.context.clock);
  /** Numbers and recipients that Meta asked to wait. */
  readonly #pairs = new Pauses(this.context.clock);
  /** Templates of a number that Meta paused, with the code of its answer. */
  readonly #templates = new Pauses(this.context.clock);

  /** Present where the option `wabaId` names the business account. */
  get fetchTemplates(): MessageTransport['fetchTemplates'] {
    const { wabaId } = this.settings;
    return wabaId === undefined ? undefined : (signal) => this.templatesOf(wabaId, signal);
  }

  async submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    const number = await this.#numberOf(submission.sender);
    const body = messageBody(submission, this.name);
    const pair = `${number} ${submission.recipients[0]}`;
    const template = templateKey(submission.content);
    this.#refuseWhilePaused(number, pair, template && `${number} ${template}`);
    const answer = await this.#post(`/${number}/messages`, { body }, signal, written);
    if (!isAccepted(answer)) {
      const { clock } = this.context;
      const failure = graphFailure(answer, clock.now());
      const ofNumber = this.settings.phoneNumberIds && numberFailure(failure, answer);
      if (ofNumber) {
        this.#numbers.add(number, ofNumber.retryAfter ?? 0, ofNumber.code);
        throw ofNumber;
      }
      if (failure.code === PAIR_RATE) this.#pairs.add(pair, failure.retryAfter ?? 0);
      if (template && TEMPLATE_PAUSED.has(failure.code))
        this.#templates.add(`${number} ${template}`, TEMPLATE_PAUSE, failure.code);
      throw failure;
    }
    const messages = own(answer.body, 'messages');
    const id = identifier(own(Array.isArray(messages) ? messages[0] : undefined, 'id'));
    if (id === null)
      throw new UncertainFailure(
        'invalid_answer',
        'The WhatsApp Cloud API accepted without the id of a message',
      );
    const knownAs = knownAsOf(answer.body, submission.recipients[0]);
    return { reference: id, messageIds: [id], ...(knownAs && { knownAs }) };
  }

  /** @see https://developers.facebook.com/docs/graph-api/overview#me */
  async checkAccount(signal: AbortSignal): Promise<ProviderAccount> {
    const path = `/${this.settings.version}/me?fields=id`;
    const answer = await this.send({ method: 'GET', path }, signal);
    if (!isAccepted(answer)) throw graphFailure(answer, this.context.clock.now());
    return { balance: null };
  }

  async uploadMedia(media: MediaUpload, sender: string, signal: AbortSignal): Promise<string> {
    const { body, contentType } = await uploadBody(media);
    const path = `/${await this.#numberOf(sender)}/media`;
    const headers = { 'content-type': contentType };
    const answer = await this.#post(path, { body, headers }, signal);
    const id = isAccepted(answer) ? identifier(own(answer.body, 'id')) : null;
    if (id === null) throw graphFailure(answer, this.context.clock.now());
    return id;
  }

  /** In two steps: Meta gives the address of a file for five minutes. */
  async fetchMedia({ file }: MediaRequest, signal: AbortSignal): Promise<InboundMedia> {
    const { version } = this.settings;
    const id = file.source;
    if (!MEDIA_ID.test(id))
      throw new InboundMediaError(
        'unsupported',
        'The file has no id of Meta, and is not asked for',
      );
    const answer = await this.send({ method: 'GET', path: `/${version}/${id}` }, signal);
    const address = own(answer.body, 'url');
    if (!isAccepted(answer) || typeof address !== 'string') throw mediaFailure(answer);
    const media = await this.fileAt(address, FILES, signal);
    const contentType = own(answer.body, 'mime_type');
    return typeof contentType === 'string' ? { ...media, contentType } : media;
  }

  /** All templates of a business account. @throws SubmitFailure where a page of them is missing */
  async templatesOf(wabaId: string, signal: AbortSignal): Promise<readonly PlatformTemplate[]> {
    const templates: PlatformTemplate[] = [];
    const fields = 'name,language,status,category,parameter_format,components';
    const list = `/${this.settings.version}/${wabaId}/message_templates?fields=${fields}&limit=${PAGE}`;
    let after = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const path = list + after;
      const answer = await this.send({ method: 'GET', path, maxBytes: MAX_PAGE }, signal);
      const data = own(answer.body, 'data');
      if (!isAccepted(answer) || !Array.isArray(data))
        throw graphFailure(answer, this.context.clock.now());
      templates.push(...data.flatMap((entry: unknown) => templateOf(entry) ?? []));
      const paging = own(answer.body, 'paging');
      const cursor = own(own(paging, 'cursors'), 'after');
      // Meta names a cursor on the last page, too.
      if (own(paging, 'next') === undefined || typeof cursor !== 'string') break;
      after = `&after=${encodeURIComponent(cursor)}`;
    }
    return templates;
  }

  protected credential() {
    return { authorization: `Bearer ${this.settings.token}` };
  }

  #post(
    path: string,
    request: Pick<ProviderRequest, 'body' | 'headers'>,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<ClientAnswer> {
    const { version } = this.settings;
    const sent = { ...request, path: `/${version}${path}`, maxBytes: MAX_ANSWER };
    return this.send(sent, signal, written);
  }

  /** Meta answers these requests with a refusal, which counts against the number's quality. */
  #refuseWhilePaused(number: string, pair: string, template: string | undefined): void {
    const resting = this.#numbers.find(number);
    if (resting)
      throw new DeferredFailure(
        resting.code,
        'The number cannot send now: its messages wait',
        resting.left,
        WEEK,
      );
    const wait = this.#pairs.find(pair);
    if (wait)
      throw new DeferredFailure(
        PAIR_RATE,
        'Too many messages to this recipient: the next one leaves after a few seconds',
        wait.left,
        DAY,
      );
    const paused = template === undefined ? undefined : this.#templates.find(template);
    if (paused)
      throw new PermanentFailure(paused.code, 'Meta has paused this template; send another one');
  }

  async #numberOf(sender: string): Promise<string> {
    const { phoneNumberId: usual, phoneNumberIds: others } = this.settings;
    if (usual !== undefined && (!others || sender === '')) return usual;
    const known = typeof others === 'function' ? await idBy(others, sender) : others;
    const found = typeof known === 'object' ? own(known, sender) : known;
    if (typeof found === 'string') return found;
    throw new UnroutableFailure(
      'sender_unknown',
      'The option phoneNumberIds of whatsappCloud() has no id of the sender of the message',
    );
  }
}

/** @throws RetryableFailure where the number cannot be looked up: nothing was sent */
async function idBy(find: PhoneNumberIdOf, sender: string): Promise<string | undefined> {
  try {
    return await find(sender);
  } catch {
    throw new RetryableFailure(
      'sender_not_read',
      'The option phoneNumberIds of whatsappCloud() could not look up the id of the number; nothing was sent',
    );
  }
}

/** Meta has the files of messages for some days; then their ids name nothing. */
function mediaFailure({ status, body }: ClientAnswer): InboundMediaError {
  const error = own(body, 'error');
  const isGone = status < 500 && error !== undefined && own(error, 'code') === 100;
  return isGone
    ? new InboundMediaError('media_expired', 'Meta has the file no longer')
    : new InboundMediaError(
        'unavailable',
        `Meta did not give the address of the file (${status}${errorCodeIn(error)}); try again`,
      );
}

function errorCodeIn(error: unknown): string {
  const code = own(error, 'code');
  return Number.isSafeInteger(code) ? `, code ${String(code)}` : '';
}

function isAccepted({ status, body }: ClientAnswer): boolean {
  return isSuccess({ status }) && own(body, 'error') === undefined;
}

/** Meta's number of the recipient, where it is another one and the answer is about this recipient. */
function knownAsOf(body: unknown, recipient = ''): SubmissionAccepted['knownAs'] {
  const contacts = own(body, 'contacts');
  const contact: unknown = Array.isArray(contacts) ? contacts[0] : undefined;
  const number = recipientNumber(own(contact, 'wa_id'));
  if (number === null || number === recipient) return undefined;
  return recipientNumber(own(contact, 'input')) === recipient
    ? new Map([[recipient, number]])
    : undefined;
}

function templateKey(content: Submission['content']): string | undefined {
  if (content.kind !== 'template') return undefined;
  return `${String(content.template)} ${String(content.language)}`;
}

interface UploadBody {
  readonly body: Buffer;
  /** With the boundary of the parts. */
  readonly contentType: string;
}

/** The form of `POST /{phone number id}/media`. */
async function uploadBody({
  content,
  contentType,
  filename = 'file',
}: MediaUpload): Promise<UploadBody> {
  const form = new FormData();
  form.set('messaging_product', 'whatsapp');
  form.set('type', contentType);
  form.set('file', new File([new Uint8Array(content)], filename, { type: contentType }));
  const encoded = new Response(form);
  return {
    contentType: encoded.headers.get('content-type') as string,
    body: Buffer.from(await encoded.arrayBuffer()),
  };
}

/** The oldest is forgotten: its next request gets Meta's refusal again. */
const MOST = 10_000;

interface Pause {
  /** Monotonic milliseconds. */
  readonly until: number;
  readonly code: string;
}

/** Paused numbers and recipients, in this process. */
class Pauses {
  readonly #pauses = new Map<string, Pause>();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** @param wait in milliseconds */
  add(key: string, wait: number, code = ''): void {
    this.#pauses.delete(key);
    this.#pauses.set(key, { until: this.clock.monotonic() + wait, code });
    keepNewest(this.#pauses, MOST);
  }

  /** `left` in milliseconds; `undefined`: it is not paused. */
  find(key: string): { readonly left: number; readonly code: string } | undefined {
    const pause = this.#pauses.get(key);
    if (!pause) return undefined;
    const left = pause.until - this.clock.monotonic();
    if (left > 0) return { left, code: pause.code };
    this.#pauses.delete(key);
    return undefined;
  }
}
