import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

const CURSOR_RULE = 'must be the next_cursor of the page before';

/** What every list takes. */
export interface PageQuery {
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
  readonly limit: number;
}

/**
 * The query of a list as a DTO, to be extended by the filters of the list.
 *
 * @example
 * export class BatchesQuery extends PageOf(100, 20) {}
 */
export function PageOf(max: number, standard: number): new () => PageQuery {
  const rule = { message: `must be a whole number from 1 to ${max}` };
  class Query implements PageQuery {
    @IsOptional()
    @IsString({ message: CURSOR_RULE })
    @MaxLength(500, { message: CURSOR_RULE })
    readonly cursor?: string;

    @Type(() => Number)
    @IsInt(rule)
    @Min(1, rule)
    @Max(max, rule)
    readonly limit: number = standard;
  }
  return Query;
}
