import type { Page } from '@dundun/messaging';
import type { Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { openCursor, sealCursor } from './cursor.js';
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

export function pageOf<T, A>(page: Page<T>, answer: (item: T) => A) {
  const { data, nextCursor } = page;
  return {
    data: data.map(answer),
    next_cursor: nextCursor === null ? null : sealCursor(nextCursor),
  };
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
