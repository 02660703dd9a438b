import {
  Badge,
  call,
  Card,
  Dialog,
  Empty,
  ErrorNotice,
  Field,
  List,
  Select,
  Table,
  Time,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type InvitationLink, type Member, type Members, ROLES } from '../../../portal-api.js';
import { useSession } from '../../session-data.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';

const MAY = {
  admin: 'admin: everything, with settings, keys and members',
  sender: 'sender: sends, and changes groups and contacts',
  viewer: 'viewer: reads, with numbers and texts masked',
} as const;

export function MembersTab(): JSX.Element {
  const list = useData<Members>('api/members');
  const { data, reload } = list;
  const { session } = useSession();
  const [link, setLink] = useState<string>();
  const changeRole = useAction(async (userId: string, role: string) => {
    await call('PATCH', `api/members/${userId}`, { role });
    toast('Role changed');
    await reload();
  });
  return (
    <>
      <Card
        flush
        title="Members"
        actions={
          <FormButton
            icon="plus"
            kind="primary"
            label="Invite"
            title="Invite a member"
            submit="Make the link"
            action={async (form) => {
              const made = await call<InvitationLink>('POST', 'api/members', {
                role: form.get('role'),
                ...(form.get('email') ? { email: form.get('email') } : {}),
              });
              setLink(made.link);
              void reload();
            }}
          >
            {(refusal) => (
              <>
                <Select
                  label="Role"
                  name="role"
                  options={ROLES.map((role) => [role, MAY[role]] as const).toReversed()}
                  error={refusal?.fields['role']}
                />
                <Field
                  label="E-mail"
                  name="email"
                  type="email"
                  hint="With it, only this address can use the link."
                  error={refusal?.fields['email']}
                />
              </>
            )}
          </FormButton>
        }
      >
        <ErrorNotice error={changeRole.error} />
        <List
          label="Members"
          list={list}
          empty={
            <Empty icon="users" title="No members yet">
              Invite the people who work with this account.
            </Empty>
          }
          id={({ userId }) => userId}
          columns={[
            {
              title: 'E-mail',
              cell: ({ email, isSelf }) => (
                <>
                  {email} {isSelf && <Badge tone="info">you</Badge>}
                </>
              ),
            },
            {
              title: 'Role',
              cell: (member) => (
                <RoleChoice
                  member={member}
                  change={(role) => void changeRole.run(member.userId, role)}
                />
              ),
            },
            {
              title: 'Second factor',
              cell: ({ userId, email, hasSecondFactor }) =>
                hasSecondFactor && session.user?.isOperator ? (
                  <ConfirmButton
                    label="Reset"
                    name={`Reset the second factor of ${email}`}
                    title={`Reset the second factor of ${email}?`}
                    confirm="Reset"
                    action={() => call('POST', `api/users/${userId}/second-factor/reset`)}
                    done="Second factor reset"
                    reload={reload}
                  >
                    The password alone signs the person in; all sessions of the person end. Make
                    sure that it was the person who asked.
                  </ConfirmButton>
                ) : (
                  <>{hasSecondFactor ? 'on' : 'off'}</>
                ),
            },
            { title: 'Last sign-in', cell: ({ lastSignInAt }) => <Time at={lastSignInAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: ({ userId, email, isSelf }) =>
                !isSelf && (
                  <ConfirmButton
                    label="Remove"
                    name={`Remove ${email}`}
                    title={`Remove ${email}?`}
                    confirm="Remove"
                    action={() => call('DELETE', `api/members/${userId}`)}
                    done="Member removed"
                    reload={reload}
                  >
                    The person is signed out of this account at once.
                  </ConfirmButton>
                ),
            },
          ]}
        />
      </Card>
      {data && data.invitations.length > 0 && (
        <Card flush title="Open invitations">
          <Table
            label="Open invitations"
            rows={data.invitations}
            id={({ id }) => id}
            columns={[
              { title: 'For', cell: ({ email }) => email ?? 'anyone with the link' },
              { title: 'Role', cell: ({ role }) => role },
              { title: 'Works until', cell: ({ expiresAt }) => <Time at={expiresAt} exact /> },
              {
                title: 'Actions',
                actions: true,
                cell: ({ id, email }) => (
                  <ConfirmButton
                    label="Withdraw"
                    name={`Withdraw the invitation of ${email ?? 'anyone'}`}
                    title="Withdraw the invitation?"
                    confirm="Withdraw"
                    action={() => call('DELETE', `api/members/invitations/${id}`)}
                    reload={reload}
                  >
                    The link stops working at once.
                  </ConfirmButton>
                ),
              },
            ]}
          />
        </Card>
      )}
      {link && (
        <Dialog title="Invitation link" onClose={() => setLink(undefined)}>
          <p>Hand it to the person. It works once, for an hour.</p>
          <Secret label="invitation link" value={link} />
        </Dialog>
      )}
    </>
  );
}

function RoleChoice(props: { member: Member; change: (role: string) => void }): JSX.Element {
  const { member } = props;
  if (member.isSelf) return <>{member.role}</>;
  return (
    <select
      aria-label={`Role of ${member.email}`}
      value={member.role}
      onChange={(event) => props.change(event.currentTarget.value)}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {role}
        </option>
      ))}
    </select>
  );
}
