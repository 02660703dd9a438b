import {
  BadRequestException,
  type HttpException,
  Inject,
  Injectable,
  InternalServerErrorException,
  Logger,
  NotFoundException,
  PayloadTooLargeException,
  ServiceUnavailableException,
  UnauthorizedException,
  UnsupportedMediaTypeException,
} from '@nestjs/common';
import { InboundRecorder } from '../contacts/inbound.js';
import { ReportRecorder } from '../store/verbs/report.js';
import { errorName, MessagingConfigError } from '../message/errors.js';
import type { CallbackAnswer, CallbackRequest, ParsedCallback } from '../ports/callback-parser.js';
import { type Clock, MESSAGING_CLOCK } from '../ports/clock.js';
import { TemplateListeners } from '../ports/listeners.js';
import {
  hasNoBody,
  isEmptyCallback,
  ReceivedCallback,
  UnreadableCallbackError,
  UnsupportedCallbackTypeError,
} from './callback-body.js';
import { type CallbackEndpoint, CallbackEndpoints } from './callback-endpoints.js';

const MAX_BYTES = 1_048_576;
const MAX_NAMED = 3;
const MINUTE = 60_000;
/** A word that a log may show: it holds no phone number. */
const PLAIN_WORD = /^(?!.*\d{5})[\w .:-]{1,40}$/;

/** The answer to a check of the address. */
const CHECKED: CallbackAnswer = { contentType: 'text/plain', body: '' };

const ZERO = { accepted: 0, refused: 0, reports: 0, unmapped: 0, messages: 0, unreadable: 0 };

/** Counts of one endpoint since the process started. */
export interface CallbackCount {
  /** Callbacks answered 2xx. */
  readonly accepted: number;
  /** Callbacks not answered 2xx: failed verification, unreadable, too large, not committed. */
  readonly refused: number;
  readonly reports: number;
  /** Reports whose status has no mapping. They are stored raw and change no message. */
  readonly unmapped: number;
  /** Inbound messages, repeated ones included. */
  readonly messages: number;
  /** Entries that could not be read in callbacks with other readable entries. */
  readonly unreadable: number;
}

/** Counts callbacks by endpoint, for the metrics of the app. */
@Injectable()
export class CallbackCounts {
  readonly #counts = new Map<string, Record<keyof CallbackCount, number>>();

  /** Counts by name of the provider; `default` is the callback path itself. */
  snapshot(): ReadonlyMap<string, CallbackCount> {
    return new Map([...this.#counts].map(([endpoint, count]) => [endpoint, { ...count }]));
  }

  /** @internal */
  add(endpoint: string, more: Partial<CallbackCount>): void {
    let count = this.#counts.get(endpoint);
    if (!count) this.#counts.set(endpoint, (count = { ...ZERO }));
    for (const name of Object.keys(more) as (keyof CallbackCount)[]) count[name] += more[name] ?? 0;
  }
}

type Contents = Required<Omit<ParsedCallback, 'answer'>> & Pick<ParsedCallback, 'answer'>;

/** Logs the first refusal of an endpoint for a reason, then their number once a minute. */
class RefusalLog {
  readonly #logger = new Logger('MessagingCallbacks');
  readonly #last = new Map<string, { readonly at: number; unlogged: number }>();

  /** @internal */
  constructor(private readonly clock: Clock) {}

  /** @param reason one of few; it has nothing of the callback */
  add(level: 'warn' | 'error', endpoint: CallbackEndpoint, reason: string): void {
    const now = this.clock.monotonic();
    const line = `Callback refused at ${placeOf(endpoint)}: ${reason}`;
    const last = this.#last.get(line);
    if (last && now - last.at < MINUTE) {
      last.unlogged++;
      return;
    }
    this.#last.set(line, { at: now, unlogged: 0 });
    const more = last && last.unlogged > 0 ? `, and ${last.unlogged} more since the last line` : '';
    this.#logger[level](line + more);
  }
}

/**
 * Verifies a callback by its raw bytes, then parses and records it; resolves once everything is
 * committed. A request without query and body, by which a provider checks the address, is answered
 * at once. HTTP errors: 404 unknown endpoint, 401 invalid signature, 415 another content type than
 * JSON or a form, 400 unreadable body, 413 above 1 MiB, and 503 where the store cannot commit, so
 * that the sender repeats the callback.
 */
@Injectable()
export class CallbacksService {
  readonly #logger = new Logger('MessagingCallbacks');
  readonly #refusals: RefusalLog;

  /** @internal */
  constructor(
    private readonly endpoints: CallbackEndpoints,
    private readonly recorder: ReportRecorder,
    private readonly inbound: InboundRecorder,
    @Inject(TemplateListeners) private readonly templates: TemplateListeners,
    private readonly counts: CallbackCounts,
    @Inject(MESSAGING_CLOCK) private readonly clock: Clock,
  ) {
    this.#refusals = new RefusalLog(clock);
  }

  /** @param provider name of the endpoint; `undefined`: the endpoint at the callback path itself */
  async take(
    given: Omit<CallbackRequest, 'receivedAt'>,
    provider?: string,
  ): Promise<CallbackAnswer | undefined> {
    const endpoint = this.endpoints.find(provider);
    if (!endpoint) throw new NotFoundException();
    // Nothing to verify, and nothing changes.
    if (isEmptyCallback(given)) return CHECKED;
    try {
      const answer = await this.#take(new ReceivedCallback(given, this.clock.now()), endpoint);
      this.counts.add(endpoint.name, { accepted: 1 });
      return answer;
    } catch (error) {
      this.counts.add(endpoint.name, { refused: 1 });
      throw error;
    }
  }

  async #take(
    request: CallbackRequest,
    endpoint: CallbackEndpoint,
  ): Promise<CallbackAnswer | undefined> {
    const bytes = request.rawBody?.length ?? Number(request.headers['content-length'] ?? 0);
    if (bytes > MAX_BYTES) {
      this.#refusals.add('warn', endpoint, `more than ${MAX_BYTES} bytes`);
      throw new PayloadTooLargeException(`A callback may have ${MAX_BYTES} bytes`);
    }
    await this.#verify(request, endpoint);
    const contents = this.#parse(request, endpoint);
    const { reports, messages, templates, errors } = contents;
    if (errors.length > 0) {
      this.#logger.warn(
        `Callback at ${placeOf(endpoint)} with ${summaryOf(contents)} and ${errors.length} unreadable entries: ${errors.slice(0, MAX_NAMED).join('; ')}`,
      );
      if (reports.length + messages.length + templates.length === 0)
        throw new BadRequestException('No entry could be read');
    }
    await this.#store(contents, endpoint);
    this.#count(contents, endpoint);
    return contents.answer;
  }

  async #verify(request: CallbackRequest, endpoint: CallbackEndpoint): Promise<void> {
    let proven: boolean;
    try {
      proven = await endpoint.verifier.verify(request);
    } catch (error) {
      if (error instanceof UnreadableCallbackError) throw this.#unreadable(endpoint, error);
      const remedy = error instanceof MessagingConfigError ? error.message : undefined;
      const cause = remedy ?? errorName(error);
      this.#refusals.add('error', endpoint, `it could not be verified (${cause})`);
      throw remedy === undefined
        ? new ServiceUnavailableException()
        : new InternalServerErrorException(remedy);
    }
    if (proven) return;
    this.#refusals.add('warn', endpoint, 'invalid signature');
    throw new UnauthorizedException('The signature is missing, wrong or too old');
  }

  #parse(request: CallbackRequest, endpoint: CallbackEndpoint): Contents {
    try {
      const parsed = endpoint.parser.parse(request);
      const { reports = [], messages = [], templates = [], errors, answer } = parsed;
      return { reports, messages, templates, errors, answer };
    } catch (error) {
      // A check of an address whose query has the secret.
      if (error instanceof UnreadableCallbackError && hasNoBody(request))
        return { reports: [], messages: [], templates: [], errors: [], answer: CHECKED };
      throw this.#unreadable(endpoint, error);
    }
  }

  #unreadable(endpoint: CallbackEndpoint, error: unknown): HttpException {
    this.#refusals.add('warn', endpoint, `unreadable (${errorName(error)})`);
    return error instanceof UnsupportedCallbackTypeError
      ? new UnsupportedMediaTypeException(
          'Send the body as application/json or application/x-www-form-urlencoded',
        )
      : new BadRequestException('The body could not be read');
  }

  async #store(contents: Contents, endpoint: CallbackEndpoint): Promise<void> {
    const { reports, messages, templates } = contents;
    const { provider } = endpoint;
    try {
      if (reports.length > 0) await this.recorder.record(reports, { provider });
      if (messages.length > 0) await this.inbound.record(messages, { transport: provider });
      if (templates.length > 0) await this.templates.notify(templates);
    } catch (error) {
      // The message of a database error may quote rows, so only its name is logged.
      this.#logger.error(
        `Callback at ${placeOf(endpoint)} not stored: ${summaryOf(contents)} were not committed (${errorName(error)})`,
      );
      throw new ServiceUnavailableException('Not stored, send it again');
    }
  }

  #count({ reports, messages, errors }: Contents, endpoint: CallbackEndpoint): void {
    const unmapped = reports.filter(({ status }) => status === null);
    this.counts.add(endpoint.name, {
      reports: reports.length,
      unmapped: unmapped.length,
      messages: messages.length,
      unreadable: errors.length,
    });
    if (unmapped.length === 0) return;
    const words = [...new Set(unmapped.map(({ rawStatus }) => rawStatus))];
    const shown = words.map((word) => (PLAIN_WORD.test(word) ? word : '(not shown)'));
    this.#logger.warn(
      `${unmapped.length} reports at ${placeOf(endpoint)} have a status without a mapping: ${shown.slice(0, MAX_NAMED).join(', ')}`,
    );
  }
}

/** For logs: the name of the endpoint, and of its provider where that is another one. */
function placeOf({ name, provider }: CallbackEndpoint): string {
  return name === provider ? name : `${name} (provider ${provider})`;
}

function summaryOf({ reports, messages, templates }: Contents): string {
  const summary = [`${reports.length} reports`];
  if (messages.length > 0) summary.push(`${messages.length} inbound messages`);
  if (templates.length > 0) summary.push(`${templates.length} changes of templates`);
  return summary.join(', ');
}
