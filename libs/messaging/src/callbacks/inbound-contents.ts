import type {
  InboundCard,
  InboundContent,
  InboundFile,
} from '../message/content/inbound-content.js';
import { identifier, own } from '../message/report-fields.js';

/** Most characters of a text of the sender, and of an address of a file. */
const MOST_TEXT = 1_024;
const MOST_SOURCE = 4_096;
const MOST_FILES = 10;
const MOST_CARDS = 50;
/** Most numbers, or addresses, of a person. */
const MOST_OF_CARD = 10;

/** A text of the sender, shortened and cleaned for storage; `null`: there is none. */
export function shortTextOf(value: unknown): string | null {
  if (typeof value !== 'string' && !Number.isSafeInteger(value)) return null;
  const text = String(value)
    .slice(0, MOST_TEXT)
    .replace(/[\0\p{Cs}]/gu, '');
  return text === '' ? null : text;
}

/** What a provider says of a file; a value of the wrong type counts as missing. */
interface GivenFile {
  /** @default by the MIME type */
  readonly type?: InboundFile['type'] | undefined;
  readonly contentType?: unknown;
  readonly filename?: unknown;
  readonly size?: unknown;
  readonly source: unknown;
}

/** Without files `undefined`: a file that names no source cannot be fetched, and is left out. */
export function mediaOf(given: readonly GivenFile[], caption: unknown): InboundContent | undefined {
  const files = given.flatMap((file) => fileOf(file) ?? []).slice(0, MOST_FILES);
  return files.length > 0 ? { kind: 'media', caption: shortTextOf(caption), files } : undefined;
}

function fileOf({ type, contentType, filename, size, source }: GivenFile): InboundFile | undefined {
  if (typeof source !== 'string' || !/^[\x21-\x7e]+$/.test(source) || source.length > MOST_SOURCE)
    return undefined;
  const mime = shortTextOf(contentType);
  return {
    type: type ?? typeOfMime(mime),
    contentType: mime,
    filename: shortTextOf(filename),
    size: sizeOf(size),
    source,
  };
}

function typeOfMime(mime: string | null): InboundFile['type'] {
  const [main] = (mime ?? '').toLowerCase().split('/');
  return main === 'image' || main === 'video' || main === 'audio' ? main : 'document';
}

/** Some providers write the size as text. */
function sizeOf(value: unknown): number | null {
  const size = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null;
}

/** @param given `latitude`, `longitude`, `name`, `address` and `url` */
export function locationOf(given: unknown): InboundContent | undefined {
  const latitude = degreesOf(own(given, 'latitude'), 90);
  const longitude = degreesOf(own(given, 'longitude'), 180);
  if (latitude === null || longitude === null) return undefined;
  const text = (name: string) => shortTextOf(own(given, name));
  const place = { name: text('name'), address: text('address'), url: text('url') };
  return { kind: 'location', latitude, longitude, ...place };
}

function degreesOf(value: unknown, most: number): number | null {
  const isText = typeof value === 'string' && /^-?\d{1,3}(\.\d{1,20})?$/.test(value);
  const degrees = isText ? Number(value) : value;
  return typeof degrees === 'number' && Math.abs(degrees) <= most ? degrees : null;
}

/** A person as a provider gives them; a value of the wrong type counts as missing. */
interface GivenCard {
  readonly name: unknown;
  readonly organization: unknown;
  readonly phones: readonly unknown[];
  readonly emails: readonly unknown[];
}

/** @param read reads one person */
export function cardsOf(
  given: unknown,
  read: (card: unknown) => GivenCard,
): InboundContent | undefined {
  if (!Array.isArray(given) || given.length === 0) return undefined;
  return { kind: 'contacts', contacts: given.slice(0, MOST_CARDS).map((one) => cardOf(read(one))) };
}

function cardOf({ name, organization, phones, emails }: GivenCard): InboundCard {
  const texts = (list: readonly unknown[]) =>
    list.slice(0, MOST_OF_CARD).flatMap((text) => shortTextOf(text) ?? []);
  return {
    name: shortTextOf(name),
    organization: shortTextOf(organization),
    phones: texts(phones),
    emails: texts(emails),
  };
}

/** The list in a field; anything else counts as empty. */
export function listIn(given: unknown, field: string): readonly unknown[] {
  const list = own(given, field);
  return Array.isArray(list) ? list : [];
}

/** People in the form of Meta, whose names others write in camel case. */
export function contactsOf(given: unknown): InboundContent | undefined {
  return cardsOf(given, (card) => {
    const name = own(card, 'name');
    return {
      name: own(name, 'formatted_name') ?? own(name, 'formattedName'),
      organization: own(own(card, 'org'), 'company'),
      phones: listIn(card, 'phones').map((phone) => own(phone, 'phone')),
      emails: listIn(card, 'emails').map((email) => own(email, 'email')),
    };
  });
}

/** `undefined`: no emoji, as of a reaction that is taken back. */
export function reactionOf(emoji: unknown, messageId: unknown): InboundContent | undefined {
  const text = shortTextOf(emoji);
  return text === null
    ? undefined
    : { kind: 'reaction', emoji: text, messageId: identifier(messageId) };
}

export function buttonOf(title: unknown, payload: unknown): InboundContent {
  return { kind: 'button', title: shortTextOf(title), payload: shortTextOf(payload) };
}

/** @param row `id`, `title` and `description` of a list's row */
export function rowOf(row: unknown): InboundContent {
  const text = (name: string) => shortTextOf(own(row, name));
  return { kind: 'list', id: text('id'), title: text('title'), description: text('description') };
}

/** @param response an object, or its JSON */
export function flowOf(name: unknown, response: unknown): InboundContent {
  const parsed = typeof response === 'string' ? jsonIn(response) : response;
  const isFilled = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return {
    kind: 'flow',
    name: shortTextOf(name),
    response: isFilled ? Object.fromEntries(Object.entries(parsed)) : null,
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What this version has no form for. */
export function otherOf(type: unknown, raw: unknown): InboundContent {
  return { kind: 'other', type: shortTextOf(type), raw: raw ?? null };
}
