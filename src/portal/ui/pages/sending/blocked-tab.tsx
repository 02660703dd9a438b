import {
  Badge,
  Button,
  call,
  Card,
  Empty,
  Field,
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
import type { BlockedAddress, Listed } from '../../../portal-api.js';
import { ApiCurl } from '../../components/api-curl.js';
import { FormButton } from '../../components/form-button.js';
import { useMay } from '../../session-data.js';

/** Place in the API, and words. */
export const SUPPRESSIONS = {
  path: 'api/suppressions',
  field: 'email' as const,
  title: 'Suppressions',
  description: 'Addresses that get no e-mail: bounced, complained, unsubscribed, or added here.',
  search: 'Whole e-mail address',
  columns: { address: 'Address', category: 'Category' },
  empty: { none: 'No suppressions', notFound: 'Not suppressed' },
  add: {
    button: 'Add an address',
    title: 'Suppress an address',
    submit: 'Suppress',
    done: 'Address suppressed',
  },
  input: { label: 'E-mail', name: 'email', type: 'email' },
  otherFields: (
    <>
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
  ),
  lift: { path: 'lift', label: 'Lift', done: 'Suppression lifted' },
  // An unsubscription is the person's own.
  mayLift: ({ reason }: BlockedAddress) => reason !== 'unsubscribe',
};

export const DO_NOT_CALL = {
  path: 'api/do-not-call',
  field: 'phone' as const,
  title: 'Do not call',
  description: 'Numbers that get no marketing calls. Search a whole number to remove it.',
  search: 'Whole phone number',
  columns: { address: 'Number', category: 'Calls' },
  empty: { none: 'No numbers', notFound: 'Not on the list' },
  add: {
    button: 'Add a number',
    title: 'Do not call a number',
    submit: 'Add',
    done: 'The number gets no marketing calls',
  },
  input: {
    label: 'Number',
    name: 'phone',
    inputMode: 'tel' as const,
    hint: 'Digits with country code, such as 2348012345678.',
  },
  otherFields: null,
  lift: { path: 'remove', label: 'Remove', done: 'The number may be called again' },
  mayLift: ({ category }: BlockedAddress) => category === 'marketing',
};

type BlockList = typeof SUPPRESSIONS | typeof DO_NOT_CALL;
type Entry = BlockedAddress & { readonly [field in BlockList['field']]?: string };

export function BlockedTab({ route, of }: { route: Route; of: BlockList }): JSX.Element {
  const { field, columns, add, lift } = of;
  const asked = route.query.get('q');
  const cursor = route.query.get('cursor');
  const list = useData<Listed<Entry>>(`${of.path}${queryOf({ [field]: asked, cursor })}`);
  const sender = useMay('sender');
  const lifting = useAction(async (address: string) => {
    await call('POST', `${of.path}/${lift.path}`, { [field]: address });
    toast(lift.done);
    await list.reload();
  });
  const addressOf = (one: Entry) => one[field] ?? '';
  return (
    <>
      <div class="filters" role="search" aria-label={of.title}>
        <SearchBox placeholder={of.search} />
        {sender && (
          <FormButton
            icon="plus"
            kind="primary"
            label={add.button}
            title={add.title}
            submit={add.submit}
            action={(form) => {
              const category = form.get('category');
              const entry = { [field]: form.get(field), ...(category && { category }) };
              return call('POST', of.path, entry);
            }}
            done={add.done}
            reload={list.reload}
          >
            {(refusal) => (
              <>
                <Field {...of.input} required autofocus error={refusal?.fields[field]} />
                {of.otherFields}
              </>
            )}
          </FormButton>
        )}
      </div>
      <Card flush title={of.title} description={of.description}>
        <List
          label={of.title}
          list={list}
          id={(one) => addressOf(one) + (one.category ?? '') + one.createdAt}
          columns={[
            { title: columns.address, cell: addressOf },
            {
              title: 'Reason',
              cell: ({ reason }) => <Badge tone="warning">{words(reason)}</Badge>,
            },
            { title: columns.category, cell: ({ category }) => category ?? 'all' },
            { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              // A masked address cannot be named.
              cell: (one) =>
                sender &&
                of.mayLift(one) &&
                !addressOf(one).includes('•') && (
                  <Button
                    aria-label={`${lift.label} ${addressOf(one)}`}
                    disabled={lifting.busy}
                    onClick={() => void lifting.run(addressOf(one))}
                  >
                    {lift.label}
                  </Button>
                ),
            },
          ]}
          empty={<Empty icon="shield" title={asked ? of.empty.notFound : of.empty.none} />}
        />
      </Card>
    </>
  );
}
