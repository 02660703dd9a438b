import type { Page } from '@dundun/messaging';
import type { Type } from '@nestjs/common';
import { Type as Convert } from 'class-transformer';
import { Field, type Plain, Text, WholeNumber } from './fields.js';

/** The response of a list: `class GroupPage extends PageOf(Group) {}`. */
export function PageOf<T>(item: Type<T>) {
  class Answer {
    @Field({ type: [item] }) readonly data!: readonly T[];

    @Text({
      nullable: true,
      description: '`cursor` of the next page; null: this is the last.',
      examples: [null],
    })
    readonly next_cursor!: string | null;
  }
  return Answer;
}

export function pageOf<T, A>(page: Page<T>, answer: (item: T) => A) {
  return { data: page.data.map(answer), next_cursor: page.nextCursor };
}

/** With the largest and the default `limit`; extend it by the list's filters. */
export function PageQueryOf(most: number, standard: number) {
  class Query {
    @Text({
      optional: true,
      maxLength: 500,
      description: '`next_cursor` of the page before.',
      message: 'must be the next_cursor of the page before',
    })
    readonly cursor?: string;

    @Convert(() => Number)
    @WholeNumber({ optional: true, minimum: 1, maximum: most, default: standard })
    readonly limit: number = standard;
  }
  return Query;
}

export class ListQuery extends PageQueryOf(1_000, 100) {}

export type PageQuery = Plain<ListQuery>;
