import type { OnApplicationShutdown } from '@nestjs/common';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  type SubmitFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import { isShared } from '../../message/content/email-content.js';
import type { DeliveryReport } from '../../message/events.js';
import type { Channel, TemplateContent } from '../../message/message.js';
import type {
  InboundMedia,
  MessageTransport,
  ProviderAccount,
  ProviderBalance,
  SentSubmission,
  Submission,
  SubmissionAccepted,
  TransportCapabilities,
  TransportContext,
} from '../../ports/message-transport.js';
import { type ReadersOf, wholeNumber, withDefault } from '../../ports/option-schema.js';
import { providerName, serviceAddress } from '../provider-options.js';
import { type ClientAnswer, HttpClient } from './http-client.js';
import { type FilePlaces, openFile } from './provider-files.js';

const MAX_ANSWER = 1_048_576;
/** Polls in flight. */
const POLLS = 4;

interface ServiceDefaults {
  readonly name: string;
  readonly baseUrl: string;
  readonly connections?: number;
}

/** Options of every provider over HTTP. */
export interface ServiceOptions {
  /** Address of the service. @default the provider's own */
  readonly baseUrl?: string;
  /** Most connections, and requests in flight. @default 16 */
  readonly connections?: number;
  /** Tells transports apart, also in stored submissions: do not change it. @default the provider */
  readonly name?: string;
}

export function serviceOptions({ name, baseUrl, connections = 16 }: ServiceDefaults) {
  return {
    baseUrl: withDefault(serviceAddress, baseUrl),
    connections: withDefault(wholeNumber, connections),
    name: withDefault(providerName, name),
  } satisfies ReadersOf<ServiceOptions>;
}

/** The checked {@link serviceOptions}. */
export interface ServiceSettings {
  readonly name: string;
  readonly baseUrl: string;
  readonly connections: number;
}

type Headers = Readonly<Record<string, string>>;

export interface ProviderRequest {
  /** @default 'POST' */
  readonly method?: 'GET' | 'POST';
  /** Path and query, after `baseUrl`. */
  readonly path: string;
  readonly headers?: Headers;
  /** A form, JSON, or a text or bytes with their own content type in `headers`. @default none */
  readonly body?: URLSearchParams | Readonly<Record<string, unknown>> | string | Buffer;
  /** Longest answer that is read. @default 1 MiB */
  readonly maxBytes?: number;
}

/** A request that proves the credential; it sends nothing and costs nothing. */
export interface AccountRequest extends ProviderRequest {
  /** Reads the balance in an answer of success. @default the provider tells none */
  readonly balance?: (body: unknown) => ProviderBalance | null;
  /** An answer that proves the credential although it may not read the account. @default none */
  readonly isKnown?: (answer: ClientAnswer) => boolean;
}

/** A balance in an answer: a number or a decimal text; `null`: it is none. */
export function balanceOf(amount: unknown, currency?: unknown): ProviderBalance | null {
  const text = typeof amount === 'number' && Math.abs(amount) < 1e15 ? String(amount) : amount;
  if (typeof text !== 'string' || !/^-?\d{1,15}(?:\.\d{1,12})?$/.test(text)) return null;
  const isNamed = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency);
  return { amount: text, currency: isNamed ? currency : null };
}

export function isSuccess({ status }: Pick<ClientAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** The header of a user and a password (RFC 7617). */
export function basicCredential(user: string, password: string) {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

export abstract class HttpProvider<Settings extends ServiceSettings>
  implements MessageTransport, OnApplicationShutdown
{
  readonly name: string;
  readonly capabilities: TransportCapabilities;
  readonly #client: HttpClient;

  constructor(
    protected readonly settings: Settings,
    protected readonly context: TransportContext,
    capabilities: Partial<TransportCapabilities> & { readonly channels: readonly Channel[] },
  ) {
    const { name, baseUrl, connections } = settings;
    this.name = name;
    this.capabilities = { maxRecipients: 1, idempotencyWindow: 0, connections, ...capabilities };
    this.#client = new HttpClient(context.http, baseUrl, connections);
  }

  /**
   * Headers of every request that prove the account.
   * @param request for a credential that signs it
   * @throws PausedFailure where there is no credential: nothing has left
   */
  protected abstract credential(
    signal: AbortSignal,
    request: ProviderRequest,
  ): Headers | Promise<Headers>;

  abstract submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted>;

  async onApplicationShutdown(): Promise<void> {
    await this.#client.close();
  }

  /** @throws SubmitFailure where no complete answer arrived */
  protected async send(
    request: ProviderRequest,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<ClientAnswer> {
    const credential = await this.credential(signal, request);
    const { method = 'POST', path, body, maxBytes = MAX_ANSWER } = request;
    const isForm = body instanceof URLSearchParams;
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...credential,
      ...(body !== undefined && { 'content-type': type }),
      ...request.headers,
    };
    const sent = isForm ? body.toString() : body;
    return this.#client.send({ method, path, headers, body: sent, maxBytes }, signal, written);
  }

  /**
   * Opens a file at an address of the provider, with its credential where the host is its own.
   * @throws InboundMediaError
   */
  protected async fileAt(
    address: string,
    places: FilePlaces,
    signal: AbortSignal,
  ): Promise<InboundMedia> {
    const { name, baseUrl } = this.settings;
    const credential = await this.credential(signal, { method: 'GET', path: address });
    return openFile(this.#client, address, { ...places, name, baseUrl, credential }, signal);
  }

  /** Polls submissions by their references, as {@link readEach}. */
  protected pollEach(
    submissions: readonly SentSubmission[],
    poll: (submission: SentSubmission, reference: string) => Promise<DeliveryReport | undefined>,
  ): Promise<readonly DeliveryReport[]> {
    return this.readEach(submissions, async (submission) => {
      if (submission.reference === null) return [];
      const report = await poll(submission, submission.reference);
      return report ? [report] : [];
    });
  }

  /**
   * Reads for each item, side by side, until a failure that pauses the provider. The first failure
   * counts where nothing was found.
   */
  protected async readEach<Item, Found>(
    items: readonly Item[],
    read: (item: Item) => Promise<readonly Found[]>,
  ): Promise<readonly Found[]> {
    const found: Found[] = [];
    const waiting = items.values();
    let failure: unknown;
    let isOver = false;
    const reader = async (): Promise<void> => {
      for (const item of waiting) {
        if (isOver) return;
        try {
          found.push(...(await read(item)));
        } catch (error) {
          failure ??= error;
          isOver ||= error instanceof PausedFailure || error instanceof PausedUncertainFailure;
        }
      }
    };
    await Promise.all(Array.from({ length: POLLS }, reader));
    if (failure !== undefined && found.length === 0) throw failure as Error;
    return found;
  }
}

/** A provider to which each submission is one request, whose answer is the outcome. */
export abstract class HttpRequestProvider<
  Settings extends ServiceSettings,
> extends HttpProvider<Settings> {
  /** @throws PermanentFailure where the provider has no form for the submission */
  protected abstract requestOf(submission: Submission): ProviderRequest;

  /** The outcome of an answer that {@link isAccepted}. @throws SubmitFailure where a field of it is missing */
  protected abstract outcomeOf(answer: ClientAnswer, submission: Submission): SubmissionAccepted;

  /** The failure of any other answer, also to a poll. */
  protected abstract failureOf(answer: ClientAnswer): SubmitFailure;

  /** What {@link checkAccount} asks. */
  protected abstract accountRequest(): AccountRequest;

  protected isAccepted(answer: ClientAnswer): boolean {
    return isSuccess(answer);
  }

  async checkAccount(signal: AbortSignal): Promise<ProviderAccount> {
    const { balance, isKnown, ...request } = this.accountRequest();
    const answer = await this.send(request, signal);
    if (isKnown?.(answer)) return { balance: null };
    if (!isSuccess(answer)) throw this.failureOf(answer);
    return { balance: balance?.(answer.body) ?? null };
  }

  async submit(
    submission: Submission,
    signal: AbortSignal,
    written?: () => void,
  ): Promise<SubmissionAccepted> {
    const { channels, maxRecipients, maxShared = maxRecipients } = this.capabilities;
    const { channel, recipients, content } = submission;
    if (!channels?.includes(channel))
      throw new UnroutableFailure(
        'unsupported_channel',
        `The ${this.name} transport does not send ${channel}`,
      );
    const ofChannel = this.context.channels.get(channel).maxRecipients ?? Infinity;
    const most = Math.min(isShared(content) ? maxShared : maxRecipients, ofChannel);
    if (recipients.length < 1 || recipients.length > most)
      throw new PermanentFailure(
        'invalid_submission',
        `The ${this.name} transport takes 1 to ${most} recipients in a request`,
      );
    const answer = await this.send(this.requestOf(submission), signal, written);
    if (!this.isAccepted(answer)) throw this.failureOf(answer);
    return this.outcomeOf(answer, submission);
  }

  /** @throws UnroutableFailure for a content that is no text */
  protected textOf({ content }: Submission): string {
    if (content.kind === 'text' && typeof content['text'] === 'string' && content['text'] !== '')
      return content['text'];
    throw this.#unroutable('unsupported_content', 'carries texts only');
  }

  /**
   * A template with values of its text alone; `undefined`: the message is none.
   * @throws UnroutableFailure for one with a header or buttons
   */
  protected templateOf({ content }: Submission): TemplateContent | undefined {
    if (content.kind !== 'template') return undefined;
    const template = content as TemplateContent;
    if (!template.header && !template.buttons?.length) return template;
    const said = 'carries templates without values of their header and buttons only';
    throw this.#unroutable('unsupported_content', said);
  }

  /** @throws UnroutableFailure for a recipient without a number */
  protected numberOf(recipient: string | undefined): string {
    if (recipient !== undefined && /^\d{3,20}$/.test(recipient)) return recipient;
    throw this.#unroutable('unsupported_recipient', 'sends to phone numbers only');
  }

  /**
   * Polls each message by an address with its id, as {@link pollEach}; 404 says nothing about it.
   * @param report reads the answer
   */
  protected pollById(
    submissions: readonly SentSubmission[],
    signal: AbortSignal,
    pathOf: (id: string, submission: SentSubmission) => string,
    report: (body: unknown) => DeliveryReport | undefined,
  ): Promise<readonly DeliveryReport[]> {
    return this.pollEach(submissions, async (submission, id) => {
      const { submissionId, recipients } = submission;
      const path = pathOf(encodeURIComponent(id), submission);
      const answer = await this.send({ method: 'GET', path }, signal);
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw this.failureOf(answer);
      const known = report(answer.body);
      return known && { ...known, submissionId, recipient: recipients[0] ?? null };
    });
  }

  #unroutable(code: string, said: string): UnroutableFailure {
    return new UnroutableFailure(code, `The ${this.name} transport ${said}`);
  }
}
