import type { FieldError } from '../message/errors.js';
import type { BatchLabels } from '../message/labels.js';

/** Tags and metadata, which every send may have. */
export interface LabelledMessage {
  /** At most 10 of 1 to 64 letters, digits, dashes and underscores; lists and cancels find them. */
  readonly tags?: readonly string[] | undefined;
  /** At most 20 texts of 512 characters; events give them back. Kept as long as the content. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

const MOST_TAGS = 10;
const MOST_METADATA = 20;
const TAG = /^[\w-]{1,64}$/;
const METADATA_NAME = /^[^\p{Cc}\p{Cs}]{1,64}$/u;
const TAG_RULE = 'must be 1 to 64 letters, digits, dashes and underscores';

/** `undefined`: the message has none. */
export function checkLabels(
  { tags: given, metadata }: LabelledMessage,
  errors: FieldError[],
): BatchLabels | undefined {
  if (given === undefined && metadata === undefined) return undefined;
  const labels = {
    tags: checkTags(given, errors),
    metadata: checkMetadata(metadata, errors) ?? {},
  };
  const isEmpty = labels.tags.length === 0 && Object.keys(labels.metadata).length === 0;
  return isEmpty ? undefined : labels;
}

/** Adds an error at `tag` unless it has the form of a tag. */
export function checkTag(tag: unknown, errors: FieldError[]): void {
  if (!isTag(tag)) errors.push({ path: 'tag', message: TAG_RULE });
}

function isTag(value: unknown): value is string {
  return typeof value === 'string' && TAG.test(value);
}

function checkTags(given: unknown, errors: FieldError[]): string[] {
  if (given === undefined) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given.slice(0, MOST_TAGS) : [];
  const tags = new Set(list.filter(isTag));
  if (!Array.isArray(given) || given.length > MOST_TAGS)
    errors.push({ path: 'tags', message: `must be an array of at most ${MOST_TAGS} tags` });
  else
    list.forEach((tag, index) => {
      if (!isTag(tag))
        errors.push({
          path: `tags[${index}]`,
          message: TAG_RULE,
        });
    });
  return [...tags];
}

function checkMetadata(
  given: unknown,
  errors: FieldError[],
): Readonly<Record<string, string>> | undefined {
  if (given === undefined) return undefined;
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : [];
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    errors.push({ path: 'metadata', message: 'must be an object of texts' });
  else if (entries.length > MOST_METADATA)
    errors.push({ path: 'metadata', message: `must have at most ${MOST_METADATA} names` });
  else
    for (const [name, value] of entries)
      if (!METADATA_NAME.test(name))
        errors.push({
          path: 'metadata',
          message: 'must have names of 1 to 64 characters, without control characters',
        });
      else if (typeof value !== 'string' || value.length > 512 || /[\0\p{Cs}]/u.test(value))
        errors.push({
          path: `metadata.${name}`,
          message: 'must be a text of at most 512 characters, without NUL',
        });
  return entries.length > 0 ? (Object.fromEntries(entries) as Record<string, string>) : undefined;
}
