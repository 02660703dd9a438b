import { Card, Empty, List, queryOf, type Route, Time, useData } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { AuditEntry, Listed } from '../../portal-api.js';

export function AuditTab({ route }: { route: Route }): JSX.Element {
  const list = useData<Listed<AuditEntry>>(
    `api/audit${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  return (
    <Card
      flush
      title="Audit log"
      description="Every change and every reveal, written with the change itself; entries are never changed."
    >
      <List
        label="Audit log"
        list={list}
        id={({ id }) => id}
        columns={[
          { title: 'Action', cell: ({ title }) => <strong>{title}</strong> },
          { title: 'On', cell: ({ target }) => target && <code>{target}</code> },
          { title: 'By', cell: ({ userEmail }) => userEmail ?? 'command line' },
          { title: 'From', cell: ({ ip }) => ip ?? '' },
          { title: 'Time', number: true, cell: ({ at }) => <Time at={at} /> },
        ]}
        empty={<Empty icon="file" title="No entry yet" />}
      />
    </Card>
  );
}
