import { Button, type FormDialog, FormError, useAction } from '@dundun/dashboard/ui';
import type { ComponentChildren, ComponentProps, JSX } from 'preact';

/** A form on the page itself, with its error before its button. */
export function PlainForm(
  props: Pick<ComponentProps<typeof FormDialog>, 'submit' | 'action' | 'children'> & {
    kind?: ComponentProps<typeof Button>['kind'];
    /** The fields keep what was saved. */
    keeps?: boolean;
    /** Behind its button. */
    footer?: ComponentChildren;
  },
): JSX.Element {
  const { submit, children, kind = 'primary', keeps = false, footer } = props;
  const { run, busy, error } = useAction(props.action);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        void run(new FormData(form)).then((done) => done && !keeps && form.reset());
      }}
    >
      {typeof children === 'function' ? children(error) : children}
      <FormError error={error} />
      <Button type="submit" kind={kind} busy={busy}>
        {submit}
      </Button>
      {footer}
    </form>
  );
}
