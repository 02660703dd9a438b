import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';
import { ApiError } from './api-error.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { validated } from './validated.js';

class Body {
  @IsInt({ message: 'must be a whole number' })
  readonly count: number = 3;

  @MayBeLeftOut()
  @IsString({ message: 'must be text' })
  readonly name?: string;
}

function details(plain: object): unknown {
  try {
    validated(Body, plain);
  } catch (error) {
    return error instanceof ApiError ? error.details : error;
  }
  return undefined;
}

const unknown = (path: string) => ({ path, message: 'is not a field of this request' });

describe('validated', () => {
  it('gives the DTO with its defaults', () => {
    expect(validated(Body, {})).toEqual(new Body());
    expect(validated(Body, { name: 'x' })).toEqual(Object.assign(new Body(), { name: 'x' }));
  });

  it('names a wrong field and an unknown one', () => {
    expect(details({ count: 'x', extra: 1 })).toEqual([
      { path: 'count', message: 'must be a whole number' },
      unknown('extra'),
    ]);
  });

  it('null is not the same as left out', () => {
    expect(details({ name: null })).toEqual([{ path: 'name', message: 'must be text' }]);
  });

  it.each(['toString', 'constructor', 'hasOwnProperty', '__proto__'])(
    'knows %s for the unknown field it is',
    (name) => {
      expect(details(JSON.parse(`{"${name}":1}`) as object)).toEqual([unknown(name)]);
    },
  );

  it('of unknown fields names ten, however long', () => {
    const many = Array.from({ length: 100_000 }, (_, n) => [`${n}${'x'.repeat(n % 99)}`, n]);
    const told = details(Object.fromEntries(many)) as { path: string }[];
    expect(told).toHaveLength(10);
    expect(details({ ['x'.repeat(1_000)]: 1 })).toEqual([unknown(`${'x'.repeat(64)}…`)]);
  });

  it('does not look into what should be a text', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]));
    for (const name of [deep, wide])
      expect(details({ name })).toEqual([{ path: 'name', message: 'must be text' }]);
  });
});
