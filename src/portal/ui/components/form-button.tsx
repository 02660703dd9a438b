import { Button, FormDialog, type IconName, toast } from '@dundun/dashboard/ui';
import type { ComponentChildren, ComponentProps, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiCommand } from '../curl.js';
import { ApiCurl } from './api-curl.js';

interface ActionButton {
  label: string;
  /** The same for screen readers, with the name of the row. */
  name?: string;
  icon?: IconName;
  title: string;
  /** Said once the action is done. */
  done?: string;
  /** Called then. */
  reload?: () => Promise<unknown>;
}

type Form = ComponentProps<typeof FormDialog>;

/** A button that opens a form in a dialog. */
export function FormButton(
  props: ActionButton &
    Pick<Form, 'submit' | 'action' | 'danger' | 'children'> & {
      kind?: ComponentProps<typeof Button>['kind'];
    },
): JSX.Element {
  const { label, name, icon, kind, done, reload, action, ...form } = props;
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon={icon} kind={kind} aria-label={name} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {open && (
        <FormDialog
          {...form}
          action={async (values) => {
            await action(values);
            if (done) toast(done);
            await reload?.();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

/** A button whose action a dialog confirms, because it cannot be undone. */
export function ConfirmButton(
  props: ActionButton & {
    confirm: string;
    action: () => Promise<unknown>;
    /** The request of the API that does the same. */
    curl?: ApiCommand;
    children: ComponentChildren;
  },
): JSX.Element {
  const { confirm, curl, children, ...button } = props;
  return (
    <FormButton {...button} kind="danger" danger submit={confirm}>
      <p>{children}</p>
      {curl && <ApiCurl {...curl} />}
    </FormButton>
  );
}
