import {
  Badge,
  Button,
  call,
  Card,
  Choices,
  Dialog,
  Empty,
  Field,
  List,
  type Page,
  PageHeader,
  queryOf,
  type Route,
  Select,
  Tabs,
  Time,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type {
  AlertChannelName,
  AlertChannelRow,
  AlertRow,
  AlertRuleList,
  AlertRuleRow,
  AlertRuleUpdate,
  CreatedAlertChannel,
  Listed,
} from '../../portal-api.js';
import { useSession } from '../session-data.js';
import { ConfirmButton, FormButton } from '../components/form-button.js';
import { Secret } from '../components/secret.js';

const CHANNELS: Readonly<Record<AlertChannelName, string>> = {
  email: 'E-mail',
  webhook: 'Webhook',
  slack: 'Slack',
};

function AlertsPage({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const operates = session.account === null && (session.user?.isOperator ?? false);
  const tabs = [
    ['alerts', 'Raised'] as const,
    ['alerts?state=resolved', 'Resolved'] as const,
    ...(operates
      ? [['alerts/rules', 'Rules'] as const, ['alerts/channels', 'Channels'] as const]
      : []),
  ];
  const state = route.query.get('state') ?? undefined;
  const current = operates && route.id ? `alerts/${route.id}` : `alerts${queryOf({ state })}`;
  return (
    <>
      <PageHeader
        title="Alerts"
        description={
          operates
            ? 'What needs attention in the gateway and its accounts, by rules that are evaluated once a minute.'
            : 'What needs attention in this account. Webhooks get it as alert.raised and alert.resolved.'
        }
      />
      <Tabs label="Alerts" tabs={tabs} current={current} />
      {current === 'alerts/rules' && <RulesTab />}
      {current === 'alerts/channels' && <ChannelsTab />}
      {!current.startsWith('alerts/') && <AlertList route={route} />}
    </>
  );
}

function AlertList({ route }: { route: Route }): JSX.Element {
  const { session } = useSession();
  const state = route.query.get('state') ?? 'raised';
  const cursor = route.query.get('cursor');
  const list = useData<Listed<AlertRow>>(`api/alerts${queryOf({ state, cursor })}`);
  return (
    <Card flush>
      <List
        label="Alerts"
        list={list}
        id={({ id }) => id}
        columns={[
          {
            title: 'Alert',
            cell: ({ title, detail }) => (
              <div>
                <strong>{title}</strong>
                <br />
                <span class="muted">{detail}</span>
              </div>
            ),
          },
          {
            title: 'State',
            cell: (alert) => (
              <Badge tone={alert.state === 'raised' ? 'danger' : 'success'}>{alert.state}</Badge>
            ),
          },
          ...(session.account === null
            ? [
                {
                  title: 'Account',
                  cell: ({ accountId }: AlertRow) =>
                    accountId === null ? '–' : <code>{accountId}</code>,
                },
              ]
            : []),
          { title: 'Raised', number: true, cell: ({ raisedAt }) => <Time at={raisedAt} /> },
          ...(state === 'resolved'
            ? [
                {
                  title: 'Resolved',
                  number: true,
                  cell: ({ resolvedAt }: AlertRow) => <Time at={resolvedAt} />,
                },
              ]
            : []),
          {
            title: 'Actions',
            actions: true,
            cell: ({ url, title, subject }) => (
              <a
                class="button"
                href={pathOf(url)}
                aria-label={`Open: ${title}, ${subject}`}
                target="_self"
              >
                Open
              </a>
            ),
          },
        ]}
        empty={
          <Empty
            icon="check"
            title={state === 'raised' ? 'Nothing needs attention' : 'No alert has ended yet'}
          />
        }
      />
    </Card>
  );
}

/** The portal may be open under another name than that of the address. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function RulesTab(): JSX.Element {
  const list = useData<AlertRuleList>('api/alert-rules');
  const { data, reload } = list;
  const add = data && (
    <FormButton
      kind="primary"
      icon="plus"
      label="Add a rule"
      title="Add a rule"
      submit="Add"
      action={async (form) => {
        const accountId = textOf(form, 'accountId');
        await call('POST', 'api/alert-rules', {
          kind: form.get('kind'),
          ...(accountId && { accountId }),
        });
        toast('Rule added; change its settings in the list');
        void reload();
      }}
    >
      {(refusal) => (
        <>
          <Select
            label="Kind"
            name="kind"
            options={data.kinds.map(({ kind, title }) => [kind, title])}
            error={refusal?.fields['kind']}
          />
          <Field
            label="Account"
            name="accountId"
            hint="The id of an account, which the rule of all accounts then leaves out. Empty: all."
            error={refusal?.fields['accountId']}
          />
        </>
      )}
    </FormButton>
  );
  return (
    <Card flush title="Rules" actions={add}>
      <List
        label="Rules"
        list={list}
        id={({ id }) => id}
        columns={[
          {
            title: 'Rule',
            cell: (rule) => (
              <div>
                <strong>{rule.title}</strong>
                <br />
                <span class="muted">{rule.accountId ?? 'All accounts'}</span>
              </div>
            ),
          },
          {
            title: 'State',
            cell: ({ enabled }) => (
              <Badge tone={enabled ? 'success' : 'neutral'}>{enabled ? 'on' : 'off'}</Badge>
            ),
          },
          { title: 'Settings', cell: (rule) => <code>{settingsText(rule)}</code> },
          { title: 'Notifies', cell: (rule) => toldText(rule, data?.channels ?? []) },
          {
            title: 'Actions',
            actions: true,
            cell: (rule) => (
              <>
                <ChangeRule rule={rule} channels={data?.channels ?? []} reload={reload} />
                {rule.id !== rule.kind && (
                  <ConfirmButton
                    label="Remove"
                    name={`Remove the rule ${rule.title} of ${rule.accountId ?? 'all accounts'}`}
                    title="Remove the rule?"
                    confirm="Remove"
                    action={() => call('DELETE', `api/alert-rules/${rule.id}`)}
                    done="Rule removed"
                    reload={reload}
                  >
                    The alerts that it has raised are resolved.
                  </ConfirmButton>
                )}
              </>
            ),
          },
        ]}
        empty={<Empty icon="alert" title="No rules" />}
      />
    </Card>
  );
}

function ChangeRule(props: {
  rule: AlertRuleRow;
  channels: readonly AlertChannelRow[];
  reload: () => Promise<unknown>;
}): JSX.Element {
  const { rule, channels, reload } = props;
  return (
    <FormButton
      label="Change"
      name={`Change the rule ${rule.title} of ${rule.accountId ?? 'all accounts'}`}
      title={rule.title}
      submit="Save"
      done="Rule changed"
      reload={reload}
      action={(form) => call('PATCH', `api/alert-rules/${rule.id}`, changeOf(rule, form))}
    >
      {(refusal) => (
        <>
          <label class="check">
            <input type="checkbox" name="enabled" defaultChecked={rule.enabled} />
            The rule is on
          </label>
          {rule.settings.map(({ name, description, value }) => (
            <Field
              key={name}
              label={nameOf(name)}
              name={`settings.${name}`}
              defaultValue={value}
              hint={`${description.charAt(0).toUpperCase()}${description.slice(1)}.`}
              error={refusal?.fields[`settings.${name}`]}
            />
          ))}
          <Field
            label="Pause"
            name="pause"
            defaultValue={rule.pause}
            hint="No second notice of the same alert for so long, such as 6h."
            error={refusal?.fields['pause']}
          />
          {channels.length > 0 && (
            <Choices
              legend={`Channels (none: ${usualText(rule)})`}
              name="channels"
              options={channels.map(({ id, kind, target }) => [id, `${CHANNELS[kind]} ${target}`])}
              chosen={rule.channels ?? []}
              error={refusal?.fields['channels']}
            />
          )}
        </>
      )}
    </FormButton>
  );
}

function changeOf(rule: AlertRuleRow, form: FormData): AlertRuleUpdate {
  const channels = form.getAll('channels').map(String);
  return {
    enabled: form.get('enabled') !== null,
    settings: Object.fromEntries(
      rule.settings.map(({ name }) => [name, textOf(form, `settings.${name}`)]),
    ),
    pause: textOf(form, 'pause'),
    channels: channels.length === 0 ? null : channels,
  };
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

function nameOf(setting: string): string {
  return setting.charAt(0).toUpperCase() + setting.slice(1);
}

function settingsText({ settings, pause }: AlertRuleRow): string {
  const given = settings.filter(({ value }) => value !== '');
  return [...given.map(({ name, value }) => `${name}=${value}`), `pause=${pause}`].join(' ');
}

function usualText({ tellsAccount }: AlertRuleRow): string {
  return tellsAccount ? 'the webhooks of the account' : 'every channel';
}

function toldText(rule: AlertRuleRow, channels: readonly AlertChannelRow[]): string {
  if (rule.channels === null) return usualText(rule);
  const chosen = channels.filter(({ id }) => rule.channels?.includes(id));
  return chosen.map(({ kind, target }) => `${CHANNELS[kind]} ${target}`).join(', ') || 'none';
}

function ChannelsTab(): JSX.Element {
  const list = useData<AlertRuleList>('api/alert-rules');
  const { data, error, loading, reload } = list;
  const [secret, setSecret] = useState<string>();
  const add = (
    <FormButton
      kind="primary"
      icon="plus"
      label="Add a channel"
      title="Add a channel"
      submit="Add"
      action={async (form) => {
        const created = await call<CreatedAlertChannel>('POST', 'api/alert-channels', {
          kind: form.get('kind'),
          target: textOf(form, 'target'),
        });
        toast('Channel added');
        if (created.secret !== null) setSecret(created.secret);
        void reload();
      }}
    >
      {(refusal) => (
        <>
          <Select
            label="Kind"
            name="kind"
            options={Object.entries(CHANNELS)}
            error={refusal?.fields['kind']}
          />
          <Field
            label="Address"
            name="target"
            required
            hint="Of e-mail, or the URL of a webhook or of an incoming webhook of Slack."
            error={refusal?.fields['target'] ?? refusal?.fields['url']}
          />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      <Card
        flush
        title="Channels"
        description="Where operators are notified of alerts. Without one they stand on this page alone."
        actions={add}
      >
        <List
          label="Channels"
          list={{ ...list, data: data && { data: data.channels }, error, loading }}
          id={({ id }) => id}
          columns={[
            {
              title: 'Channel',
              cell: ({ kind, target }) => (
                <>
                  <strong>{CHANNELS[kind]}</strong>
                  <br />
                  {target}
                </>
              ),
            },
            {
              title: 'Last notice',
              cell: ({ error: code }) => (
                <Badge tone={code === null ? 'success' : 'danger'}>{code ?? 'no error'}</Badge>
              ),
            },
            { title: 'Added', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: 'Actions',
              actions: true,
              cell: ({ id, kind, target }) => (
                <>
                  <TestButton id={id} name={`${CHANNELS[kind]} ${target}`} />
                  <ConfirmButton
                    label="Remove"
                    name={`Remove ${CHANNELS[kind]} ${target}`}
                    title="Remove the channel?"
                    confirm="Remove"
                    action={() => call('DELETE', `api/alert-channels/${id}`)}
                    done="Channel removed"
                    reload={reload}
                  >
                    Notices that are due to it are not sent.
                  </ConfirmButton>
                </>
              ),
            },
          ]}
          empty={<Empty icon="mail" title="No channel yet" action={add} />}
        />
      </Card>
      {secret && (
        <Dialog title="Signing secret" onClose={() => setSecret(undefined)}>
          <Secret label="Signing secret" value={secret} />
        </Dialog>
      )}
    </>
  );
}

function TestButton({ id, name }: { id: string; name: string }): JSX.Element {
  const test = useAction(async () => {
    await call('POST', `api/alert-channels/${id}/test`, {});
    toast('The test is sent');
  });
  return (
    <Button busy={test.busy} aria-label={`Test ${name}`} onClick={() => void test.run()}>
      Test
    </Button>
  );
}

export const alerts: Page = {
  name: 'alerts',
  title: 'Alerts',
  icon: 'alert',
  view: AlertsPage,
};
