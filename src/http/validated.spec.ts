import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { ApiError } from './api-error.js';
import { validated } from './validated.js';

class Inner {
  @IsString({ message: 'must be text' })
  readonly name!: string;
}

class Outer {
  @IsInt({ message: 'must be a whole number' })
  readonly count: number = 3;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => Inner)
  readonly items?: Inner[];
}

function details(plain: object): unknown {
  try {
    validated(Outer, plain);
  } catch (error) {
    return error instanceof ApiError ? error.details : error;
  }
  return undefined;
}

describe('validated', () => {
  it('gives the DTO with its defaults', () => {
    expect(validated(Outer, {})).toEqual(Object.assign(new Outer(), { count: 3 }));
    expect(validated(Outer, { items: [{ name: 'x' }] }).items?.[0]).toBeInstanceOf(Inner);
  });

  it('names a nested field by its path, and an unknown one', () => {
    expect(details({ count: 'x', items: [{ name: 'a' }, { name: 7 }], extra: 1 })).toEqual(
      expect.arrayContaining([
        { path: 'count', message: 'must be a whole number' },
        { path: 'items[1].name', message: 'must be text' },
        { path: 'extra', message: 'is not a field of this request' },
      ]),
    );
  });
});
