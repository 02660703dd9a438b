import { CodeBlock } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { type ApiCommand, commandOf } from '../curl.js';

/** The request of the API that does the same, folded. */
export function ApiCurl(command: ApiCommand): JSX.Element {
  return (
    <details>
      <summary>Show the curl</summary>
      <CodeBlock label="The same by the API" code={commandOf(command)} />
    </details>
  );
}
