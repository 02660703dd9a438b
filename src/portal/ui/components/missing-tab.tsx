import { Card, Empty } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';

/** Shown in place of a tab that does not exist, or that the role may not see. */
export function MissingTab(): JSX.Element {
  return (
    <Card>
      <Empty icon="shield" title="No such tab, or not for your role">
        Ask an admin of the account, or choose another tab.
      </Empty>
    </Card>
  );
}
