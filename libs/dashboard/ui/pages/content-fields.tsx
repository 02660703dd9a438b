import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChannelInfo, SendRequest } from '../../src/api.js';
import type { ApiError } from '../app/api-client.js';
import { type TemplateChoice, useTemplates } from '../app/templates.js';
import { words } from '../components/badge.js';
import { Field, Select, TextArea } from '../components/field.js';

/** Content as the form holds it; `json` is the text of a kind without fields of its own. */
export interface Content {
  readonly kind: string;
  readonly json?: string;
  readonly [field: string]: unknown;
}

/** As the API takes it; `undefined` while it is not complete. */
export function contentOf(content: Content): SendRequest['content'] | undefined {
  const { kind, json, ...fields } = content;
  switch (kind) {
    case 'text':
      return fields['text'] ? { kind, ...fields } : undefined;
    case 'template':
      return fields['template'] ? { kind, language: 'en', params: [], ...fields } : undefined;
    case 'call':
      return fields['text'] || fields['code'] ? { kind, ...fields } : undefined;
    case 'email':
      return fields['subject'] && (fields['text'] || fields['html'])
        ? { kind, ...fields }
        : undefined;
    default:
      try {
        return json ? { ...(JSON.parse(json) as object), kind } : undefined;
      } catch {
        return undefined;
      }
  }
}

interface ContentProps {
  channel: ChannelInfo | undefined;
  content: Content;
  error: ApiError | undefined;
  onChange: (content: Content) => void;
}

export function ContentFields(props: ContentProps): JSX.Element {
  const { channel, content, onChange } = props;
  const kinds = channel?.contentKinds ?? [];
  return (
    <>
      {kinds.length > 1 && (
        <Select
          label="Content"
          name="kind"
          value={content.kind}
          options={kinds.map((kind) => [kind, words(kind)])}
          hint={
            channel?.serviceWindow && content.kind === 'text'
              ? 'Free text needs a message of the recipient in the last 24 hours.'
              : undefined
          }
          onChange={(event) => onChange({ kind: event.currentTarget.value })}
        />
      )}
      <FieldsOfKind {...props} />
    </>
  );
}

function FieldsOfKind(props: ContentProps): JSX.Element {
  const { content, error, onChange } = props;
  const text = (name: string): string => {
    const value = content[name];
    return typeof value === 'string' ? value : '';
  };
  const set = (name: string, value: unknown): void => onChange({ ...content, [name]: value });
  switch (content.kind) {
    case 'text':
      return (
        <TextArea
          label="Text"
          name="text"
          rows={4}
          required
          value={text('text')}
          error={error?.fields['content.text']}
          onInput={(event) => set('text', event.currentTarget.value)}
        />
      );
    case 'template':
      return <TemplateFields {...props} />;
    case 'call':
      return <CallFields {...props} />;
    case 'email':
      return (
        <>
          <Field
            label="Subject"
            name="subject"
            required
            value={text('subject')}
            error={error?.fields['content.subject']}
            onInput={(event) => set('subject', event.currentTarget.value)}
          />
          <TextArea
            label="Text"
            name="text"
            rows={4}
            value={text('text')}
            error={error?.fields['content.text']}
            onInput={(event) => set('text', event.currentTarget.value)}
          />
          <TextArea
            label="HTML"
            name="html"
            rows={3}
            spellcheck={false}
            value={text('html')}
            error={error?.fields['content.html']}
            onInput={(event) => set('html', event.currentTarget.value || undefined)}
          />
        </>
      );
    default:
      return (
        <TextArea
          label={`Fields of ${words(content.kind)}, as JSON`}
          name="json"
          rows={5}
          spellcheck={false}
          required
          value={content.json ?? ''}
          onInput={(event) => onChange({ kind: content.kind, json: event.currentTarget.value })}
        />
      );
  }
}

function CallFields({ content, error, onChange }: ContentProps): JSX.Element {
  const text = (name: string): string => {
    const value = content[name];
    return typeof value === 'string' ? value : '';
  };
  const set = (name: string, value: unknown): void => onChange({ ...content, [name]: value });
  return (
    <>
      <TextArea
        label="Text to speak"
        name="text"
        rows={4}
        value={text('text')}
        error={error?.fields['content.text']}
        onInput={(event) => set('text', event.currentTarget.value || undefined)}
      />
      <div class="field-row">
        <Field
          label="Or a code"
          name="code"
          inputMode="numeric"
          autocomplete="off"
          hint="4 to 8 digits, spoken one by one."
          value={text('code')}
          error={error?.fields['content.code']}
          onInput={(event) => set('code', event.currentTarget.value || undefined)}
        />
        <Select
          label="Category"
          name="category"
          value={text('category') || 'transactional'}
          options={[
            ['transactional', 'transactional'],
            ['marketing', 'marketing'],
          ]}
          onChange={(event) => set('category', event.currentTarget.value)}
        />
      </div>
    </>
  );
}

/** A choice of the approved templates where they are listed, else their fields. */
function TemplateFields({ content, error, onChange }: ContentProps): JSX.Element {
  const templates = useTemplates();
  const [params, setParams] = useState<readonly string[]>([]);
  const name = typeof content['template'] === 'string' ? content['template'] : '';
  const language = typeof content['language'] === 'string' ? content['language'] : 'en';
  const chosen = templates?.find((one) => one.name === name && one.language === language);
  const choose = (one: TemplateChoice | undefined): void => {
    const empty = Array.from({ length: one?.paramsCount ?? 0 }, () => '');
    setParams(empty);
    onChange({
      kind: content.kind,
      template: one?.name,
      language: one?.language,
      category: one?.category,
      params: empty,
      ...(one?.paramNames && { paramNames: one.paramNames }),
    });
  };
  const setParam = (index: number, value: string): void => {
    const next = params.with(index, value);
    setParams(next);
    onChange({ ...content, params: next });
  };
  if (!templates) {
    return (
      <>
        <div class="field-row">
          <Field
            label="Template"
            name="template"
            required
            value={name}
            error={error?.fields['content.template']}
            onInput={(event) => onChange({ ...content, template: event.currentTarget.value })}
          />
          <Field
            label="Language"
            name="language"
            required
            value={language}
            onInput={(event) => onChange({ ...content, language: event.currentTarget.value })}
          />
        </div>
        <TextArea
          label="Values by position, one a line"
          name="params"
          rows={3}
          error={error?.fields['content.params']}
          onInput={(event) =>
            onChange({ ...content, params: event.currentTarget.value.split('\n').filter(Boolean) })
          }
        />
      </>
    );
  }
  return (
    <>
      <Select
        label="Template"
        name="template"
        required
        value={chosen ? `${chosen.name}/${chosen.language}` : ''}
        error={error?.fields['content.template']}
        options={[
          ['', 'Choose a template'],
          ...templates.map(
            (one) =>
              [
                `${one.name}/${one.language}`,
                `${one.name} (${one.language}, ${one.category})`,
              ] as const,
          ),
        ]}
        onChange={(event) =>
          choose(
            templates.find((one) => `${one.name}/${one.language}` === event.currentTarget.value),
          )
        }
      />
      {params.map((value, index) => (
        <Field
          key={index}
          label={`Value {{${chosen?.paramNames?.[index] ?? index + 1}}}`}
          name={`param-${index}`}
          required
          value={value}
          onInput={(event) => setParam(index, event.currentTarget.value)}
        />
      ))}
    </>
  );
}
