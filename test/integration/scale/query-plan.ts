import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { DatabaseKind } from '../../support/databases.js';
import type { Statement } from './statement-recorder.js';

interface PostgresNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PostgresNode[];
  readonly 'Total Cost'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
}

interface MariaDbRow {
  readonly table: string | null;
  readonly type: string | null;
  readonly key: string | null;
}

/** The tables that grow. */
const GROWING = /^messaging_(?:lane|batch|batch_chunk|submission|message|report)$/;

/** Growing tables that the server would read from one end to the other for this statement. */
export async function wholeReads(
  source: DataSource,
  kind: DatabaseKind,
  statement: Statement,
  growing = GROWING,
): Promise<string[]> {
  const tables = await READERS[kind](source, statement);
  return tables.filter((table) => growing.test(table));
}

const READERS: Readonly<
  Record<DatabaseKind, (source: DataSource, statement: Statement) => Promise<string[]>>
> = {
  postgres: async (source, { sql, params }) => {
    const once = await seqScans(source, `EXPLAIN (FORMAT JSON) ${sql}`, params);
    return [...new Set([...once, ...(await seqScansOfKept(source, { sql, params }))])];
  },
  mariadb: async (source, { sql, params }) => {
    const rows = (await source.query(`EXPLAIN ${sql}`, [...params])) as MariaDbRow[];
    const names = aliasesOf(sql);
    return rows
      .filter(({ type, table }) => type === 'ALL' && names.has(table ?? ''))
      .map(({ table }) => names.get(table ?? '') ?? '');
  },
  sqlite: async (source, { sql, params }) => {
    const rows = (await source.query(`EXPLAIN QUERY PLAN ${sql}`, [...params])) as {
      detail: string;
    }[];
    const names = aliasesOf(sql);
    return rows.flatMap(({ detail }) => {
      const alias = /^SCAN (\w+)$/.exec(detail)?.[1];
      const table = alias === undefined ? undefined : names.get(alias);
      return table === undefined ? [] : [table];
    });
  },
};

/**
 * Rows of tables that the server reads for this statement. SQLite does not tell; there it is 0 where
 * each way into the batches ends at the first that does not count, else `Infinity`.
 */
export async function rowsRead(
  source: DataSource,
  kind: DatabaseKind,
  { sql, params }: Statement,
): Promise<number> {
  switch (kind) {
    case 'postgres': {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`;
      const nodes = await nodesOf(source, explain, params);
      return nodes
        .filter((node) => node['Relation Name'] !== undefined)
        .reduce((sum, node) => {
          const rows = (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
          return sum + rows * (node['Actual Loops'] ?? 0);
        }, 0);
    }
    case 'mariadb': {
      const runner = source.createQueryRunner();
      const reads = async () =>
        (
          (await runner.query(`SHOW SESSION STATUS LIKE 'Handler_read%'`)) as { Value: string }[]
        ).reduce((sum, { Value }) => sum + Number(Value), 0);
      const before = await reads();
      await runner.query(sql, [...params]);
      const after = await reads();
      await runner.release();
      return after - before;
    }
    case 'sqlite': {
      const rows = (await source.query(`EXPLAIN QUERY PLAN ${sql}`, [...params])) as {
        detail: string;
      }[];
      const ways = rows.filter(({ detail }) => /^(SEARCH|SCAN) (b|messaging_batch)\b/.test(detail));
      return ways.every(({ detail }) =>
        /\bid=\?|\bchannel=\? AND id>\?|\bpriority=\? AND parked_until/.test(detail),
      )
        ? 0
        : Infinity;
    }
  }
}

/** The same of the plan that this connection keeps of the statement; none where it keeps none. */
export async function wholeReadsKept(
  source: DataSource,
  { sql, params }: Statement,
): Promise<string[]> {
  const [kept] = (await source.query(
    'SELECT name FROM pg_prepared_statements WHERE statement = $1 ORDER BY prepare_time DESC LIMIT 1',
    [sql],
  )) as { name: string }[];
  if (!kept) return [];
  const tables = await seqScans(
    source,
    `EXPLAIN (FORMAT JSON) EXECUTE ${kept.name} ${listOf(params)}`,
  );
  return tables.filter((table) => GROWING.test(table));
}

/** The same for the generic plan of a prepared statement. */
async function seqScansOfKept(source: DataSource, { sql, params }: Statement): Promise<string[]> {
  return source.transaction(async (manager) => {
    await manager.query(`SET LOCAL plan_cache_mode = force_generic_plan`);
    await manager.query(`PREPARE kept AS ${sql}`);
    const found = await seqScans(manager, `EXPLAIN (FORMAT JSON) EXECUTE kept ${listOf(params)}`);
    await manager.query('DEALLOCATE kept');
    return found;
  });
}

/** PostgreSQL's cost estimate of that plan; from 100,000 on it uses JIT (`jit_above_cost`). */
export async function costOfKept(source: DataSource, { sql, params }: Statement): Promise<number> {
  return source.transaction(async (manager) => {
    await manager.query(`SET LOCAL plan_cache_mode = force_generic_plan`);
    await manager.query(`PREPARE kept AS ${sql}`);
    const explain = `EXPLAIN (FORMAT JSON) EXECUTE kept ${listOf(params)}`;
    const [top] = await nodesOf(manager, explain, []);
    await manager.query('DEALLOCATE kept');
    return top?.['Total Cost'] ?? Infinity;
  });
}

function listOf(params: readonly unknown[]): string {
  if (params.length === 0) return '';
  const literals = params.map((value) =>
    value === null ? 'NULL' : pg.escapeLiteral(String(value as string | number)),
  );
  return `(${literals.join(', ')})`;
}

async function seqScans(
  source: Pick<DataSource, 'query'>,
  explain: string,
  params: readonly unknown[] = [],
): Promise<string[]> {
  return (await nodesOf(source, explain, params))
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => node['Relation Name'] ?? '');
}

async function nodesOf(
  source: Pick<DataSource, 'query'>,
  explain: string,
  params: readonly unknown[],
): Promise<PostgresNode[]> {
  const [row] = (await source.query(explain, [...params])) as [
    { 'QUERY PLAN': [{ Plan: PostgresNode }] },
  ];
  const nodes: PostgresNode[] = [];
  const visit = (node: PostgresNode) => {
    nodes.push(node);
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(row['QUERY PLAN'][0].Plan);
  return nodes;
}

/** Table by alias: MariaDB and SQLite name aliases in their plans. */
function aliasesOf(sql: string): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const [, table = '', alias = ''] of sql.matchAll(
    /\b(messaging_\w+)(?:\s+(?:AS\s+)?(?!FORCE|ON|SET|WHERE|STRAIGHT_JOIN|GROUP|ORDER|USING|LEFT|JOIN)([a-z]\w*))?/g,
  )) {
    aliases.set(table, table);
    if (alias !== '') aliases.set(alias, table);
  }
  return aliases;
}
