import { Logger } from '@nestjs/common';
import type { DeliveryReport } from '../../message/events.js';
import {
  PausedFailure,
  PausedUncertainFailure,
  PermanentFailure,
  UncertainFailure,
  UnroutableFailure,
} from '../../message/errors.js';
import type { VasProduct } from '../../message/vas.js';
import type { ChannelRegistry } from '../../message/channel-registry.js';
import type { TemplateContent } from '../../message/message.js';
import { own, word } from '../../message/report-fields.js';
import type { ChannelStatus } from '../../message/status.js';
import type {
  MediaSource,
  TemplateButton,
  TemplateHeader,
} from '../../message/content/whatsapp-content.js';
import type {
  SentSubmission,
  Submission,
  SubmissionAccepted,
} from '../../ports/message-transport.js';
import type { Credential, HttpSettings } from './http.options.js';
import { readDeliveryReport } from './interface-callbacks.js';

const SMS = '/ng/v1';
export const WHATSAPP = '/whatsapp/ng/v1';
export const PAGE = 1000;
/** Most pages of one list, against a service whose cursors never end. */
const MAX_PAGES = 1000;
/** Most polls in flight for one channel. */
const CONCURRENCY = 8;
/** Longest query in characters: servers refuse request lines above 8 to 16 KiB. */
const MAX_QUERY = 6000;

/** Asks the service for a path; the answer is its JSON. */
export type Get = (path: string) => Promise<unknown>;

/** The interface's form of one channel: it has operations and credentials of its own for each. */
export interface Wire {
  readonly credential: Credential;
  readonly path: string;
  /** Field of the answer with the service's id of the submission. */
  readonly idField: string;
  /** The service honours the `Idempotency-Key` of a submission. @default true */
  readonly keyed?: boolean;
  /** @throws PermanentFailure where the channel cannot carry the submission */
  bodyOf(submission: Submission): Readonly<Record<string, unknown>>;
  /** Contents of the answer beside the id. */
  detailsOf?(id: string, answer: unknown, of: Submission): Partial<SubmissionAccepted>;
  fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports>;
  products?(get: Get): Promise<readonly VasProduct[]>;
}

export interface FetchedReports {
  readonly reports: readonly DeliveryReport[];
  /** Error because of which reports may be missing. */
  readonly failure: unknown;
}

interface ReportList {
  readonly query: string;
  /** Set where the list belongs to one submission and is requested by its key. */
  readonly submissionId?: string;
}

/** The word of the interface for whether it calls back. */
export function reportWish(isWanted: boolean): 'none' | 'yes' {
  return isWanted ? 'yes' : 'none';
}

/** SMS on the interface: `sendsms` and `deliveryreports`. */
export class SmsWire implements Wire {
  readonly credential = 'apiToken';
  readonly path = `${SMS}/sendsms`;
  readonly idField = 'reference_id';
  readonly #logger = new Logger(SmsWire.name);

  constructor(private readonly settings: Pick<HttpSettings, 'textField' | 'deliveryReport'>) {}

  bodyOf({ sender, recipients, content, deliveryReport }: Submission): Record<string, unknown> {
    if (content.kind !== 'text')
      throw new PermanentFailure('unsupported_content', 'An SMS carries text only');
    return {
      from: sender,
      to: recipients,
      [this.settings.textField.sms]: content.text,
      delivery_report: reportWish(this.settings.deliveryReport ?? deliveryReport),
    };
  }

  /** Submissions with a reference share requests; others have one each, by idempotency key. */
  async fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports> {
    const ids = new Map(submissions.map((one) => [one.reference, one.submissionId]));
    ids.delete(null);
    let unreadable = 0;
    const fetched = await fetchEach(listsOf(submissions), async function* (list) {
      const path = `${SMS}/deliveryreports?limit=${PAGE}${list.query}`;
      for await (const item of itemsOf(path, get)) {
        const report = readDeliveryReport(item);
        if (typeof report === 'string') unreadable++;
        else yield { ...report, submissionId: list.submissionId ?? ids.get(report.reference) };
      }
    });
    if (unreadable > 0)
      this.#logger.warn(
        `${unreadable} fetched delivery reports could not be read and were left out`,
      );
    return fetched;
  }
}

/** WhatsApp on the interface: `sendwhatsapp` and `messages/{id}`. */
export class WhatsAppWire implements Wire {
  readonly credential = 'apiKey';
  readonly path = `${WHATSAPP}/sendwhatsapp`;
  readonly idField = 'message_id';

  constructor(private readonly settings: Pick<HttpSettings, 'textField'>) {}

  bodyOf({ recipients, content }: Submission): Record<string, unknown> {
    const [to, ...others] = recipients;
    if (to === undefined || others.length > 0)
      throw new PermanentFailure('invalid_submission', 'A WhatsApp message goes to one recipient');
    if (content.kind === 'text')
      return { to, message_type: 'text', [this.settings.textField.whatsapp]: content.text };
    if (content.kind === 'media') {
      const { type, caption, filename } = content;
      const media = { type, ...sourceOf(content), caption, filename };
      return { to, message_type: 'media', media };
    }
    if (content.kind !== 'template')
      throw new UnroutableFailure(
        'unsupported_content',
        'The interface carries texts, templates and media only',
      );
    const components = componentsOf(content);
    return {
      to,
      message_type: 'template',
      template_name: content.template,
      language: content.language,
      params: content.params,
      ...(components && { components }),
    };
  }

  detailsOf(id: string, answer: unknown): Partial<SubmissionAccepted> {
    const cost = own(answer, 'cost');
    const currency = own(answer, 'currency');
    const category = word(own(answer, 'category'));
    const sender = word(own(answer, 'sender'));
    const details = {
      ...(typeof cost === 'number' && cost >= 0 && { cost: decimal(cost) }),
      ...(typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && { currency }),
      ...(category && { category }),
      ...(sender && { sender }),
    };
    return { messageIds: [id], details };
  }

  /** One request per message, as the interface has no list; skips messages without a known id. */
  fetch(submissions: readonly SentSubmission[], get: Get): Promise<FetchedReports> {
    return fetchEach(submissions.values(), async function* (submission) {
      const { submissionId, reference, recipients } = submission;
      if (reference === null) return;
      const path = `${WHATSAPP}/messages/${encodeURIComponent(reference)}`;
      const report = readDeliveryReport(await get(path).catch(ignoreUnknown));
      if (typeof report !== 'string' && report.status !== null)
        yield { ...report, reference, recipient: recipients[0] ?? null, submissionId };
    });
  }
}

function sourceOf({ link, mediaId }: MediaSource) {
  return link === undefined ? { media_id: mediaId } : { link };
}

/** Header and buttons of a template; the value of a button has one name for all types. */
function componentsOf({ header, buttons }: Pick<TemplateContent, 'header' | 'buttons'>) {
  if (!header && !buttons) return undefined;
  return {
    ...(header && { header: headerOf(header) }),
    ...(buttons && {
      buttons: buttons.map((button) => {
        const { index, type } = button;
        return { index, type, value: valueOf(button) };
      }),
    }),
  };
}

function valueOf(button: TemplateButton): string {
  switch (button.type) {
    case 'url':
      return button.suffix;
    case 'quick_reply':
      return button.payload;
    case 'copy_code':
      return button.code;
  }
}

function headerOf(header: TemplateHeader) {
  if (header.type === 'text') return header;
  const filename = header.type === 'document' ? header.filename : undefined;
  return { type: header.type, ...sourceOf(header), ...(filename && { filename }) };
}

/**
 * Reads the entries of the list of each submission; skips those without a known id.
 * @param pathOf address of the list @param dataOf an entry in the form of a delivery report
 */
export function fetchLists(
  submissions: readonly SentSubmission[],
  get: Get,
  channels: Pick<ChannelRegistry, 'isReported' | 'isEvent'>,
  pathOf: (reference: string) => string,
  dataOf: (entry: unknown) => object,
): Promise<FetchedReports> {
  const isReported = (status: unknown): status is ChannelStatus =>
    channels.isReported(status) || channels.isEvent(status);
  const known = (asked: string) =>
    get(asked).catch((error) => ignoreUnknown(error) ?? { data: [] });
  return fetchEach(submissions.values(), async function* ({ submissionId, reference }) {
    if (reference === null) return;
    for await (const entry of itemsOf(pathOf(encodeURIComponent(reference)), known)) {
      const report = readDeliveryReport(dataOf(entry), isReported);
      if (typeof report !== 'string' && report.status !== null)
        yield { ...report, reference, submissionId };
    }
  });
}

/**
 * Reads the reports of each item, several at a time. A pause affects every request, so no further
 * item is read; other failures do not affect other items.
 * @returns the reports and the first failure; a permanent one only where no item was answered
 */
export async function fetchEach<T>(
  items: IterableIterator<T>,
  read: (item: T) => AsyncIterable<DeliveryReport>,
): Promise<FetchedReports> {
  const reports: DeliveryReport[] = [];
  let failure: unknown;
  let refusal: unknown;
  let answered = false;
  let paused = false;
  const reader = async (): Promise<void> => {
    for (const item of items)
      try {
        if (paused) return;
        for await (const report of read(item)) reports.push(report);
        answered = true;
      } catch (error) {
        if (error instanceof PermanentFailure) refusal ??= error;
        else failure ??= error;
        paused ||= error instanceof PausedFailure || error instanceof PausedUncertainFailure;
      }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, reader));
  return { reports, failure: failure ?? (answered ? undefined : refusal) };
}

function* listsOf(submissions: readonly SentSubmission[]): Generator<ReportList> {
  let query = '';
  for (const { submissionId, reference } of submissions) {
    if (reference === null) {
      yield { query: `&idempotency_key=${encodeURIComponent(submissionId)}`, submissionId };
      continue;
    }
    const part = `&reference_id=${encodeURIComponent(reference)}`;
    if (query.length + part.length > MAX_QUERY) {
      yield { query };
      query = '';
    }
    query += part;
  }
  if (query !== '') yield { query };
}

/** The items of all pages of a list. @param path with its query */
async function* itemsOf(path: string, get: Get): AsyncGenerator<unknown> {
  let cursor = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const body = await get(path + after);
    const items = own(body, 'data');
    if (!Array.isArray(items))
      throw new UncertainFailure('invalid_answer', 'The service answered without a report list');
    yield* items as unknown[];
    const next = own(body, 'next_cursor');
    if (typeof next !== 'string' || next === '' || next === cursor) return;
    cursor = next;
  }
}

/** A message that the service does not know has no report. */
function ignoreUnknown(error: unknown): undefined {
  if (error instanceof PermanentFailure) return undefined;
  throw error;
}

/** Writes a JSON number as a decimal, never as `1e-7`. */
function decimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : text;
}
