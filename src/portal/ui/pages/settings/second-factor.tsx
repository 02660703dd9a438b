import {
  Button,
  call,
  Card,
  CodeBlock,
  Copy,
  Dialog,
  ErrorNotice,
  Facts,
  Field,
  fullTime,
  Notice,
  Skeleton,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NewSecondFactor, RecoveryCodes, SecondFactorState } from '../../../portal-api.js';
import { FormButton } from '../../components/form-button.js';
import { PlainForm } from '../../components/plain-form.js';

/** Of the authenticator app, or a recovery code. */
export function CodeField(props: { name: string; error: string | undefined }): JSX.Element {
  return (
    <Field
      {...props}
      label="Code"
      autocomplete="one-time-code"
      required
      autofocus
      hint="Six digits of your authenticator app, or a recovery code"
    />
  );
}

/** Asks for the password, shows the key, and asks for the first code. */
export function AddSecondFactor({ done }: { done: () => void }): JSX.Element {
  const [made, setMade] = useState<NewSecondFactor>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes) {
    return (
      <>
        <ShownCodes codes={codes} />
        <Button kind="primary" onClick={done}>
          I have kept them
        </Button>
      </>
    );
  }
  return made ? (
    <PlainForm
      key="confirm"
      submit="Switch it on"
      action={async (form) => {
        const body = { code: form.get('code') };
        setCodes((await call<RecoveryCodes>('POST', 'api/second-factor/confirm', body)).codes);
      }}
    >
      {(refusal) => (
        <>
          <p>
            Scan this with an authenticator app, or type its key. Then enter the code that it shows.
          </p>
          <QrCode qr={made.qr} />
          <p>
            <Copy value={made.secret} label="key" />
          </p>
          <CodeField name="code" error={refusal?.fields['code']} />
        </>
      )}
    </PlainForm>
  ) : (
    <PlainForm
      key="prepare"
      submit="Continue"
      action={async (form) => {
        const current = form.get('current');
        setMade(await call<NewSecondFactor>('POST', 'api/second-factor', { current }));
      }}
    >
      {(refusal) => (
        <Field
          label="Current password"
          name="current"
          type="password"
          autocomplete="current-password"
          required
          error={refusal?.fields['current']}
        />
      )}
    </PlainForm>
  );
}

/** The second factor of the signed-in person. */
export function SecondFactorCard(): JSX.Element {
  const { data, error, loading, reload } = useData<SecondFactorState>('api/second-factor');
  const [adding, setAdding] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>();
  const isOn = data !== undefined && data.since !== null;
  return (
    <Card
      title="Second factor"
      description="A code of an authenticator app beside your password."
      actions={
        data &&
        !isOn && (
          <Button kind="primary" onClick={() => setAdding(true)}>
            Set up
          </Button>
        )
      }
    >
      {loading && <Skeleton lines={2} />}
      <ErrorNotice error={error} retry={reload} />
      {data && !isOn && <p>Off. Your password alone signs you in.</p>}
      {data?.since && (
        <>
          <Facts
            rows={[
              ['On since', fullTime(data.since)],
              ['Recovery codes left', String(data.recoveryCodes)],
            ]}
          />
          <div class="actions">
            <FormButton
              label="New recovery codes"
              title="Make new recovery codes?"
              submit="Make new codes"
              action={async (form) => {
                const body = { code: form.get('code') };
                const path = 'api/second-factor/recovery-codes';
                setCodes((await call<RecoveryCodes>('POST', path, body)).codes);
                void reload();
              }}
            >
              {(refusal) => (
                <>
                  <p>The present ones stop working.</p>
                  <CodeField name="code" error={refusal?.fields['code']} />
                </>
              )}
            </FormButton>
            <FormButton
              label="Switch off"
              kind="danger"
              title="Switch the second factor off?"
              submit="Switch off"
              danger
              action={async (form) => {
                await call('POST', 'api/second-factor/remove', { code: form.get('code') });
                void reload();
              }}
              done="Second factor off"
            >
              {(refusal) => (
                <>
                  <p>Your password alone will sign you in.</p>
                  <CodeField name="code" error={refusal?.fields['code']} />
                </>
              )}
            </FormButton>
          </div>
        </>
      )}
      {adding && (
        <Dialog title="Set up a second factor" onClose={() => setAdding(false)}>
          <AddSecondFactor
            done={() => {
              setAdding(false);
              toast('Second factor on; your other sessions have ended');
              void reload();
            }}
          />
        </Dialog>
      )}
      {codes && (
        <Dialog title="Recovery codes" onClose={() => setCodes(undefined)}>
          <ShownCodes codes={codes} />
        </Dialog>
      )}
    </Card>
  );
}

function ShownCodes({ codes }: { codes: readonly string[] }): JSX.Element {
  return (
    <>
      <p>Each of these replaces a code once, where your phone is lost. Keep them apart from it.</p>
      <Notice tone="warning" title="Copy them now">
        They are not shown again.
      </Notice>
      <CodeBlock label="Recovery codes" code={codes.join('\n')} />
    </>
  );
}

function QrCode({ qr: { size, path } }: Pick<NewSecondFactor, 'qr'>): JSX.Element {
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="QR code of the key"
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
