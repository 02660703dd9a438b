import type { JSX } from 'preact';
import { useContextData } from '../app/context.js';
import { type Route, setQuery } from '../app/router.js';

/** The tenant of the address; `undefined` where there is no choice, empty where none is chosen. */
export function useTenant({ query }: Route): string | undefined {
  const { tenants } = useContextData();
  return tenants !== 'all' && tenants.length <= 1 ? undefined : (query.get('tenant') ?? '');
}

export function TenantFilter({ tenant }: { tenant: string | undefined }): JSX.Element | null {
  const { tenants } = useContextData();
  if (tenant === undefined) return null;
  return (
    <>
      <input
        class="filter"
        aria-label="Tenant"
        placeholder="Tenant"
        list="tenants"
        defaultValue={tenant}
        onChange={(event) => setQuery({ tenant: event.currentTarget.value.trim() })}
      />
      <datalist id="tenants">
        {tenants !== 'all' && tenants.map((name) => <option key={name} value={name} />)}
      </datalist>
    </>
  );
}
