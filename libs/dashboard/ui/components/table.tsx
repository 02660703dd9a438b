import type { ComponentChildren, JSX } from 'preact';
import type { ListAnswer } from '../../src/api.js';
import { useRoute, withQuery } from '../app/router.js';
import type { Loaded } from '../app/use-data.js';
import { Empty, ErrorNotice, Skeleton } from './basics.js';
import { Icon } from './icon.js';
import type { Selection } from './selection.js';

export interface Column<T> {
  readonly title: string;
  /** Numbers stand to the right. */
  readonly number?: boolean;
  /** The column of buttons has no visible title. */
  readonly actions?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

/**
 * Rows under titles; where it is narrow, each row is a block of names and values. The roles are
 * written out because a table drawn as blocks loses its own.
 */
export function Table<T>(props: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  id: (row: T) => string;
  /** The page of a row: its first cell is the link, and the whole row can be clicked. */
  to?: (row: T) => string;
  /** Rows have a box that chooses them. @default none */
  selection?: Selection<T>;
}): JSX.Element {
  const { columns, rows, selection } = props;
  return (
    <div class="table-box">
      <table role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {selection && (
              <th role="columnheader" scope="col" class="choice">
                <input
                  type="checkbox"
                  aria-label="Choose all rows"
                  checked={rows.length > 0 && selection.chosen.length === rows.length}
                  onChange={selection.toggleAll}
                />
              </th>
            )}
            {columns.map(({ title, number, actions }) => (
              <th key={title} role="columnheader" scope="col" class={number ? 'number' : undefined}>
                {actions ? <span class="hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={props.id(row)} class={props.to ? 'linked' : undefined}>
              {selection && (
                <td role="cell" class="choice">
                  <input
                    type="checkbox"
                    aria-label={`Choose ${props.id(row)}`}
                    checked={selection.has(row)}
                    onChange={() => selection.toggle(row)}
                  />
                </td>
              )}
              {columns.map((column, index) => (
                <td
                  key={column.title}
                  role="cell"
                  class={column.number ? 'number' : column.actions ? 'row-actions' : undefined}
                  data-title={column.actions ? undefined : column.title}
                >
                  {index === 0 && props.to ? (
                    <a class="row-link" href={props.to(row)}>
                      {column.cell(row)}
                    </a>
                  ) : column.actions ? (
                    column.cell(row)
                  ) : (
                    <div>{column.cell(row)}</div>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A list of the API: its rows, its next page, or why there is none. */
export function List<T>(props: {
  label: string;
  /** Without `nextCursor` it has one page. */
  list: Loaded<Pick<ListAnswer<T>, 'data'> & Partial<ListAnswer<T>>>;
  columns: readonly Column<T>[];
  id: (row: T) => string;
  to?: (row: T) => string;
  selection?: Selection<T>;
  /** Shown where the list has no rows. */
  empty: ComponentChildren;
}): JSX.Element {
  const { data, error, loading, reload } = props.list;
  if (loading) return <Skeleton lines={8} />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  if (data.data.length === 0 && data.nextCursor) {
    return (
      <Empty
        icon="search"
        title="Nothing found so far"
        action={
          <a class="button primary" href={withQuery({ cursor: data.nextCursor })}>
            Search older entries
          </a>
        }
      >
        A step looks at a part of the list, the newest first. A shorter time finds faster.
      </Empty>
    );
  }
  return (
    <>
      {data.data.length > 0 ? (
        <Table
          label={props.label}
          columns={props.columns}
          rows={data.data}
          id={props.id}
          to={props.to}
          selection={props.selection}
        />
      ) : (
        props.empty
      )}
      <Pager nextCursor={data.nextCursor ?? null} shown={data.data.length} />
    </>
  );
}

function Pager(props: { nextCursor: string | null; shown: number }): JSX.Element | null {
  const { query } = useRoute();
  const paged = query.has('cursor');
  if (!paged && !props.nextCursor) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      {paged ? (
        <a class="button plain" href={withQuery({ cursor: undefined })}>
          First page
        </a>
      ) : (
        <span />
      )}
      <span class="muted">{props.shown} shown</span>
      {props.nextCursor ? (
        <a class="button plain" href={withQuery({ cursor: props.nextCursor })}>
          Next page
          <Icon name="chevron" />
        </a>
      ) : (
        <span class="muted">Last page</span>
      )}
    </nav>
  );
}
