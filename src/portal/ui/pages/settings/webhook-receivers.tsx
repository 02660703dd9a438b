import { CodeBlock, Tabs, useRoute, withQuery } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
// oxlint-disable-next-line import/default -- Vite gives the text of the file
import node from '../../../../webhooks/receivers/receiver.mjs?raw';
import python from '../../../../webhooks/receivers/receiver.py?raw';
import php from '../../../../webhooks/receivers/receiver.php?raw';
import go from '../../../../webhooks/receivers/receiver.go?raw';
import java from '../../../../webhooks/receivers/Receiver.java?raw';
import csharp from '../../../../webhooks/receivers/Receiver.cs?raw';
import curl from '../../../../webhooks/receivers/try.sh?raw';

interface Receiver {
  readonly title: string;
  readonly code: string;
  readonly start: string;
}

const RECEIVERS: Readonly<Record<string, Receiver>> = {
  node: { title: 'Node', code: node, start: 'node receiver.mjs' },
  python: { title: 'Python', code: python, start: 'python3 receiver.py' },
  php: { title: 'PHP', code: php, start: 'php -S 127.0.0.1:8787 receiver.php' },
  go: { title: 'Go', code: go, start: 'go run receiver.go' },
  java: { title: 'Java', code: java, start: 'java Receiver.java' },
  csharp: { title: 'C#', code: csharp, start: 'dotnet run Receiver.cs' },
  curl: { title: 'curl', code: curl, start: 'bash try.sh' },
};

/** Whole receivers that verify the signature, and a request to try them with. */
export function WebhookReceivers(): JSX.Element {
  const { query } = useRoute();
  const chosen = query.get('language') ?? '';
  const name = chosen in RECEIVERS ? chosen : 'node';
  const { title, code, start } = RECEIVERS[name] as Receiver;
  return (
    <>
      <Tabs
        label="Language"
        current={withQuery({ language: name })}
        tabs={Object.entries(RECEIVERS).map(([one, { title: language }]) => [
          withQuery({ language: one }),
          language,
        ])}
      />
      <p class="muted">
        {name === 'curl'
          ? 'Signs a request as the gateway does: a receiver answers 204, and 401 to the forged one. '
          : 'Answers 204 to a genuine callback and 401 to any other. '}
        Save it under the name in <code>{start}</code>, set <code>WEBHOOK_SECRET</code> to the
        signing secret, then run that command.
      </p>
      <CodeBlock label={`Verification in ${title}`} code={code} />
    </>
  );
}
