import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../app/api-client.js';
import { useAction } from '../app/use-data.js';
import { Button, ErrorNotice } from './basics.js';
import { Toasts } from './toasts.js';

/** A native modal dialog: Esc closes it, the focus stays in it and returns to where it was. */
export function Dialog(props: {
  title: string;
  wide?: boolean;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // All else takes no focus while the dialog is open.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={props.wide ? 'wide' : undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <header class="dialog-header">
        <h2 id={heading}>{props.title}</h2>
        <Button kind="quiet" icon="close" iconOnly onClick={props.onClose}>
          Close
        </Button>
      </header>
      <div class="dialog-body">{props.children}</div>
      {props.footer && <footer class="dialog-footer">{props.footer}</footer>}
      <Toasts />
    </dialog>
  );
}

/** A form in a dialog with a submit button, a cancel button, and the error between them. */
export function FormDialog(props: {
  title: string;
  wide?: boolean;
  /** Label of the submit button. */
  submit: string;
  danger?: boolean;
  disabled?: boolean;
  /** Submits the form; once it resolves, the dialog closes, unless `keepOpen`. */
  action: (values: FormData) => Promise<unknown>;
  keepOpen?: boolean;
  /** Label of the button that leaves all as it is. @default 'Cancel' */
  dismiss?: string;
  /** Stands above the buttons, where every screen shows it. */
  question?: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren | ((error: ApiError | undefined) => ComponentChildren);
}): JSX.Element {
  const form = useId();
  const action = useAction(props.action);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const done = await action.run(new FormData(event.currentTarget as HTMLFormElement));
    if (done && !props.keepOpen) props.onClose();
  };
  return (
    <Dialog
      title={props.title}
      wide={props.wide}
      onClose={props.onClose}
      footer={
        <>
          {props.question}
          <Button onClick={props.onClose}>{props.dismiss ?? 'Cancel'}</Button>
          <Button
            type="submit"
            form={form}
            kind={props.danger ? 'danger' : 'primary'}
            busy={action.busy}
            disabled={props.disabled}
          >
            {props.submit}
          </Button>
        </>
      }
    >
      <form id={form} class="form" onSubmit={(event) => void submit(event)}>
        {typeof props.children === 'function' ? props.children(action.error) : props.children}
        <FormError error={action.error} />
      </form>
    </Dialog>
  );
}

/** The refusal of a form; where its fields show all of it, the first of them takes the focus instead. */
export function FormError({ error }: { error: ApiError | undefined }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [isShown, setShown] = useState(false);
  useLayoutEffect(() => {
    const form = place.current?.closest('form');
    const texts = [...(form?.querySelectorAll('.field-error') ?? [])].map((at) => at.textContent);
    const own = Object.values(error?.fields ?? {});
    const isWhole = own.length > 0 && own.every((text) => texts.includes(text));
    setShown(error !== undefined && !isWhole);
    if (isWhole) form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  return (
    <div ref={place} hidden={!isShown}>
      {isShown && <ErrorNotice error={error} />}
    </div>
  );
}
