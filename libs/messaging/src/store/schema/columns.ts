import { EntitySchema, type EntitySchemaColumnOptions, type ValueTransformer } from 'typeorm';
import type { TypeNames } from '../database/dialect.js';

/** Columns of a table, equal on every server: a type of {@link TypeNames}, and SQL. */
export type TableColumns = Readonly<Record<string, string>>;

export function columnsSql(columns: TableColumns, types: TypeNames): string[] {
  return Object.entries(columns).map(([name, column]) => {
    const { type, length, constraints } = parsed(column);
    return `${name} ${type === 'short' ? types.short(length) : types[type]}${constraints}`;
  });
}

function parsed(column: string) {
  const [, type = '', length, constraints = ''] = /^(\w+)(?:\((\d+)\))?(.*)$/.exec(column) ?? [];
  return { type: type as keyof TypeNames, length: Number(length), constraints };
}

/** No type of TypeORM holds bytes on every server: entities leave such a column out. */
const ENTITY_TYPES: Readonly<Record<Exclude<keyof TypeNames, 'bytes'>, EntitySchemaColumnOptions>> =
  {
    uuid: { type: 'varchar', length: 36 },
    key: { type: 'varchar' },
    address: { type: 'varchar', length: 320 },
    text: { type: 'text' },
    big: {
      type: 'bigint',
      transformer: {
        to: (value: unknown) => value,
        from: (value: string | number | null) => (value === null ? null : Number(value)),
      },
    },
    int: { type: 'int' },
    small: { type: 'smallint' },
    short: { type: 'varchar' },
  };

/** Words that entities show instead of the numbers of a column; a number without a word stays a number. */
export function wordsOf(words: Readonly<Record<string, number>>): ValueTransformer {
  const numbers = new Map<unknown, number>(Object.entries(words));
  const names = new Map<number, unknown>([...numbers].map(([name, number]) => [number, name]));
  return shown(
    (number) => names.get(number),
    (name) => numbers.get(name),
  );
}

/** 1 is true, 0 is false. */
export const FLAG: ValueTransformer = shown(
  (number) => number === 1,
  (value) => (typeof value === 'boolean' ? Number(value) : undefined),
);

/** @param wordOf, numberOf `undefined`: the value stays as it is */
export function shown(
  wordOf: (number: number) => unknown,
  numberOf: (word: unknown) => number | undefined,
): ValueTransformer {
  return {
    from: (number: number | null) => (number === null ? null : (wordOf(number) ?? number)),
    to: (word: unknown) => numberOf(word) ?? word,
  };
}

/**
 * Entities by the name of their table, with the names of the columns in camel case.
 * @param transformers by table and column
 */
export function entitiesOf<T extends string>(
  tables: Readonly<Record<T, TableColumns>>,
  primaryKeys: Readonly<Record<T, string>>,
  transformers?: Readonly<Partial<Record<T, Readonly<Record<string, ValueTransformer>>>>>,
) {
  return Object.entries<TableColumns>(tables).map(([table, columns]) => {
    const primary = primaryKeys[table as T].split(', ');
    return new EntitySchema<Record<string, unknown>>({
      name: `messaging_${table}`,
      // The migrations own the tables: their columns have types that no entity can state.
      synchronize: false,
      columns: Object.fromEntries(
        Object.entries(columns).flatMap(([name, column]) => {
          const { type, constraints } = parsed(column);
          if (type === 'bytes') return [];
          const isRequired = constraints.includes('NOT NULL');
          const transformer = transformers?.[table as T]?.[name];
          const own = {
            name,
            nullable: !isRequired,
            primary: primary.includes(name),
            ...(transformer && { transformer }),
          };
          return [
            [
              name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
              { ...ENTITY_TYPES[type], ...own },
            ] as const,
          ];
        }),
      ),
    });
  });
}
