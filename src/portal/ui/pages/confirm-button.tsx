import { Button, FormDialog, type IconName } from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiCommand } from '../curl.js';
import { ApiCurl } from './api-curl.js';

/** A button whose action a dialog confirms, because it cannot be undone. */
export function ConfirmButton(props: {
  label: string;
  /** The same for screen readers, with the name of the row. */
  name?: string;
  icon?: IconName;
  title: string;
  confirm: string;
  action: () => Promise<unknown>;
  /** The request of the API that does the same. */
  curl?: ApiCommand;
  children: ComponentChildren;
}): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon={props.icon} kind="danger" aria-label={props.name} onClick={() => setOpen(true)}>
        {props.label}
      </Button>
      {open && (
        <FormDialog
          title={props.title}
          submit={props.confirm}
          danger
          action={props.action}
          onClose={() => setOpen(false)}
        >
          <p>{props.children}</p>
          {props.curl && <ApiCurl {...props.curl} />}
        </FormDialog>
      )}
    </>
  );
}
