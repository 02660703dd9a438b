import {
  Badge,
  call,
  Card,
  Choices,
  Empty,
  Field,
  List,
  Select,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type {
  AlertChannelName,
  AlertChannelRow,
  AlertRuleList,
  AlertRuleRow,
  AlertRuleUpdate,
} from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';

export const CHANNELS: Readonly<Record<AlertChannelName, string>> = {
  email: 'E-mail',
  webhook: 'Webhook',
  slack: 'Slack',
};

export function RulesTab(): JSX.Element {
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

export function textOf(form: FormData, name: string): string {
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
