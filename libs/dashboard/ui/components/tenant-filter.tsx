import type { ComponentChildren, JSX } from 'preact';
import { useContextData } from '../app/context.js';
import { useProduct } from '../app/product.js';
import { type Route, setQuery } from '../app/router.js';
import type { Column } from './table.js';

/** The word for a tenant; `undefined` where the caller sees one alone. */
function useTenantWord(): string | undefined {
  const { tenants } = useContextData();
  const { tenant = 'Tenant' } = useProduct();
  return tenants === 'all' || tenants.length > 1 ? tenant : undefined;
}

/** The tenant of the address; `undefined` where there is no choice, empty where none is chosen. */
export function useTenant({ query }: Route): string | undefined {
  return useTenantWord() === undefined ? undefined : (query.get('tenant') ?? '');
}

/** A column of a list, where the caller sees several tenants. */
export function useTenantColumn<T extends { readonly tenant: string }>(): Column<T>[] {
  const title = useTenantWord();
  return title === undefined ? [] : [{ title, cell: ({ tenant }) => tenant || '–' }];
}

/** A row of facts, where the caller sees several tenants. */
export function useTenantFact(tenant: string): readonly [string, ComponentChildren] | undefined {
  const title = useTenantWord();
  return title === undefined ? undefined : [title, tenant || '–'];
}

export function TenantFilter({ tenant }: { tenant: string | undefined }): JSX.Element | null {
  const { tenants } = useContextData();
  const title = useTenantWord();
  if (tenant === undefined) return null;
  return (
    <>
      <input
        class="filter"
        aria-label={title}
        placeholder={title}
        list="tenants"
        value={tenant}
        onChange={(event) => setQuery({ tenant: event.currentTarget.value.trim() })}
      />
      <datalist id="tenants">
        {tenants !== 'all' && tenants.map((name) => <option key={name} value={name} />)}
      </datalist>
    </>
  );
}
