import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useContextData } from '../app/context.js';
import { fullTime, localTime } from '../app/format.js';
import { ALL_TIMES } from '../app/message-filter.js';
import { setQuery, useRoute } from '../app/router.js';
import { Button } from '../components/basics.js';
import { FormDialog } from '../components/dialog.js';
import { Field } from '../components/field.js';

/** Filters that the dialog sets, and that stand as chips beside the others. */
const CHIPS = [
  ['from', 'Sender'],
  ['tag', 'Tag'],
  ['provider', 'Carrier'],
  ['error', 'Error'],
  ['country', 'Country'],
  ['since', 'Since'],
  ['until', 'Until'],
] as const;

const HINTS: Readonly<Record<string, string>> = {
  from: 'In full, such as ACME.',
  provider: 'Its name, such as twilio.',
  error: 'The code, as a message shows it.',
  country: 'Two letters, such as NG.',
};

const isTime = (name: string): boolean => name === 'since' || name === 'until';

/** Chips of the filters that are set, each with a button that removes it. */
export function FilterChips(): JSX.Element {
  const { query } = useRoute();
  return (
    <>
      {CHIPS.map(([name, title]) => {
        const value = query.get(name);
        return (
          value && (
            <Button key={name} icon="close" onClick={() => setQuery({ [name]: undefined })}>
              {title}: {isTime(name) ? fullTime(value) : value}
            </Button>
          )
        );
      })}
    </>
  );
}

/** Opens the dialog with the filters that few people need. */
export function MoreFilters(): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="filter" onClick={() => setOpen(true)}>
        Filters
      </Button>
      {open && <FilterDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function FilterDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const { query } = useRoute();
  const { operate } = useContextData();
  const chips = CHIPS.filter(([name]) => name !== 'provider' || operate || query.has(name));
  return (
    <FormDialog
      title="Filters"
      submit="Show messages"
      onClose={onClose}
      action={async (form) => {
        const values = chips.map(([name]) => [name, valueOf(name, form.get(name))] as const);
        const isTimed = values.some(([name, value]) => isTime(name) && value);
        setQuery({ ...Object.fromEntries(values), ...(isTimed && { age: undefined }) });
      }}
    >
      {chips.map(([name, title]) => {
        const value = query.get(name);
        return (
          <Field
            key={name}
            label={title}
            name={name}
            type={isTime(name) ? 'datetime-local' : 'text'}
            defaultValue={isTime(name) && value ? localTime(value) : (value ?? '')}
            hint={HINTS[name]}
          />
        );
      })}
    </FormDialog>
  );
}

function valueOf(name: string, given: FormDataEntryValue | null): string | undefined {
  const text = typeof given === 'string' ? given.trim() : '';
  if (text === '') return undefined;
  if (isTime(name)) return new Date(text).toISOString();
  return name === 'country' ? text.toUpperCase() : text;
}

/** Under a search by parts: the time that it looked at, and how to look at more. */
export function SearchFurther(): JSX.Element {
  return (
    <p class="search-further">
      The search looked at the last 7 days.{' '}
      <Button icon="search" onClick={() => setQuery({ age: ALL_TIMES })}>
        Search further
      </Button>
    </p>
  );
}
