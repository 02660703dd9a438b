import { call, Card, Facts, money, TextArea } from '@dundun/dashboard/ui';
import type { ComponentChildren, JSX } from 'preact';
import type { BalanceNotices, Billing } from '../../../portal-api.js';
import { FormButton } from '../../components/form-button.js';
import type { SettingsProps } from './budgets.js';

export function Notices({ billing, isAdmin, reload }: SettingsProps): JSX.Element {
  const { notices, canMail, currency } = billing;
  return (
    <Card
      title="Low balance"
      description="Webhooks get account.balance_low below each amount, and account.balance_exhausted once nothing is left."
      actions={isAdmin && <NoticesButton {...{ notices, canMail, currency, reload }} />}
    >
      <Facts
        rows={[
          ['Amounts', listed(notices.thresholds.map(money))],
          ['E-mails to', canMail ? listed(notices.emails) : 'this gateway sends none'],
        ]}
      />
    </Card>
  );
}

function NoticesButton(
  props: Pick<Billing, 'notices' | 'canMail' | 'currency'> & Pick<SettingsProps, 'reload'>,
): JSX.Element {
  const { notices, canMail, currency } = props;
  return (
    <FormButton
      label="Change"
      name="Change the notices of a low balance"
      title="Low balance"
      submit="Save"
      done="The notices are changed"
      reload={props.reload}
      action={(form) => {
        const body: BalanceNotices = {
          thresholds: linesOf(form.get('thresholds')),
          emails: linesOf(form.get('emails')),
        };
        return call('PUT', 'api/billing/notices', body);
      }}
    >
      {(refusal) => (
        <>
          <TextArea
            label={`Amounts in ${currency ?? 'the currency of the account'}`}
            name="thresholds"
            rows={3}
            hint="One a line, at most ten"
            defaultValue={notices.thresholds.join('\n')}
            error={errorOf(refusal?.fields, 'thresholds')}
          />
          {canMail && (
            <TextArea
              label="E-mail addresses"
              name="emails"
              rows={3}
              hint="One a line, at most five"
              defaultValue={notices.emails.join('\n')}
              error={errorOf(refusal?.fields, 'emails')}
            />
          )}
        </>
      )}
    </FormButton>
  );
}

/** The error of a list, or of its first wrong entry. */
function errorOf(
  fields: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  const [found] = Object.entries(fields ?? {}).filter(([path]) => path.split('[')[0] === name);
  return found?.[1];
}

function linesOf(text: FormDataEntryValue | null): string[] {
  return (typeof text === 'string' ? text : '').split(/[\s,]+/).filter(Boolean);
}

function listed(texts: readonly string[]): ComponentChildren {
  return texts.length === 0 ? 'none' : texts.join(', ');
}
