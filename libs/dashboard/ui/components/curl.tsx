import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type CurlAction, useProduct } from '../app/product.js';
import { Button, CodeBlock } from './basics.js';
import { Dialog } from './dialog.js';

/** Shows the command that does the same by the API; nothing where the API cannot. */
export function CurlButton(props: { title: string; action: CurlAction }): JSX.Element | null {
  const { curl } = useProduct();
  const [open, setOpen] = useState(false);
  const command = curl?.(props.action);
  if (!command) return null;
  return (
    <>
      <Button icon="code" onClick={() => setOpen(true)}>
        curl
      </Button>
      {open && (
        <Dialog title={props.title} wide onClose={() => setOpen(false)}>
          <CodeBlock label={props.title} code={command} />
        </Dialog>
      )}
    </>
  );
}

/** The same inside a dialog, folded. */
export function CurlDetails({ action }: { action: CurlAction }): JSX.Element | null {
  const { curl } = useProduct();
  const command = curl?.(action);
  if (!command) return null;
  return (
    <details>
      <summary>Show the curl</summary>
      <CodeBlock label="The same by the API" code={command} />
    </details>
  );
}
