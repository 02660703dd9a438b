import { call, Card, Empty, Field, money, fullTime, Select, Table } from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { Billing, Budget } from '../../../portal-api.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { keyName } from './statement.js';

export interface SettingsProps {
  billing: Billing;
  isAdmin: boolean;
  reload: () => Promise<unknown>;
}

export function Budgets({ billing, isAdmin, reload }: SettingsProps): JSX.Element {
  const { budgets, currency } = billing;
  return (
    <Card
      flush
      title="Budgets"
      description="A send that would exceed one is refused. Days and months are of UTC."
      actions={
        isAdmin && (
          <FormButton
            label="Set a budget"
            icon="plus"
            title="Set a budget"
            submit="Set"
            done="The budget is set"
            reload={reload}
            action={(form) =>
              call('POST', 'api/billing/budgets', {
                period: form.get('period'),
                limit: form.get('limit'),
                ...(form.get('key') && { key: form.get('key') }),
              })
            }
          >
            {(refusal) => (
              <>
                <Select
                  label="Period"
                  name="period"
                  options={[
                    ['month', 'Month'],
                    ['day', 'Day'],
                  ]}
                />
                <Field
                  label={`Limit in ${currency ?? 'the currency of the account'}`}
                  name="limit"
                  inputMode="decimal"
                  required
                  error={refusal?.fields['limit']}
                />
                <Field
                  label="Key"
                  name="key"
                  hint="The id of a key or a named token, or api_token; empty for the whole account"
                  autocomplete="off"
                  error={refusal?.fields['key']}
                />
              </>
            )}
          </FormButton>
        )
      }
    >
      {budgets.length === 0 ? (
        <Empty icon="shield" title="No budgets">
          The account may spend all that is available.
        </Empty>
      ) : (
        <Table
          label="Budgets"
          rows={budgets}
          id={({ key, period }) => `${key} ${period}`}
          columns={[
            { title: 'For', cell: ({ key }) => keyName(key ?? undefined, 'The account') },
            { title: 'Period', cell: ({ period }) => (period === 'day' ? 'Day' : 'Month') },
            { title: 'Spent', number: true, cell: ({ spent }) => money(spent) },
            { title: 'Limit', number: true, cell: ({ limit }) => money(limit) },
            { title: 'Resets', cell: ({ resetsAt }) => fullTime(resetsAt) },
            {
              title: 'Actions',
              actions: true,
              cell: (budget) =>
                isAdmin && (
                  <ConfirmButton
                    label="Remove"
                    name={`Remove the budget of ${nameOf(budget)}`}
                    title={`Remove the budget of ${nameOf(budget)}?`}
                    confirm="Remove"
                    done="The budget is removed"
                    reload={reload}
                    action={() =>
                      call('POST', 'api/billing/budgets/remove', {
                        period: budget.period,
                        ...(budget.key !== null && { key: budget.key }),
                      })
                    }
                  >
                    Its sends are then limited by the balance alone.
                  </ConfirmButton>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function nameOf({ key, period }: Budget): string {
  return `${key ?? 'the account'} for the ${period}`;
}
