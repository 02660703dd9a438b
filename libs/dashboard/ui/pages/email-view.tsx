import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type EmailLink, GMAIL_SHOWS, linksOf, sizeText } from '../app/email-checks.js';
import { plural, valueWords } from '../app/format.js';
import { Badge } from '../components/badge.js';
import { Button, CodeBlock, Facts, Notice } from '../components/basics.js';
import { Table } from '../components/table.js';

interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly contentId?: string;
  readonly size: number;
}

/** Fields of the content of an e-mail, as far as they are shown. */
export interface Email {
  readonly from?: unknown;
  readonly to?: unknown;
  readonly cc?: unknown;
  readonly replyTo?: unknown;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly Attachment[];
  readonly category?: string;
  readonly unsubscribeUrl?: string;
}

type Part = 'preview' | 'text' | 'headers' | 'source' | 'attachments' | 'links';

/** An e-mail as its readers get it: drawn, as text, its headers, source, files and links. */
export function EmailView(props: { src: string; email: Email }): JSX.Element {
  const { email, src } = props;
  const { html, text, attachments = [] } = email;
  const [part, setPart] = useState<Part>(html === undefined ? 'text' : 'preview');
  const links = useMemo(() => linksOf(html ?? ''), [html]);
  const faults = links.filter(({ fault }) => fault !== null).length;
  const parts: (readonly [Part, string])[] = [
    ...(html === undefined ? [] : [['preview', 'Preview'] as const]),
    ['text', 'Text'],
    ['headers', 'Headers'],
    ...(html === undefined ? [] : [['source', 'Source'] as const]),
    ['attachments', `Files (${attachments.length})`],
    ['links', faults > 0 ? `Links (${plural(faults, 'fault')})` : `Links (${links.length})`],
  ];
  return (
    <div class="email-view">
      <Facts
        rows={[
          ['Subject', email.subject ?? '–'],
          ['From', valueWords(email.from)],
        ]}
      />
      <Size email={email} />
      <Toggle label="Parts of the e-mail" options={parts} chosen={part} onChoose={setPart} />
      {html !== undefined && (
        // It stays in the page: each load of the frame is an entry of the audit log.
        <div hidden={part !== 'preview'}>
          <Preview src={src} html={html} />
        </div>
      )}
      {part === 'text' &&
        (text ? (
          <p class="message-text">{text}</p>
        ) : (
          <p class="muted">
            {text === ''
              ? 'The e-mail has no text beside its HTML.'
              : 'The text is made of the HTML when the e-mail is sent.'}
          </p>
        ))}
      {part === 'headers' && <Headers email={email} />}
      {part === 'source' && <CodeBlock label="HTML of the e-mail" code={html ?? ''} />}
      {part === 'attachments' && <Attachments attachments={attachments} />}
      {part === 'links' && <Links links={links} />}
    </div>
  );
}

/** Buttons of which one is pressed. */
function Toggle<T extends string>(props: {
  label: string;
  options: readonly (readonly [T, string])[];
  chosen: T;
  onChoose: (name: T) => void;
}): JSX.Element {
  return (
    <div class="toggle" role="group" aria-label={props.label}>
      {props.options.map(([name, title]) => (
        <Button
          key={name}
          kind="quiet"
          aria-pressed={name === props.chosen}
          onClick={() => props.onChoose(name)}
        >
          {title}
        </Button>
      ))}
    </div>
  );
}

function Size({ email }: { email: Email }): JSX.Element {
  const octets = (text: string | undefined): number => new TextEncoder().encode(text ?? '').length;
  const html = octets(email.html);
  const files = (email.attachments ?? []).reduce((sum, { size }) => sum + size, 0);
  return (
    <>
      <p class="muted small">
        HTML {sizeText(html)}, text {sizeText(octets(email.text))}, files {sizeText(files)}
      </p>
      {html > GMAIL_SHOWS && (
        <Notice tone="warning" title="Gmail clips this e-mail">
          Its HTML has {sizeText(html)}: Gmail shows the first 102 KB, and a link to the rest. Links
          to unsubscribe and pictures that count opens, at its end, are cut off.
        </Notice>
      )}
    </>
  );
}

function Preview({ src, html }: { src: string; html: string }): JSX.Element {
  const [width, setWidth] = useState<'narrow' | 'broad'>('broad');
  const [light, setLight] = useState<'light' | 'dark'>('light');
  const hasOwnDark = /prefers-color-scheme/i.test(html);
  const look = light === 'light' ? '' : hasOwnDark ? ' own-dark' : ' inverted';
  return (
    <div class="email-preview">
      <div class="actions">
        <Toggle
          label="Width"
          options={[
            ['broad', 'Desktop'],
            ['narrow', 'Phone'],
          ]}
          chosen={width}
          onChoose={setWidth}
        />
        <Toggle
          label="Colours of the e-mail"
          options={[
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          chosen={light}
          onChoose={setLight}
        />
      </div>
      <div class="email-stage" tabIndex={0} role="region" aria-label="The e-mail, drawn">
        <iframe
          class={`email-frame ${width}${look}`}
          title="The e-mail as its reader sees it"
          sandbox=""
          src={src}
        />
      </div>
      <p class="muted small">
        {light === 'dark' &&
          (hasOwnDark
            ? 'Drawn in its own dark colours. '
            : 'It has no dark colours of its own: drawn as programs that invert light e-mails. ')}
        Pictures of other hosts are not loaded here.
      </p>
    </div>
  );
}

function Headers({ email }: { email: Email }): JSX.Element {
  const { to, cc, replyTo, headers = {}, unsubscribeUrl, category } = email;
  const rows: (readonly [string, ComponentChildren])[] = [
    ['From', valueWords(email.from)],
    ['To', to === undefined ? 'the recipient alone' : valueWords(to)],
    ...(cc === undefined ? [] : [['Cc', valueWords(cc)] as const]),
    ...(replyTo === undefined ? [] : [['Reply-To', valueWords(replyTo)] as const]),
    ['Subject', email.subject ?? ''],
    ...Object.entries(headers),
    ...(unsubscribeUrl === undefined
      ? []
      : [
          ['List-Unsubscribe', `<${unsubscribeUrl}>`] as const,
          ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'] as const,
        ]),
  ];
  return (
    <>
      <Facts rows={rows} />
      <p class="muted small">
        {category === 'marketing' ? 'A marketing e-mail. ' : ''}
        Message-ID, Date and the DKIM signature are added when it leaves.
      </p>
    </>
  );
}

function Attachments({ attachments }: { attachments: readonly Attachment[] }): JSX.Element {
  if (attachments.length === 0) return <p class="muted">The e-mail has no files.</p>;
  return (
    <Table
      label="Files"
      rows={attachments}
      id={({ filename, contentId }) => `${filename} ${contentId ?? ''}`}
      columns={[
        { title: 'Name', cell: ({ filename }) => filename },
        { title: 'Type', cell: ({ contentType }) => <code>{contentType}</code> },
        { title: 'Place', cell: ({ contentId }) => (contentId ? 'in the text' : 'attached') },
        { title: 'Size', number: true, cell: ({ size }) => sizeText(size) },
      ]}
    />
  );
}

function Links({ links }: { links: readonly EmailLink[] }): JSX.Element {
  if (links.length === 0) return <p class="muted">The e-mail has no links.</p>;
  return (
    <>
      <Table
        label="Links"
        rows={links.map((link, index) => ({ ...link, index }))}
        id={({ index }) => String(index)}
        columns={[
          { title: 'Text', cell: ({ text }) => text },
          { title: 'Leads to', cell: ({ href }) => <code>{href}</code> },
          {
            title: 'Form',
            cell: ({ fault }) =>
              fault === null ? <Badge tone="success">right</Badge> : <span>{fault}</span>,
          },
        ]}
      />
      <p class="muted small">The form of the addresses is checked; no host is asked.</p>
    </>
  );
}
