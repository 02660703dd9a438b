import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ContactDetail, ContactItem, ImportAnswer, ListAnswer } from '../../src/api.js';
import { ApiError, call, queryOf } from '../app/api-client.js';
import { csvPieces } from '../app/csv-pieces.js';
import { useContextData } from '../app/context.js';
import { fullTime, plural } from '../app/format.js';
import type { Route } from '../app/router.js';
import { useData } from '../app/use-data.js';
import { Badge, ChannelName, words } from '../components/badge.js';
import {
  Button,
  Card,
  Copy,
  Countdown,
  Empty,
  ErrorNotice,
  Facts,
  Notice,
  PageHeader,
  Skeleton,
  Time,
} from '../components/basics.js';
import { CsvFields } from '../components/csv-fields.js';
import { Dialog, FormDialog } from '../components/dialog.js';
import { ExportButton } from '../components/export-button.js';
import { Icon } from '../components/icon.js';
import { SearchBox } from '../components/search-box.js';
import { TenantFilter, useTenant, useTenantFact } from '../components/tenant-filter.js';
import { List, Table } from '../components/table.js';
import { Conversation } from './conversation.js';

export function ContactsPage({ route }: { route: Route }): JSX.Element {
  return route.id ? <ContactPage id={route.id} /> : <ContactList route={route} />;
}

function ContactList({ route }: { route: Route }): JSX.Element {
  const { act, reveal } = useContextData();
  const [importing, setImporting] = useState(false);
  const q = route.query.get('q');
  const tenant = useTenant(route);
  const list = useData<ListAnswer<ContactItem>>(
    tenant === ''
      ? undefined
      : `api/contacts${queryOf({ q, tenant, cursor: route.query.get('cursor') })}`,
    true,
  );
  const importButton = act && (
    <Button icon="file" onClick={() => setImporting(true)}>
      Import CSV
    </Button>
  );
  return (
    <>
      <PageHeader title="Contacts" description="People with their addresses and their consent.">
        <ExportButton
          what="contacts"
          whole={reveal && `api/contacts/export${queryOf({ tenant })}`}
        />
        {importButton}
      </PageHeader>
      <div class="filters" role="search" aria-label="Contacts">
        <SearchBox placeholder="Whole number, address or contact id" />
        <TenantFilter tenant={tenant} />
      </div>
      <Card flush>
        {tenant === '' && (
          <Empty icon="users" title="Name a tenant">
            Contacts belong to one tenant each.
          </Empty>
        )}
        <List
          label="Contacts"
          list={list}
          id={({ id }) => id}
          to={({ id }) => `contacts/${id}`}
          columns={[
            {
              title: 'Address',
              cell: ({ addresses, id }) => addresses.map(({ value }) => value).join(', ') || id,
            },
            { title: 'Name', cell: ({ name }) => name ?? <span class="muted">–</span> },
            { title: 'Consent', cell: (contact) => <Consents contact={contact} /> },
            { title: 'Groups', number: true, cell: ({ groups }) => groups.length },
            { title: 'Since', number: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            q ? (
              <Empty
                icon="search"
                title="No contact has this address"
                action={
                  <a class="button plain" href="contacts">
                    Show all
                  </a>
                }
              >
                Addresses are searched in full.
              </Empty>
            ) : (
              <Empty icon="users" title="No contacts yet" action={importButton}>
                A contact is made by an import, by the API, or when a customer writes first.
              </Empty>
            )
          }
        />
      </Card>
      {importing && (
        <ImportDialog
          tenant={tenant}
          onClose={() => setImporting(false)}
          done={() => void list.reload()}
        />
      )}
    </>
  );
}

function Consents({ contact }: { contact: ContactItem }): JSX.Element {
  const entries = Object.entries(contact.consents);
  if (entries.length === 0) return <span class="muted">none recorded</span>;
  return (
    <span class="chips">
      {entries.map(([scope, { state }]) => {
        const [channel = '', category] = scope.split(':');
        return (
          <Badge key={scope} tone={state === 'opted_in' ? 'success' : 'danger'}>
            <ChannelName channel={channel} /> {category && `${category} `}
            {state === 'opted_in' ? 'in' : 'out'}
          </Badge>
        );
      })}
    </span>
  );
}

/** @throws ApiError that says how much of the file was imported before */
async function importCsv(csv: string, tenant: string | undefined): Promise<ImportAnswer> {
  let imported = 0;
  const errors: ImportAnswer['errors'][number][] = [];
  for (const piece of csvPieces(csv)) {
    try {
      const request = { csv: piece.csv, tenant };
      const answer = await call<ImportAnswer>('POST', 'api/contacts/import', request);
      imported += answer.imported;
      errors.push(...answer.errors.map((error) => ({ ...error, line: error.line + piece.lines })));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { status, code, fields } = error;
      const reason = status === 413 ? TOO_LARGE : error.message;
      const before =
        imported > 0
          ? ` ${plural(imported, 'contact')} were imported before; import the file again to go on.`
          : '';
      throw new ApiError(status, code, reason + before, fields);
    }
  }
  return { imported, errors: errors.slice(0, MOST_ERRORS) };
}

const TOO_LARGE =
  'The server refuses a request of this size. Shorten long rows, or raise its limit for request bodies.';

/** Skipped rows that are shown. */
const MOST_ERRORS = 100;

function ImportDialog(props: {
  tenant: string | undefined;
  done: () => void;
  onClose: () => void;
}): JSX.Element {
  const { tenant } = props;
  const [csv, setCsv] = useState('');
  const [answer, setAnswer] = useState<ImportAnswer>();
  if (answer) {
    return (
      <Dialog title="Import" onClose={props.onClose}>
        <Notice tone={answer.errors.length > 0 ? 'warning' : 'success'}>
          {plural(answer.imported, 'contact')} imported
          {answer.errors.length > 0 && `, ${plural(answer.errors.length, 'row')} skipped`}.
        </Notice>
        {answer.errors.length > 0 && (
          <Table
            label="Skipped rows"
            rows={answer.errors}
            id={({ line, path }) => `${line} ${path}`}
            columns={[
              { title: 'Line', number: true, cell: ({ line }) => line },
              { title: 'Column', cell: ({ path }) => path },
              { title: 'Why', cell: ({ message }) => message },
            ]}
          />
        )}
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Import contacts"
      submit="Import"
      keepOpen
      disabled={!csv.trim()}
      onClose={props.onClose}
      action={async () => {
        setAnswer(await importCsv(csv, tenant));
        props.done();
      }}
    >
      {(error) => (
        <CsvFields
          csv={csv}
          onCsv={setCsv}
          placeholder={'phone,name,sms\n2348012345601,Ada,opted_in'}
          hint="The first line names the columns: phone, email, name, and one per channel with opted_in or opted_out."
          error={error?.fields['csv']}
        />
      )}
    </FormDialog>
  );
}

function ContactPage({ id }: { id: string }): JSX.Element {
  const { reveal } = useContextData();
  const [revealed, setRevealed] = useState(false);
  // Each revealed read is an entry of the audit log: it is made once, not with every change.
  const { data, error, loading, reload } = useData<ContactDetail>(
    `api/contacts/${encodeURIComponent(id)}${queryOf({ reveal: revealed ? 'true' : '' })}`,
    !revealed,
  );
  const tenant = useTenantFact(data?.tenant ?? '');
  const back = { to: 'contacts', label: 'Back to the list' };
  if (!data) {
    return (
      <>
        <PageHeader title="Contact" back={back} />
        {loading && <Skeleton lines={8} />}
        <ErrorNotice error={error} retry={reload} />
      </>
    );
  }
  return (
    <>
      <PageHeader
        title={data.name ?? data.addresses[0]?.value ?? 'Contact'}
        back={back}
        description={
          data.name !== null || data.addresses.length > 1
            ? data.addresses.map(({ value }) => value).join(', ')
            : undefined
        }
      >
        {reveal && !revealed && (
          <Button icon="eye" onClick={() => setRevealed(true)}>
            Reveal
          </Button>
        )}
      </PageHeader>
      <div class="columns wide-first">
        <Card title="Conversation">
          <Conversation contact={data} revealed={revealed} />
        </Card>
        <div class="stack">
          <Windows contact={data} />
          <Card title="Consent" description="Newest first, with where it came from">
            <History contact={data} />
          </Card>
          {data.suppressions.length > 0 && (
            <Card title="Not sent to">
              <ul class="rows">
                {data.suppressions.map((one) => (
                  <li key={`${one.channel}${one.category}`}>
                    <Badge tone="danger">{words(one.reason)}</Badge>{' '}
                    <span class="grow">
                      <ChannelName channel={one.channel} />
                      {one.category !== '*' && `, ${one.category}`}
                    </span>
                    <Time at={one.at} />
                  </li>
                ))}
              </ul>
            </Card>
          )}
          <Card title="Details">
            <Facts
              rows={[
                ['Contact id', <Copy key="id" value={data.id} label="contact id" />],
                tenant,
                ['Since', fullTime(data.createdAt)],
                ['Groups', data.groups.length > 0 ? data.groups.join(', ') : 'none'],
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

function Windows({ contact }: { contact: ContactDetail }): JSX.Element | null {
  const { channels } = useContextData();
  if (!channels.some(({ serviceWindow }) => serviceWindow)) return null;
  const open = contact.windows.filter(
    ({ windowEndsAt }) => new Date(windowEndsAt).getTime() > Date.now(),
  );
  return (
    <Card title="Customer service window">
      {open.length > 0 ? (
        <ul class="rows">
          {open.map(({ sender, windowEndsAt }) => (
            <li key={sender}>
              <Badge tone="success">open</Badge>
              <span class="grow">with {sender}</span>
              <Countdown until={windowEndsAt} />
            </li>
          ))}
        </ul>
      ) : (
        <p>
          <Badge>closed</Badge> Free text needs a message of the customer in the last 24 hours; a
          template can start the conversation.
        </p>
      )}
    </Card>
  );
}

function History({ contact }: { contact: ContactDetail }): JSX.Element {
  if (contact.history.length === 0) return <p class="muted">No consent was recorded.</p>;
  return (
    <ol class="timeline small-timeline">
      {contact.history.map((entry) => (
        <li
          key={entry.at + entry.channel + entry.category}
          class={entry.state === 'opted_in' ? 'success' : 'danger'}
        >
          <span class="timeline-icon">
            <Icon name={entry.state === 'opted_in' ? 'check' : 'close'} />
          </span>
          <div>
            <p>
              <strong>
                <ChannelName channel={entry.channel} />
                {entry.category !== '*' && ` ${entry.category}`}: {words(entry.state)}
              </strong>
            </p>
            <p class="muted small">
              by {words(entry.source)} · {fullTime(entry.at)}
            </p>
            {entry.evidence && <p class="small">“{entry.evidence}”</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}
