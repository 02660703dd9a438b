import { Field } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { PASSWORD_LENGTH } from '../../portal-api.js';

/** A field for a new password, which browsers offer to make. */
export function NewPasswordField(props: { label: string; error: string | undefined }): JSX.Element {
  return (
    <Field
      {...props}
      name="password"
      type="password"
      autocomplete="new-password"
      minLength={PASSWORD_LENGTH.min}
      required
      hint={`At least ${PASSWORD_LENGTH.min} characters`}
    />
  );
}
