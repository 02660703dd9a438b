import {
  call,
  Card,
  ErrorNotice,
  Field,
  Select,
  Skeleton,
  toast,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { GUARD_ACTIONS, type GuardForm } from '../../../portal-api.js';
import { PlainForm } from '../../components/plain-form.js';

const ACTIONS = {
  deny: 'Refuse the send',
  hold: 'Hold the lane',
  alert: 'Send it, and alert',
} as const satisfies Record<(typeof GUARD_ACTIONS)[number], string>;

const LIMITS = [
  ['recipient', 'Messages to one recipient', 'Such as 10/h.'],
  ['prefix', 'Messages to one prefix', 'To numbers that differ in their last four digits only.'],
  ['range', 'Numbers of a range', 'Different ones of one hundred that follow each other.'],
] as const;

const textOf = (given: FormDataEntryValue | null): string =>
  typeof given === 'string' ? given.trim() : '';

/** Limits of the account against abuse of its credentials, for operators. */
export function GuardCard({ path }: { path: string }): JSX.Element {
  const { data, error, loading, reload } = useData<GuardForm>(`${path}/guard`);
  return (
    <Card
      title="Guard against abuse"
      description="What goes over a limit raises an alert. An empty field is no limit, and nothing is limited unless you say so. Changes count within two seconds."
    >
      {loading && <Skeleton />}
      {!loading && (error || !data) && <ErrorNotice error={error} retry={reload} />}
      {data && (
        <PlainForm
          submit="Save the limits"
          kind="plain"
          keeps
          action={async (form) => {
            await call('PATCH', `${path}/guard`, readForm(form));
            toast('Limits saved');
            await reload();
          }}
        >
          {(refusal) => (
            <>
              <Row>
                <Select
                  label="Countries"
                  name="countries"
                  defaultValue={data.countries}
                  options={[
                    ['all', 'All'],
                    ['only', 'Only these'],
                    ['except', 'All but these'],
                  ]}
                />
                <Action name="countries" of={data} />
              </Row>
              <Field
                label="Codes of countries"
                name="codes"
                defaultValue={data.codes.join(', ')}
                hint="Of ISO 3166, such as NG, GH."
                error={refusal?.fields['countries'] ?? refusal?.fields['codes']}
              />
              {LIMITS.map(([name, label, hint]) => (
                <Row key={name}>
                  <Field
                    label={label}
                    name={name}
                    defaultValue={data[name]}
                    placeholder="No limit"
                    hint={hint}
                    error={refusal?.fields[name]}
                  />
                  <Action name={name} of={data} />
                </Row>
              ))}
              <Row>
                <Field
                  label="Growth of an hour"
                  name="growthFactor"
                  inputMode="decimal"
                  defaultValue={data.growthFactor}
                  placeholder="No limit"
                  hint="Times the messages of the busiest hour of 14 days, such as 5."
                  error={refusal?.fields['growth']}
                />
                <Action name="growth" of={data} />
              </Row>
              <Field
                label="Growth counts from"
                name="growthFrom"
                inputMode="numeric"
                defaultValue={data.growthFrom}
                hint="Messages of an hour, such as 1000."
              />
            </>
          )}
        </PlainForm>
      )}
    </Card>
  );
}

function Row({ children }: { children: JSX.Element[] }): JSX.Element {
  return <div class="limit">{children}</div>;
}

const NAMES = {
  countries: 'For other countries',
  recipient: 'Over the limit of a recipient',
  prefix: 'Over the limit of a prefix',
  range: 'Over the limit of a range',
  growth: 'Over the growth',
} as const;

function Action({ name, of }: { name: keyof typeof NAMES; of: GuardForm }): JSX.Element {
  return (
    <Select
      label={NAMES[name]}
      name={`${name}Action`}
      defaultValue={of[`${name}Action`]}
      options={GUARD_ACTIONS.map((action) => [action, ACTIONS[action]] as const)}
    />
  );
}

function readForm(form: FormData): Record<keyof GuardForm, unknown> {
  const text = (name: keyof GuardForm) => textOf(form.get(name));
  return {
    countries: text('countries'),
    codes: text('codes')
      .split(/[\s,]+/)
      .filter(Boolean)
      .map((code) => code.toUpperCase()),
    countriesAction: text('countriesAction'),
    recipient: text('recipient'),
    recipientAction: text('recipientAction'),
    prefix: text('prefix'),
    prefixAction: text('prefixAction'),
    range: text('range'),
    rangeAction: text('rangeAction'),
    growthFactor: text('growthFactor'),
    growthFrom: text('growthFrom'),
    growthAction: text('growthAction'),
  };
}
