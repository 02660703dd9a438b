import {
  Badge,
  call,
  Card,
  Dialog,
  Empty,
  ErrorNotice,
  Notice,
  Select,
  Skeleton,
  Table,
  Time,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  DATA_CODINGS_0,
  DATA_CODINGS_1,
  type SmppAlphabets,
  type SmppPair,
  type SmppSettings,
} from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { Secret } from '../../components/secret.js';

const alphabetsOf = (form: FormData) => ({
  dataCoding0: form.get('dataCoding0'),
  dataCoding1: form.get('dataCoding1'),
});

/** The pairs with which the account binds over SMPP. */
export function SmppTab(): JSX.Element {
  const { data, error, loading, reload } = useData<SmppSettings>('api/smpp');
  const [pair, setPair] = useState<SmppPair>();
  if (loading) return <Skeleton />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  const add = (
    <FormButton
      kind="primary"
      icon="plus"
      label="Add a system_id"
      title="Add a system_id"
      submit="Add"
      action={async (form) => {
        setPair(await call<SmppPair>('POST', 'api/smpp', alphabetsOf(form)));
      }}
      reload={reload}
    >
      {(refusal) => (
        <>
          {refusal?.fields['account'] && <p class="field-error">{refusal.fields['account']}</p>}
          <Alphabets />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      {!data.listens && (
        <Notice title="This gateway has no SMPP server">
          Its operator starts one with SMPP_LISTEN. Pairs can be made before.
        </Notice>
      )}
      <Card
        flush
        title="system_ids"
        description="Each has a password that is good for SMPP alone. A change ends its binds within a second."
        actions={data.data.length > 0 && add}
      >
        {data.data.length === 0 ? (
          <Empty icon="tower" title="No system_id yet" action={add}>
            Programs that speak SMPP 3.4 bind with one and its password.
          </Empty>
        ) : (
          <Table
            label="system_ids"
            rows={data.data}
            id={({ systemId }) => systemId}
            columns={[
              { title: 'system_id', cell: ({ systemId }) => <code>{systemId}</code> },
              {
                title: 'Last bind',
                cell: ({ lastBoundAt }) =>
                  lastBoundAt ? <Time at={lastBoundAt} /> : <Badge tone="neutral">never</Badge>,
              },
              {
                title: 'data_coding 0, 1',
                cell: ({ dataCoding0, dataCoding1 }) => `${dataCoding0}, ${dataCoding1}`,
              },
              {
                title: 'Actions',
                actions: true,
                cell: (one) => <Actions one={one} show={setPair} reload={reload} />,
              },
            ]}
          />
        )}
      </Card>
      {pair && (
        <Dialog title={`Password of ${pair.systemId}`} onClose={() => setPair(undefined)}>
          <Secret label="password" value={pair.password} />
        </Dialog>
      )}
    </>
  );
}

function Actions(props: {
  one: SmppSettings['data'][number];
  show: (pair: SmppPair) => void;
  reload: () => Promise<void>;
}): JSX.Element {
  const { one, show, reload } = props;
  const { systemId } = one;
  const path = `api/smpp/${systemId}`;
  return (
    <>
      <FormButton
        label="Change"
        name={`Change ${systemId}`}
        title={`How texts of ${systemId} are read`}
        submit="Save"
        action={(form) => call('PATCH', path, alphabetsOf(form))}
        done={`${systemId} changed`}
        reload={reload}
      >
        <Alphabets of={one} />
      </FormButton>
      <FormButton
        label="New password"
        name={`New password of ${systemId}`}
        title={`Make a new password of ${systemId}?`}
        submit="Make it"
        danger
        action={async () => show(await call<SmppPair>('POST', `${path}/rotate`))}
        reload={reload}
      >
        <p>It is shown once. The present one stops working, and its binds end, within a second.</p>
      </FormButton>
      <ConfirmButton
        label="Remove"
        name={`Remove ${systemId}`}
        title={`Remove ${systemId}?`}
        confirm="Remove"
        action={() => call('DELETE', path)}
        done={`${systemId} removed`}
        reload={reload}
      >
        Its binds end within a second. Receipts that wait for it are dropped.
      </ConfirmButton>
    </>
  );
}

function Alphabets({ of }: { of?: SmppAlphabets }): JSX.Element {
  return (
    <>
      <Select
        label="Texts with data_coding 0 are"
        name="dataCoding0"
        value={of?.dataCoding0 ?? 'gsm7'}
        options={DATA_CODINGS_0.map((name) => [name, name])}
      />
      <Select
        label="Texts with data_coding 1 are"
        name="dataCoding1"
        value={of?.dataCoding1 ?? 'auto'}
        options={DATA_CODINGS_1.map((name) => [name, name])}
      />
    </>
  );
}
