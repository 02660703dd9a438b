import { describe, expect, it } from '@jest/globals';
import { IsInt, IsOptional, ValidateNested } from 'class-validator';
import { ApiError } from './api-error.js';
import {
  Choice,
  Field,
  Flag,
  FlagOr,
  List,
  Text,
  TextUnder,
  SameText,
  WholeNumber,
} from './fields.js';
import { OneOfForms, validated } from './validation.js';

class Body {
  @WholeNumber({ minimum: 1, maximum: 9 })
  readonly count: number = 3;

  @Text({ optional: true })
  readonly name?: string;
}

class Inner {
  @Flag()
  readonly on!: boolean;
}

class Outer {
  @FlagOr(Inner, { optional: true })
  readonly inner?: boolean | Inner;

  @List({
    optional: true,
    items: { type: 'string' },
    maxItems: 50,
    entry: (one) => (one === 'a' ? undefined : 'must be a'),
    message: 'must be a list',
  })
  readonly list?: readonly string[];
}

class Note {
  @TextUnder(['body', 'content'])
  readonly body?: string;

  @SameText()
  readonly content?: string;
}

class Circle {
  @Choice(['circle'])
  readonly kind!: 'circle';

  @WholeNumber({ minimum: 1 })
  readonly radius!: number;
}

class Square {
  @Choice(['square'])
  readonly kind!: 'square';

  @WholeNumber({ minimum: 1 })
  readonly side!: number;
}

@OneOfForms('kind', { circle: Circle, square: Square })
class Shape {
  @Choice(['circle', 'square'])
  readonly kind!: string;
}

/** Rules that no decorator of ours makes. */
class Foreign {
  @Field({ type: 'array' }, IsOptional(), IsInt({ each: true, message: 'must be integers' }))
  readonly counts?: readonly number[];

  @Field({ type: 'object' }, IsOptional(), ValidateNested({ message: 'must be an object' }))
  readonly inner?: Inner;

  @Field(
    { type: 'integer' },
    IsInt({ validateIf: (_, value) => value !== 'any', message: 'must be an integer' }),
  )
  readonly count: number | 'any' = 'any';
}

function details(plain: object, dto: new () => object = Body): unknown {
  try {
    validated(dto, plain);
  } catch (error) {
    return error instanceof ApiError ? error.details : error;
  }
  return undefined;
}

const unknown = (path: string) => ({ path, message: 'is not a field of this request' });

describe('validated', () => {
  it('a valid body becomes the DTO with its defaults', () => {
    expect(validated(Body, {})).toEqual(new Body());
    expect(validated(Body, { name: 'x' })).toEqual(Object.assign(new Body(), { name: 'x' }));
  });

  it('a refusal names unknown fields and wrong ones', () => {
    expect(details({ count: 'x', extra: 1 })).toEqual([
      unknown('extra'),
      { path: 'count', message: 'must be a whole number from 1 to 9' },
    ]);
  });

  it('distinguishes null from a missing field', () => {
    expect(details({ name: null })).toEqual([{ path: 'name', message: 'must be a text' }]);
  });

  it.each(['toString', 'constructor', 'hasOwnProperty', '__proto__'])(
    'treats %s as an unknown field',
    (name) => {
      expect(details(JSON.parse(`{"${name}":1}`) as object)).toEqual([unknown(name)]);
    },
  );

  it('names ten unknown fields at most and shortens their names', () => {
    const many = Array.from({ length: 100_000 }, (_, n) => [`${n}${'x'.repeat(n % 99)}`, n]);
    const named = details(Object.fromEntries(many)) as { path: string }[];
    expect(named).toHaveLength(10);
    expect(details({ ['x'.repeat(1_000)]: 1 })).toEqual([unknown(`${'x'.repeat(64)}…`)]);
  });

  it('does not descend into a value that must be a text', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]));
    for (const name of [deep, wide])
      expect(details({ name })).toEqual([{ path: 'name', message: 'must be a text' }]);
  });

  it('keeps rules for entries, for nested objects and under a condition', () => {
    expect(details({ counts: [1], count: 1 }, Foreign)).toBeUndefined();
    expect(details({ count: 'any' }, Foreign)).toBeUndefined();
    expect(details({ counts: [1, 'x'], inner: 1, count: 'x' }, Foreign)).toEqual([
      { path: 'counts', message: 'must be integers' },
      { path: 'inner', message: 'must be an object' },
      { path: 'count', message: 'must be an integer' },
    ]);
  });

  it('names a wrong field of a nested object by its path', () => {
    expect(details({ inner: { on: 1, off: 2 } }, Outer)).toEqual([
      unknown('inner.off'),
      { path: 'inner.on', message: 'must be true or false' },
    ]);
    expect(details({ inner: 'x' }, Outer)).toEqual([
      { path: 'inner', message: 'must be true, false or a JSON object' },
    ]);
    expect(details({ inner: true }, Outer)).toBeUndefined();
  });

  it('names the first ten wrong entries of a list by their place', () => {
    expect(details({ list: ['a', 'b', 7] }, Outer)).toEqual([
      { path: 'list[1]', message: 'must be a' },
      { path: 'list[2]', message: 'must be a' },
    ]);
    const wrong = Array.from({ length: 50 }, () => 'b');
    expect(details({ list: wrong }, Outer)).toHaveLength(10);
    for (const list of ['a', { 0: 'a' }, [...wrong, 'b']])
      expect(details({ list }, Outer)).toEqual([{ path: 'list', message: 'must be a list' }]);
  });

  it('takes a text under either name and refuses two that differ', () => {
    expect(details({ content: 'x' }, Note)).toBeUndefined();
    expect(details({ body: 'x', content: 'x' }, Note)).toBeUndefined();
    expect(details({}, Note)).toEqual([
      { path: 'body', message: 'must be a text of at least one character' },
    ]);
    expect(details({ content: '' }, Note)).toEqual([
      { path: 'content', message: 'must be a text of at least one character' },
    ]);
    expect(() => validated(Note, { body: 'x', content: 'y' })).toThrow(
      expect.objectContaining({ code: 'conflicting_fields' }),
    );
  });

  it('validates the form that the request names, and explains fields of another form', () => {
    expect(validated(Shape, { kind: 'circle', radius: 1 })).toBeInstanceOf(Circle);
    expect(details({ kind: 'circle', side: 1 }, Shape)).toEqual([
      { path: 'side', message: 'goes with kind square alone' },
      { path: 'radius', message: 'must be a whole number of at least 1' },
    ]);
    expect(details({ kind: 'line', side: 1 }, Shape)).toEqual([
      { path: 'kind', message: 'must be circle or square' },
    ]);
  });
});
