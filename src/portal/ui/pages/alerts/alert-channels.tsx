import {
  Badge,
  Button,
  call,
  Card,
  Dialog,
  Empty,
  Field,
  List,
  Select,
  Time,
  toast,
  useAction,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AlertRuleList, CreatedAlertChannel } from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';
import { CHANNELS, textOf } from './alert-rules.js';

export function ChannelsTab(): JSX.Element {
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
