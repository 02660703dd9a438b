import {
  call,
  Card,
  ErrorNotice,
  Facts,
  Field,
  Notice,
  Skeleton,
  TextArea,
  toast,
  useData,
  money,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import type { AccountSettings } from '../../../portal-api.js';
import { useSession } from '../../session-data.js';
import { ConfirmButton, FormButton } from '../../components/form-button.js';
import { GuardCard } from './guard-card.js';
import { PlainForm } from '../../components/plain-form.js';

interface CardProps {
  settings: AccountSettings;
  reload: () => Promise<void>;
}

/** Words that opt out, the rate, orders and limits of the account. */
export function AccountTab(): JSX.Element {
  const path = useOperated();
  const { data, error, loading, reload } = useData<AccountSettings>('api/account-settings');
  if (loading) return <Skeleton />;
  if (error || !data) return <ErrorNotice error={error} retry={reload} />;
  return (
    <>
      <Words settings={data} reload={reload} />
      <Rate settings={data} reload={reload} />
      <Orders settings={data} reload={reload} />
      {path !== undefined && <GuardCard path={path} />}
    </>
  );
}

const listOf = (given: FormDataEntryValue | null): string[] =>
  textOf(given)
    .split(/[,\n]/)
    .map((word) => word.trim())
    .filter(Boolean);

const textOf = (given: FormDataEntryValue | null): string =>
  typeof given === 'string' ? given.trim() : '';

function Words({ settings, reload }: CardProps): JSX.Element {
  const { words, defaultWords } = settings;
  return (
    <Card
      title="STOP and START"
      description="A message of one of these words alone opts its sender out or in, within a second of the change. STOP opts out in every account."
    >
      <PlainForm
        submit="Save the words"
        kind="plain"
        keeps
        action={async (form) => {
          await call('PATCH', 'api/account-settings', {
            stop: listOf(form.get('stop')),
            start: listOf(form.get('start')),
            stopReply: textOf(form.get('stopReply')),
            startReply: textOf(form.get('startReply')),
          });
          toast('Words saved');
          await reload();
        }}
      >
        {(refusal) => (
          <>
            <TextArea
              label="Words that opt out"
              name="stop"
              rows={2}
              defaultValue={words.stop.join(', ')}
              hint={`Separated by commas. Empty: ${defaultWords.stop.slice(0, 6).join(', ')} and those of nine other languages.`}
              error={refusal?.fields['stop']}
            />
            <TextArea
              label="Answer to them"
              name="stopReply"
              rows={2}
              defaultValue={words.stopReply}
              hint="Sent once to the person. Empty: none."
              error={refusal?.fields['stop-reply'] ?? refusal?.fields['stopReply']}
            />
            <TextArea
              label="Words that opt in"
              name="start"
              rows={2}
              defaultValue={words.start.join(', ')}
              hint={`Empty: ${defaultWords.start.slice(0, 5).join(', ')} and those of nine other languages.`}
              error={refusal?.fields['start']}
            />
            <TextArea
              label="Answer to words that opt in"
              name="startReply"
              rows={2}
              defaultValue={words.startReply}
              error={refusal?.fields['start-reply'] ?? refusal?.fields['startReply']}
            />
          </>
        )}
      </PlainForm>
    </Card>
  );
}

/** Whether the person operates the gateway, and the path of the account for operators. */
function useOperated(): string | undefined {
  const { session } = useSession();
  return session.user?.isOperator && session.account
    ? `api/accounts/${session.account.id}`
    : undefined;
}

function Rate({ settings, reload }: CardProps): JSX.Element {
  const path = useOperated();
  const { rate, defaultRate } = settings;
  return (
    <Card
      title="Rate"
      description="How fast the messages of each channel and carrier start."
      actions={
        path !== undefined && (
          <FormButton
            label="Change the rate"
            title="Change the rate of the account"
            submit="Save"
            action={(form) => call('PATCH', `${path}/rate`, { rate: textOf(form.get('rate')) })}
            done="Rate saved; it counts within a second"
            reload={reload}
          >
            {(refusal) => (
              <Field
                label="Rate"
                name="rate"
                autofocus
                defaultValue={rate ?? ''}
                placeholder={defaultRate}
                hint={`Messages per time, such as 50/s, 600/m or 10000/h. Empty: ${defaultRate}.`}
                error={refusal?.fields['rate']}
              />
            )}
          </FormButton>
        )
      }
    >
      <Facts rows={[['Messages', rate ?? `${defaultRate}, as of the gateway`]]} />
      {path === undefined && <p class="muted small">Operators of the gateway change it.</p>}
    </Card>
  );
}

function Orders({ settings, reload }: CardProps): JSX.Element {
  const path = useOperated();
  const { orders } = settings;
  return (
    <Card
      title="Orders of airtime and data"
      actions={
        path !== undefined && (
          <>
            <FormButton
              label={orders ? 'Change the caps' : 'Allow orders'}
              title="Caps of orders"
              submit="Save"
              action={(form) =>
                call('POST', `${path}/orders`, {
                  currency: textOf(form.get('currency')),
                  daily: textOf(form.get('daily')),
                  perNumber: textOf(form.get('perNumber')),
                })
              }
              done="The account may order"
              reload={reload}
            >
              {(refusal) => (
                <>
                  <Field
                    label="Currency"
                    name="currency"
                    required
                    maxLength={3}
                    defaultValue={orders?.currency ?? 'NGN'}
                    error={refusal?.fields['currency']}
                  />
                  <Field
                    label="Of the account"
                    name="daily"
                    required
                    inputMode="decimal"
                    defaultValue={orders?.daily}
                    hint="In any 24 hours, such as 50000."
                    error={refusal?.fields['daily']}
                  />
                  <Field
                    label="Of each number"
                    name="perNumber"
                    required
                    inputMode="decimal"
                    defaultValue={orders?.perNumber}
                    error={refusal?.fields['perNumber']}
                  />
                </>
              )}
            </FormButton>
            {orders && (
              <ConfirmButton
                label="Switch off"
                title="Switch orders off?"
                confirm="Switch off"
                action={() => call('DELETE', `${path}/orders`)}
                done="Orders are off"
                reload={reload}
              >
                New orders are refused; orders under way go on.
              </ConfirmButton>
            )}
          </>
        )
      }
    >
      {orders ? (
        <Facts
          rows={[
            ['In any 24 hours', `${money(orders.daily)} ${orders.currency}`],
            ['Of each number', `${money(orders.perNumber)} ${orders.currency}`],
          ]}
        />
      ) : (
        <Notice>The account may not order. Operators of the gateway allow it.</Notice>
      )}
    </Card>
  );
}
