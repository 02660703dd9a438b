import {
  Badge,
  call,
  Card,
  Empty,
  ErrorNotice,
  Field,
  PageHeader,
  type Route,
  Skeleton,
  Table,
  Tabs,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Sender, SenderKind, Senders } from '../../../portal-api.js';
import { useMay } from '../../session-data.js';
import { BlockedTab, DO_NOT_CALL } from './blocked-tab.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';

export function SendersPage({ route }: { route: Route }): JSX.Element {
  const tab = route.id ?? 'own';
  return (
    <>
      <PageHeader
        title="Senders"
        description="What recipients see of the account, and whom it may not call."
      />
      <Tabs
        label="Senders"
        current={tab === 'own' ? 'senders' : `senders/${tab}`}
        tabs={[
          ['senders', 'Senders'],
          ['senders/do-not-call', 'Do not call'],
        ]}
      />
      {tab === 'do-not-call' ? <BlockedTab route={route} of={DO_NOT_CALL} /> : <OwnSenders />}
    </>
  );
}

function OwnSenders(): JSX.Element {
  const { data, error, loading, reload } = useData<Senders>('api/senders');
  return (
    <>
      {loading && <Skeleton />}
      <ErrorNotice error={error} retry={reload} />
      {data?.kinds
        .filter(({ isAskedFor }) => isAskedFor)
        .map((words) => (
          <ChannelCard
            key={words.channel}
            channel={words.channel}
            words={words}
            senders={data.data.filter(({ channel }) => channel === words.channel)}
            approval={data.approval}
            reload={reload}
          />
        ))}
      {data?.kinds
        .filter(({ isAskedFor }) => !isAskedFor)
        .map(({ channel, many, empty }) => (
          <Card key={channel} title={many}>
            {(data.ofChannels[channel] ?? []).length > 0 ? (
              <ul class="rows">
                {data.ofChannels[channel]?.map((sender) => (
                  <li key={sender}>
                    <code>{sender}</code>
                  </li>
                ))}
              </ul>
            ) : (
              <p class="muted">{empty}</p>
            )}
          </Card>
        ))}
    </>
  );
}

function ChannelCard(props: {
  channel: string;
  words: SenderKind;
  senders: readonly Sender[];
  approval: Senders['approval'];
  reload: () => Promise<void>;
}): JSX.Element {
  const { channel, words, senders } = props;
  const admin = useMay('admin');
  const add = admin && (
    <FormButton
      kind="primary"
      icon="plus"
      label={`Add a ${words.one}`}
      title={`Add a ${words.one}`}
      submit="Add"
      action={async (form) => {
        const sender = await call<Sender>('POST', 'api/senders', {
          channel,
          sender: form.get('sender'),
        });
        toast(
          sender.state === 'approved'
            ? `${sender.sender} can be used`
            : `${sender.sender} waits for an operator`,
        );
      }}
      reload={props.reload}
    >
      {(refusal) => (
        <Field
          label={words.one.replace(/^./, (first) => first.toUpperCase())}
          name="sender"
          required
          autofocus
          hint={`${words.hint}${
            props.approval === 'operator' ? '. An operator approves it before its first use' : ''
          }.`}
          error={refusal?.fields['sender'] ?? refusal?.fields['caller']}
        />
      )}
    </FormButton>
  );
  return (
    <Card flush title={words.many} actions={senders.length > 0 && add}>
      {senders.length === 0 ? (
        <Empty icon={words.icon} title={`No ${words.one} yet`} action={add}>
          {words.empty}
        </Empty>
      ) : (
        <SenderTable {...props} admin={admin} />
      )}
    </Card>
  );
}

function SenderTable(props: {
  channel: string;
  words: SenderKind;
  senders: readonly Sender[];
  admin: boolean;
  reload: () => Promise<void>;
}): JSX.Element {
  const { channel, words } = props;
  return (
    <Table
      label={words.many}
      rows={props.senders}
      id={({ sender }) => sender}
      columns={[
        { title: 'Sender', cell: ({ sender }) => <strong>{sender}</strong> },
        {
          title: 'State',
          cell: ({ state }) =>
            state === 'approved' ? (
              <Badge tone="success">approved</Badge>
            ) : (
              <Badge tone="warning">waits for an operator</Badge>
            ),
        },
        {
          title: 'Actions',
          actions: true,
          cell: ({ sender }) =>
            props.admin && (
              <ConfirmButton
                label="Remove"
                name={`Remove ${sender}`}
                title={`Remove ${sender}?`}
                confirm="Remove"
                action={() =>
                  call('DELETE', `api/senders/${channel}/${encodeURIComponent(sender)}`)
                }
                done={`${sender} removed`}
                reload={props.reload}
              >
                New sends from {sender} are refused. What is queued still leaves.
              </ConfirmButton>
            ),
        },
      ]}
    />
  );
}
