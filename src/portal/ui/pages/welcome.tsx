import { Button, Card, CodeBlock, Icon, useData } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Onboarding } from '../../portal-api.js';
import { commandOf } from '../curl.js';
import { useMay, useSession } from '../session-data.js';

interface Step {
  readonly name: keyof Onboarding;
  readonly title: string;
  readonly why: string;
  readonly to: string;
  readonly action: string;
  readonly command: string;
}

function stepsOf(account: string): readonly Step[] {
  return [
    {
      name: 'sender',
      title: 'Choose a sender',
      why: 'The name, number or domain that recipients see.',
      to: 'senders',
      action: 'Open Senders',
      command: `npx dundun sender add --account ${account} --sender ACME`,
    },
    {
      name: 'message',
      title: 'Send a first message',
      why: 'The simulator takes any number; with a carrier, send one to yourself.',
      to: 'messages',
      action: 'Open Messages',
      command: commandOf({
        method: 'POST',
        path: 'ng/v1/sendsms',
        body: { from: 'ACME', to: ['2348012345678'], body: 'Hello', delivery_report: 'yes' },
      }),
    },
    {
      name: 'webhook',
      title: 'Receive reports',
      why: 'Your server gets a signed request for each change of a message, and for each answer.',
      to: 'settings/webhook',
      action: 'Add an endpoint',
      command: commandOf({
        method: 'POST',
        path: 'ng/v1/webhooks',
        body: { url: 'https://example.com/hooks' },
      }),
    },
    {
      name: 'team',
      title: 'Invite your team',
      why: 'Each person signs in with rights of their own, and a second factor.',
      to: 'settings/members',
      action: 'Open Members',
      command: `npx dundun user invite --account ${account} --role sender`,
    },
    {
      name: 'live',
      title: 'Go live',
      why: 'A message was delivered by a carrier, not by the simulator. CARRIERS_FILE connects carriers.',
      to: 'insights',
      action: 'Open Insights',
      command: commandOf({ method: 'GET', path: 'ng/v1/sms' }),
    },
  ];
}

/** The first steps of an account, until all are done or the person leaves them. */
export function Welcome(): JSX.Element | null {
  const { session } = useSession();
  const mayChange = useMay('sender');
  const account = session.account?.id ?? '';
  const key = `dundun.welcome.${account}`;
  const [left, setLeft] = useState(() => localStorage.getItem(key) !== null);
  const { data } = useData<Onboarding>(mayChange && !left ? 'api/onboarding' : undefined, true);
  if (!data || left) return null;
  const steps = stepsOf(account);
  const done = steps.filter(({ name }) => data[name]).length;
  if (done === steps.length) return null;
  const leave = (): void => {
    localStorage.setItem(key, 'left');
    setLeft(true);
  };
  const next = steps.find(({ name }) => !data[name]);
  return (
    <Card
      title="First steps"
      description={`${done} of ${steps.length} done`}
      actions={
        <Button kind="quiet" onClick={leave}>
          Do not show again
        </Button>
      }
    >
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name} class={data[step.name] ? 'done' : undefined}>
            <span class="step-mark">{data[step.name] && <Icon name="check" />}</span>
            <div>
              <p>
                <strong>{step.title}</strong>{' '}
                <span class="hidden">{data[step.name] ? 'done' : 'to do'}</span>
              </p>
              {!data[step.name] && (
                <>
                  <p class="muted">{step.why}</p>
                  <p>
                    <a href={step.to}>{step.action}</a>
                  </p>
                  <details open={step === next}>
                    <summary>Show the command for “{step.title}”</summary>
                    <CodeBlock label={`Command: ${step.title}`} code={step.command} />
                  </details>
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
