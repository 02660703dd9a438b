import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { navigate, setQuery, useRoute } from '../app/router.js';
import { type KeptViews, titleOf, useSavedViews } from '../app/saved-views.js';
import { toast } from '../app/toasts.js';
import { useAction } from '../app/use-data.js';
import { Button, ErrorNotice } from './basics.js';
import { FormDialog } from './dialog.js';
import { Choices, Field, Filter } from './field.js';

/** Views of a list; the address has the name and the whole filter of the open one. */
export function SavedViews({ page }: { page: string }): JSX.Element {
  const { query } = useRoute();
  const [naming, setNaming] = useState(false);
  const kept = useSavedViews(page);
  const { views, mayShare, forget } = kept;
  const current = query.get('view') ?? '';
  const opened = views.find((view) => titleOf(view) === current);
  const isFiltered = [...query.keys()].some((name) => name !== 'view' && name !== 'cursor');
  const open = (title: string): void => {
    const view = views.find((one) => titleOf(one) === title);
    const text = new URLSearchParams(view?.query);
    if (view) text.set('view', title);
    navigate(view ? `${page}?${text.toString()}` : page);
  };
  const remove = useAction(async () => {
    if (!opened) return;
    await forget(opened);
    setQuery({ view: undefined });
    toast(`View ${current} deleted`);
  });
  return (
    <>
      {(views.length > 0 || current) && (
        <Filter
          label="Saved view"
          value={current}
          all="No view"
          options={[
            ...views.map((view) => [titleOf(view), titleOf(view)] as const),
            ...(current && !opened ? [[current, current] as const] : []),
          ]}
          onChange={open}
        />
      )}
      {isFiltered && <Button onClick={() => setNaming(true)}>Save view</Button>}
      {opened && (!opened.shared || mayShare) && (
        <Button busy={remove.busy} onClick={() => void remove.run()}>
          Delete view
        </Button>
      )}
      <ErrorNotice error={remove.error} />
      {naming && (
        <NameDialog
          kept={kept}
          name={opened?.name ?? current}
          shared={opened?.shared ?? false}
          onClose={() => setNaming(false)}
        />
      )}
    </>
  );
}

function NameDialog(props: {
  kept: KeptViews;
  name: string;
  shared: boolean;
  onClose: () => void;
}): JSX.Element {
  const { query } = useRoute();
  const { isOfPerson, mayShare, save } = props.kept;
  return (
    <FormDialog
      title="Save this view"
      submit="Save"
      onClose={props.onClose}
      action={async (form) => {
        const given = form.get('name');
        const name = typeof given === 'string' ? given.trim() : '';
        const shared = form.get('shared') !== null;
        const text = new URLSearchParams(query);
        text.delete('view');
        text.delete('cursor');
        await save({ name, query: text.toString(), shared });
        setQuery({ view: titleOf({ name, query: '', shared }) });
        toast(`View ${name} saved`);
      }}
    >
      {(error) => (
        <>
          <Field
            label="Name"
            name="name"
            required
            maxLength={40}
            autofocus
            defaultValue={props.name}
            hint={`${isOfPerson ? 'It is kept for you, in every browser.' : 'This browser keeps the view.'} Its address has the whole filter, so a link shows it to others, too.`}
            error={error?.fields['name']}
          />
          {mayShare && (
            <Choices
              legend="Who sees it"
              name="shared"
              options={[['yes', 'Share it with every member of the account']]}
              chosen={props.shared ? ['yes'] : []}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
