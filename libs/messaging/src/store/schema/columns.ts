import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
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

/** Entities by the name of their table, with the names of the columns in camel case. */
export function entitiesOf<T extends string>(
  tables: Readonly<Record<T, TableColumns>>,
  primaryKeys: Readonly<Record<T, string>>,
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
          const own = { name, nullable: !isRequired, primary: primary.includes(name) };
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
