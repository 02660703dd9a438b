import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ContactItem, ListAnswer, MessageItem } from '../../src/api.js';
import { Badge, words } from '../components/badge.js';
import { Dialog } from '../components/dialog.js';
import { ApiError, call, queryOf } from './api-client.js';
import { useContextData } from './context.js';
import { type Page, type PaletteAction, useProduct } from './product.js';
import { navigate } from './router.js';

/** Milliseconds after the last key, and results of each kind. */
const WAIT = 200;
const MOST = 5;

interface Choice {
  readonly key: string;
  readonly kind: 'Page' | 'Action' | 'Message' | 'Batch' | 'Contact' | 'Search';
  readonly title: string;
  readonly to: string;
}

const ACTIONS: readonly PaletteAction[] = [
  { title: 'Failed messages of the last 24 hours', to: 'messages?status=failed&age=24h' },
  { title: 'Messages of the last hour', to: 'messages?age=1h' },
  { title: 'Draw messages over time', to: 'messages?chart=on' },
];

/** Finds pages, actions, and by a few bounded look-ups ids, numbers and contacts; the keys choose. */
export function Palette(props: { pages: readonly Page[]; onClose: () => void }): JSX.Element {
  const { pages, onClose } = props;
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { tenants } = useContextData();
  const { actions = [] } = useProduct();
  // Contacts are those of one tenant.
  const found = useFound(text.trim(), tenants === 'all' || tenants.length === 1);
  const list = useId();
  const box = useRef<HTMLUListElement>(null);
  const choices = [...ownChoices(pages, actions, text.trim()), ...found.choices];
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => box.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen]);
  const open = (choice: Choice | undefined): void => {
    if (!choice) return;
    onClose();
    navigate(choice.to);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(choices.length - 1, chosen + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1));
    else if (event.key === 'Enter') open(choices[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Page, action, number, id or contact"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={choices.length > 0 ? `${list}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder="Page, action, number, id or contact"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul class="palette" id={list} role="listbox" aria-label="Results" ref={box}>
        {choices.map((choice, n) => (
          <li
            key={choice.key}
            id={`${list}-${n}`}
            role="option"
            aria-selected={n === chosen}
            onPointerMove={() => setAt(n)}
            onClick={() => open(choice)}
          >
            <span>{choice.title}</span>
            <Badge>{choice.kind}</Badge>
          </li>
        ))}
      </ul>
      <p class="muted" role="status">
        {found.busy ? 'Looking…' : choices.length === 0 ? 'Nothing found.' : ''}
      </p>
    </Dialog>
  );
}

/** Pages and actions whose title has the text, and the search of messages. */
function ownChoices(
  pages: readonly Page[],
  actions: readonly PaletteAction[],
  text: string,
): Choice[] {
  const wanted = text.toLocaleLowerCase('en');
  const isPage = (to: string): boolean =>
    pages.some(({ name }) => name === /^[\w-]+/.exec(to)?.[0]);
  const all: Choice[] = [
    ...pages.map(({ name, title }) => choiceOf('Page', name, title)),
    ...[...ACTIONS, ...actions]
      .filter(({ to }) => isPage(to))
      .map(({ to, title }) => choiceOf('Action', to, title)),
  ];
  const own = all.filter(({ title }) => title.toLocaleLowerCase('en').includes(wanted));
  if (text === '') return own;
  const to = `messages${queryOf({ q: text })}`;
  return [...own, choiceOf('Search', to, `Search messages for ${text}`)];
}

/** What the server knows under the text, a moment after the last key. */
function useFound(
  text: string,
  hasContacts: boolean,
): { readonly choices: readonly Choice[]; readonly busy: boolean } {
  const [found, setFound] = useState<{ text: string; choices: readonly Choice[] }>();
  useEffect(() => {
    if (text.length < 3) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      void lookUp(text, hasContacts, controller.signal).then(
        (choices) => setFound({ text, choices }),
        (error: unknown) => {
          // Without an answer the pages and actions stay; the frame says that the server is away.
          if (!(error instanceof ApiError) && !controller.signal.aborted) throw error;
          if (!controller.signal.aborted) setFound({ text, choices: [] });
        },
      );
    }, WAIT);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, hasContacts]);
  if (text.length < 3) return { choices: [], busy: false };
  return found?.text === text ? { ...found, busy: false } : { choices: [], busy: true };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAILBOX = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const NUMBER = /^[1-9]\d{6,14}$/;
const WEEK = 604_800_000;

/** Two requests, each of a few rows. */
async function lookUp(text: string, hasContacts: boolean, signal: AbortSignal): Promise<Choice[]> {
  const read = <T,>(path: string): Promise<T> => call<T>('GET', path, undefined, { signal });
  const digits = text.replaceAll(/[\s().+-]/g, '');
  const isWhole = NUMBER.test(digits) || MAILBOX.test(text);
  const address = MAILBOX.test(text) ? text : digits;
  const inContacts = hasContacts && (isWhole || UUID.test(text));
  const [messages, contacts] = await Promise.all([
    read<ListAnswer<MessageItem>>(`api/messages${queryOf(searchOf(text, digits, isWhole))}`),
    inContacts
      ? read<ListAnswer<ContactItem>>(`api/contacts${queryOf({ q: isWhole ? address : text })}`)
      : { data: [] },
  ]);
  const batch = messages.data.find(({ batchId }) => batchId === text.toLowerCase())?.batchId;
  return [
    ...(batch ? [choiceOf('Batch', `batches/${batch}`, batch)] : []),
    ...messages.data.map(({ id, recipient, status }) =>
      choiceOf('Message', `messages/${id}`, `${recipient || id}, ${words(status)}`),
    ),
    ...contacts.data.map((contact) =>
      choiceOf('Contact', `contacts/${contact.id}`, contactTitle(contact)),
    ),
  ];
}

/** A part of a number is looked for in the last week, all else by an index. */
function searchOf(text: string, digits: string, isWhole: boolean) {
  if (isWhole) return { to: MAILBOX.test(text) ? text : digits, limit: MOST };
  if (!/^\d{3,15}$/.test(digits) || !/^[\d\s().+-]+$/.test(text))
    return { reference: text, limit: MOST };
  const since = new Date(Math.floor(Date.now() / 60_000) * 60_000 - WEEK).toISOString();
  return { toPart: digits, since, limit: MOST };
}

function contactTitle({ id, name, addresses }: ContactItem): string {
  return [name, addresses[0]?.value].filter(Boolean).join(', ') || id;
}

function choiceOf(kind: Choice['kind'], to: string, title: string): Choice {
  return { key: `${kind} ${to}`, kind, title, to };
}
