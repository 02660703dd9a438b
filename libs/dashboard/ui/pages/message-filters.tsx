import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useContextData } from '../app/context.js';
import { fullTime, localTime } from '../app/format.js';
import { ALL_TIMES } from '../app/message-filter.js';
import { navigate, setQuery, useRoute } from '../app/router.js';
import { forgetView, savedViews, saveView } from '../app/saved-views.js';
import { toast } from '../app/toasts.js';
import { words } from '../components/badge.js';
import { Button } from '../components/basics.js';
import { FormDialog } from '../components/dialog.js';
import { Field, Filter } from '../components/field.js';

const PAGE = 'messages';

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

/** Views that this browser keeps; the address has the name and the whole filter of the open one. */
export function SavedViews(): JSX.Element {
  const { query } = useRoute();
  const [naming, setNaming] = useState(false);
  const views = savedViews(PAGE);
  const current = query.get('view') ?? '';
  const isKept = views.some(({ name }) => name === current);
  const isFiltered = [...query.keys()].some((name) => name !== 'view' && name !== 'cursor');
  const open = (name: string): void => {
    const view = views.find((one) => one.name === name);
    const text = new URLSearchParams(view?.query);
    if (view) text.set('view', name);
    navigate(view ? `${PAGE}?${text.toString()}` : PAGE);
  };
  return (
    <>
      {(views.length > 0 || current) && (
        <Filter
          label="Saved view"
          value={current}
          all="No view"
          options={[
            ...views.map(({ name }) => [name, name] as const),
            ...(current && !isKept ? [[current, current] as const] : []),
          ]}
          onChange={open}
        />
      )}
      {isFiltered && <Button onClick={() => setNaming(true)}>Save view</Button>}
      {isKept && (
        <Button
          onClick={() => {
            forgetView(PAGE, current);
            setQuery({ view: undefined });
            toast(`View ${words(current)} deleted`);
          }}
        >
          Delete view
        </Button>
      )}
      {naming && <NameDialog current={current} onClose={() => setNaming(false)} />}
    </>
  );
}

function NameDialog(props: { current: string; onClose: () => void }): JSX.Element {
  const { query } = useRoute();
  return (
    <FormDialog
      title="Save this view"
      submit="Save"
      onClose={props.onClose}
      action={async (form) => {
        const given = form.get('name');
        const name = typeof given === 'string' ? given.trim() : '';
        const kept = new URLSearchParams(query);
        kept.delete('view');
        kept.delete('cursor');
        const isSaved = saveView(PAGE, { name, query: kept.toString() });
        setQuery({ view: name });
        if (isSaved) toast(`View ${name} saved`);
        else toast('This browser keeps no views: copy the address instead', 'danger');
      }}
    >
      <Field
        label="Name"
        name="name"
        required
        maxLength={40}
        autofocus
        defaultValue={props.current}
        hint="This browser keeps the view. Its address has the whole filter, so a link shows it to others, too."
      />
    </FormDialog>
  );
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
