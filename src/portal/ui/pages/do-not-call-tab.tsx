import {
  Badge,
  Button,
  call,
  Card,
  Empty,
  Field,
  FormDialog,
  List,
  queryOf,
  type Route,
  SearchBox,
  Time,
  toast,
  useAction,
  useData,
  words,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DoNotCall, Listed } from '../../portal-api.js';
import { useMay } from '../session-data.js';

export function DoNotCallTab({ route }: { route: Route }): JSX.Element {
  const phone = route.query.get('q');
  const list = useData<Listed<DoNotCall>>(
    `api/do-not-call${queryOf({ phone, cursor: route.query.get('cursor') })}`,
  );
  const [adding, setAdding] = useState(false);
  const sender = useMay('sender');
  const remove = useAction(async (number: string) => {
    await call('POST', 'api/do-not-call/remove', { phone: number });
    toast('The number may be called again');
    await list.reload();
  });
  const add = sender && (
    <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
      Add a number
    </Button>
  );
  return (
    <>
      <div class="filters" role="search" aria-label="Do not call">
        <SearchBox placeholder="Whole phone number" />
        {add}
      </div>
      <Card
        flush
        title="Do not call"
        description="Numbers that get no marketing calls. Search a whole number to remove it."
      >
        <List
          label="Do not call"
          list={list}
          id={(one) => one.phone + (one.category ?? '') + one.createdAt}
          columns={[
            { title: 'Number', cell: (one) => one.phone },
            {
              title: 'Reason',
              cell: ({ reason }) => <Badge tone="warning">{words(reason)}</Badge>,
            },
            { title: 'Calls', cell: ({ category }) => category ?? 'all' },
            { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              // A masked number cannot be named.
              cell: (one) =>
                sender &&
                one.category === 'marketing' &&
                !one.phone.includes('•') && (
                  <Button
                    aria-label={`Remove ${one.phone}`}
                    disabled={remove.busy}
                    onClick={() => void remove.run(one.phone)}
                  >
                    Remove
                  </Button>
                ),
            },
          ]}
          empty={<Empty icon="shield" title={phone ? 'Not on the list' : 'No numbers'} />}
        />
      </Card>
      {adding && (
        <FormDialog
          title="Do not call a number"
          submit="Add"
          onClose={() => setAdding(false)}
          action={async (form) => {
            await call('POST', 'api/do-not-call', { phone: form.get('phone') });
            toast('The number gets no marketing calls');
            await list.reload();
          }}
        >
          {(refusal) => (
            <Field
              label="Number"
              name="phone"
              inputMode="tel"
              required
              autofocus
              hint="Digits with country code, such as 2348012345678."
              error={refusal?.fields['phone']}
            />
          )}
        </FormDialog>
      )}
    </>
  );
}
