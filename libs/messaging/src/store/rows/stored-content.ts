import type { MessageContent, SecretContent } from '../../message/message.js';
import type { BatchLabels } from '../../message/labels.js';
import type { TraceContext } from '../../ports/tracing.js';

export interface StoredContent {
  readonly content: MessageContent;
  readonly labels?: BatchLabels | undefined;
  readonly trace?: TraceContext | undefined;
  /** The store has names or variables of the recipients. */
  readonly hasPersonal?: boolean | undefined;
  /** The content is encrypted, and no key decrypts it: only its kind and category are there. */
  readonly unreadable?: true | undefined;
}

/** Reads a content of a batch; `undefined`: its long texts have been erased meanwhile. */
export type ReadContent = (batch: string, json: string) => StoredContent | undefined;

/** Whether it has a one-time code. */
export function isSecret(content: MessageContent): boolean {
  return (content as SecretContent).secret === true;
}

/** A content in the place of another one: as secret as that. */
export function insteadOf(content: MessageContent, before: MessageContent): MessageContent {
  return isSecret(before) ? ({ ...content, secret: true } as MessageContent) : content;
}

/** The content as views show it: not that of a message with a code. */
export function shownContent(content: MessageContent): MessageContent | null {
  return isSecret(content) ? null : content;
}

type StoredJson = MessageContent & {
  trace?: TraceContext;
  $labels?: BatchLabels;
  $personal?: boolean;
  /** Bytes of each long text, which the JSON names by its number. */
  $texts?: readonly number[];
};

/** Most characters of a text within the JSON of a content; a longer one is kept in rows of its own. */
export const LONG_TEXT = 4_096;

/** Stands for a long text within the JSON. */
interface TextPlace {
  readonly $text: number;
}

/** The JSON of a content, and its long texts by their numbers. */
export interface CutContent {
  readonly json: string;
  readonly texts: readonly string[];
}

/** The JSON of a content with the other values in it, so that they need no columns. */
export function writeContent(stored: StoredContent): CutContent {
  const whole = wholeOf(stored);
  return hasLongText(stored) ? cut(whole) : { json: JSON.stringify(whole), texts: [] };
}

export function wholeOf({ content, trace, labels, hasPersonal }: StoredContent): object {
  if (!trace && !labels && !hasPersonal) return content;
  return { ...content, trace, $labels: labels, ...(hasPersonal && { $personal: true }) };
}

/** Cuts the JSON of a content in which no text was cut; of others no text is left to cut. */
export function cutContent(json: string): CutContent {
  const whole = JSON.parse(json) as StoredJson;
  return longLengthOf(whole) > 0 ? cut(whole) : { json, texts: [] };
}

export function hasLongText({ content }: Pick<StoredContent, 'content'>): boolean {
  return longLengthOf(content) > 0;
}

/** Characters of the texts that are too long for the JSON. */
export function longLengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length > LONG_TEXT ? value.length : 0;
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const key in value) sum += longLengthOf((value as Record<string, unknown>)[key]);
  return sum;
}

function cut(whole: object): CutContent {
  const texts: string[] = [];
  const json = JSON.stringify({ ...whole, $texts: 0 }, (key, value: unknown) => {
    // The last key: every text has its number by then.
    if (key === '$texts') return texts.map((text) => Buffer.byteLength(text));
    if (typeof value !== 'string' || value.length <= LONG_TEXT) return value;
    return { $text: texts.push(value) - 1 } satisfies TextPlace;
  });
  return { json, texts };
}

/** Bytes of the long texts of a content in the store; 0: it has none. */
export function longBytesOf(json: string): number {
  const sizes = LONG_BYTES.exec(json)?.[1]?.split(',') ?? [];
  return sizes.reduce((sum, bytes) => sum + Number(bytes), 0);
}

/** At the end, where no text of the content can stand. */
const LONG_BYTES = /,"\$texts":\[([\d,]+)\]\}$/;

/** @param texts the long texts; without them a content that has any shows '' in their places */
export function readContent(json: string, texts: readonly string[] = []): StoredContent {
  const content = JSON.parse(json) as StoredJson;
  const { trace, $labels, $personal, $texts } = content;
  if (trace !== undefined) delete content.trace;
  if ($labels !== undefined) delete content.$labels;
  if ($personal !== undefined) delete content.$personal;
  if ($texts !== undefined) {
    delete content.$texts;
    fill(content, texts);
  }
  return { content, trace, labels: $labels, hasPersonal: $personal };
}

/** A stored content after a change that leaves its long texts where they are. */
export function changedContent(
  json: string,
  change: (content: MessageContent) => MessageContent,
): string {
  const { trace, $labels, $personal, $texts, ...content } = JSON.parse(json) as StoredJson;
  return JSON.stringify({ ...change(content), trace, $labels, $personal, $texts });
}

/** Puts the texts in their places. */
function fill(value: object, texts: readonly string[]): void {
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (typeof member !== 'object' || member === null) continue;
    if ('$text' in member && typeof member.$text === 'number')
      members[key] = texts[member.$text] ?? '';
    else fill(member, texts);
  }
}
