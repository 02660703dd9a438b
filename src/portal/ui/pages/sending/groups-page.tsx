import {
  Button,
  call,
  Card,
  Copy,
  Empty,
  ErrorNotice,
  Field,
  FormDialog,
  formatNumber,
  ExportButton,
  List,
  navigate,
  PageHeader,
  plural,
  queryOf,
  type Route,
  Skeleton,
  TextArea,
  Time,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Group, GroupMember, Listed } from '../../../portal-api.js';
import { useMay } from '../../session-data.js';
import { ApiCurl } from '../../components/api-curl.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';

export function GroupsPage({ route }: { route: Route }): JSX.Element {
  return route.id ? <GroupPage id={route.id} route={route} /> : <GroupList route={route} />;
}

function GroupList({ route }: { route: Route }): JSX.Element {
  const sender = useMay('sender');
  const list = useData<Listed<Group>>(
    `api/groups${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  const add = sender && (
    <FormButton
      kind="primary"
      icon="plus"
      label="New group"
      title="New group"
      submit="Create"
      action={async (form) => {
        const { id } = await call<Group>('POST', 'api/groups', { name: form.get('name') });
        navigate(`groups/${id}`);
      }}
    >
      {(refusal) => (
        <>
          <Field label="Name" name="name" required autofocus error={refusal?.fields['name']} />
          <ApiCurl method="POST" path="ng/v1/groups" body={{ name: 'Spring customers' }} />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      <PageHeader
        title="Groups"
        description="Named lists of numbers; a group’s id can be a recipient."
      >
        {add}
      </PageHeader>
      <Card flush>
        <List
          label="Groups"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `groups/${id}`}
          columns={[
            { title: 'Name', cell: ({ name }) => name },
            { title: 'Id', cell: ({ id }) => <code>{id}</code> },
            { title: 'Members', number: true, cell: ({ size }) => formatNumber(size) },
            { title: 'Created', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty icon="tag" title="No groups yet" action={add}>
              A group lets one send reach many numbers without listing them.
            </Empty>
          }
        />
      </Card>
    </>
  );
}

function GroupPage({ id, route }: { id: string; route: Route }): JSX.Element {
  const group = useData<Group>(`api/groups/${id}`);
  const members = useData<Listed<GroupMember>>(
    `api/groups/${id}/members${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  const [adding, setAdding] = useState(false);
  const sender = useMay('sender');
  const admin = useMay('admin');
  const back = { to: 'groups', label: 'Back to the list' };
  if (!group.data) {
    return (
      <>
        <PageHeader title="Group" back={back} />
        {group.loading && <Skeleton />}
        <ErrorNotice error={group.error} retry={group.reload} />
      </>
    );
  }
  const reload = async (): Promise<void> => {
    await Promise.all([group.reload(), members.reload()]);
  };
  return (
    <>
      <PageHeader
        title={group.data.name}
        back={back}
        description={
          <>
            {plural(group.data.size, 'member')} · <Copy value={id} label="group id" />
          </>
        }
      >
        <ExportButton what="members" whole={admin && `api/groups/${id}/members.csv`} />
        {sender && (
          <>
            <ConfirmButton
              label="Delete"
              icon="trash"
              title={`Delete ${group.data.name}?`}
              confirm="Delete"
              action={async () => {
                await call('DELETE', `api/groups/${id}`);
                navigate('groups');
              }}
              done="Group deleted"
              curl={{ method: 'DELETE', path: `ng/v1/groups/${id}` }}
            >
              Its contacts stay. Sends to its id are refused.
            </ConfirmButton>
            <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
              Add members
            </Button>
          </>
        )}
      </PageHeader>
      <Card flush>
        <List
          label="Members of the group"
          list={members}
          id={(member) => member.id}
          columns={[
            { title: 'Address', cell: ({ addresses }) => addresses.join(', ') },
            { title: 'Name', cell: ({ name }) => name ?? '' },
            {
              title: 'Actions',
              actions: true,
              cell: (member) =>
                sender && (
                  <ConfirmButton
                    label="Remove"
                    name={`Remove ${member.addresses[0] ?? 'the member'}`}
                    title="Remove from the group?"
                    confirm="Remove"
                    action={() => call('DELETE', `api/groups/${id}/members/${member.id}`)}
                    reload={reload}
                  >
                    The contact itself stays.
                  </ConfirmButton>
                ),
            },
          ]}
          empty={
            <Empty icon="users" title="No members yet">
              Add numbers, or a CSV file of them.
            </Empty>
          }
        />
      </Card>
      {adding && <AddMembers id={id} done={reload} onClose={() => setAdding(false)} />}
    </>
  );
}

function AddMembers(props: {
  id: string;
  done: () => Promise<void>;
  onClose: () => void;
}): JSX.Element {
  const [text, setText] = useState('');
  const numbers = text.match(/\+?\d[\d ()-]{5,}\d/g)?.map((number) => number.replaceAll(/\D/g, ''));
  return (
    <FormDialog
      title="Add members"
      submit={numbers ? `Add ${plural(numbers.length, 'number')}` : 'Add'}
      disabled={!numbers}
      onClose={props.onClose}
      action={async () => {
        await call('POST', `api/groups/${props.id}/members`, { members: numbers });
        toast(`${plural(numbers?.length ?? 0, 'number')} added`);
        await props.done();
      }}
    >
      {(refusal) => (
        <>
          <div class="field">
            <label for="members-file">CSV file</label>
            <input
              id="members-file"
              type="file"
              accept=".csv,.txt,text/csv,text/plain"
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file) void file.text().then(setText);
              }}
            />
          </div>
          <TextArea
            label="Numbers"
            name="members"
            rows={6}
            value={text}
            spellcheck={false}
            hint="With country code, one a line; other columns of a CSV are skipped. At most 10,000."
            error={refusal && Object.values(refusal.fields)[0]}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <ApiCurl
            method="POST"
            path={`ng/v1/groups/${props.id}/members`}
            body={{ members: numbers?.slice(0, 3) ?? ['2348012345601'] }}
          />
        </>
      )}
    </FormDialog>
  );
}
