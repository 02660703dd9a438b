import { crc32 } from 'node:zlib';
import type { Page } from '@dundun/messaging';
import type { Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Field, type Plain, Text, WholeNumber } from './fields.js';

/** The response of a list: `class GroupPage extends PageOf(Group) {}`. */
export function PageOf<T>(item: Type<T>) {
  class Answer {
    @Field({ type: [item] }) readonly data!: readonly T[];

    @Text({
      nullable: true,
      description:
        '`cursor` of the next page, also after a page with fewer items than `limit`; null: this is the last.',
      examples: [null],
    })
    readonly next_cursor!: string | null;
  }
  return Answer;
}

export function pageOf<T, A>({ data, nextCursor }: Page<T>, answer: (item: T) => A) {
  return { data: data.map(answer), next_cursor: sealedCursor(nextCursor) };
}

export function sealedCursor(cursor: string | null): string | null {
  return cursor === null ? null : sealCursor(cursor);
}

/** Characters of the checksum before the content, in base 36. */
const CHECKSUM = 7;

/** Makes a cursor opaque: clients cannot build one, and a changed one is recognised. */
function sealCursor(cursor: string): string {
  return Buffer.from(checksum(cursor) + cursor).toString('base64url');
}

/** `undefined` for a text that {@link sealCursor} did not return. */
function openCursor(sealed: unknown): string | undefined {
  if (typeof sealed !== 'string') return undefined;
  const cursor = Buffer.from(sealed, 'base64url').toString().slice(CHECKSUM);
  return sealCursor(cursor) === sealed ? cursor : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(CHECKSUM, '0');
}

interface Written {
  readonly value: unknown;
}

/** Digits alone: `Number()` takes hexadecimal, signs and white space as well. */
function isDecimal(value: unknown): boolean {
  return typeof value === 'string' && /^[1-9]\d{0,14}$/.test(value);
}

/** With the largest and the default `limit`; extend it by the list's filters. */
export function PageQueryOf(most: number, standard: number) {
  class Query {
    // A value that is no cursor fails the rule of `Text()`.
    @Transform(({ value }: Written) => openCursor(value) ?? null)
    @Text({
      optional: true,
      maxLength: 1_000,
      description: '`next_cursor` of the page before.',
      message: 'must be the next_cursor of the page before',
    })
    readonly cursor?: string;

    @Transform(({ value }: Written) => (isDecimal(value) ? Number(value) : value))
    @WholeNumber({ optional: true, minimum: 1, maximum: most, default: standard })
    readonly limit: number = standard;
  }
  return Query;
}

export class ListQuery extends PageQueryOf(1_000, 100) {}

export type PageQuery = Plain<ListQuery>;
