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
  Select,
  Time,
  toast,
  useAction,
  useData,
  words,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Listed, Suppression } from '../../portal-api.js';
import { ApiCurl } from './api-curl.js';
import { useMay } from '../session-data.js';

export function SuppressionsTab({ route }: { route: Route }): JSX.Element {
  const email = route.query.get('q');
  const list = useData<Listed<Suppression>>(
    `api/suppressions${queryOf({ email, cursor: route.query.get('cursor') })}`,
  );
  const [adding, setAdding] = useState(false);
  const sender = useMay('sender');
  const lift = useAction(async (address: string) => {
    await call('POST', 'api/suppressions/lift', { email: address });
    toast('Suppression lifted');
    await list.reload();
  });
  const add = sender && (
    <Button icon="plus" kind="primary" onClick={() => setAdding(true)}>
      Add an address
    </Button>
  );
  return (
    <>
      <div class="filters" role="search" aria-label="Suppressions">
        <SearchBox placeholder="Whole e-mail address" />
        {add}
      </div>
      <Card
        flush
        title="Suppressions"
        description="Addresses that get no e-mail: bounced, complained, unsubscribed, or added here."
      >
        <List
          label="Suppressions"
          list={list}
          id={(one) => one.email + (one.category ?? '') + one.createdAt}
          columns={[
            { title: 'Address', cell: (one) => one.email },
            {
              title: 'Reason',
              cell: ({ reason }) => <Badge tone="warning">{words(reason)}</Badge>,
            },
            { title: 'Category', cell: ({ category }) => category ?? 'all' },
            { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              // An unsubscription is the person's own; a masked address cannot be named.
              cell: (one) =>
                sender &&
                one.reason !== 'unsubscribe' &&
                !one.email.includes('•') && (
                  <Button
                    aria-label={`Lift ${one.email}`}
                    disabled={lift.busy}
                    onClick={() => void lift.run(one.email)}
                  >
                    Lift
                  </Button>
                ),
            },
          ]}
          empty={<Empty icon="shield" title={email ? 'Not suppressed' : 'No suppressions'} />}
        />
      </Card>
      {adding && (
        <FormDialog
          title="Suppress an address"
          submit="Suppress"
          onClose={() => setAdding(false)}
          action={async (form) => {
            await call('POST', 'api/suppressions', {
              email: form.get('email'),
              ...(form.get('category') ? { category: form.get('category') } : {}),
            });
            toast('Address suppressed');
            await list.reload();
          }}
        >
          {(refusal) => (
            <>
              <Field
                label="E-mail"
                name="email"
                type="email"
                required
                autofocus
                error={refusal?.fields['email']}
              />
              <Select
                label="Category"
                name="category"
                options={[
                  ['', 'All e-mail'],
                  ['marketing', 'Marketing only'],
                  ['transactional', 'Transactional only'],
                ]}
              />
              <ApiCurl
                method="POST"
                path="email/ng/v1/suppressions"
                body={{ email: 'ada@example.com' }}
                token="API_KEY"
              />
            </>
          )}
        </FormDialog>
      )}
    </>
  );
}
