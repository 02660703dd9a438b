import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChannelInfo, SendRequest } from '../../src/api.js';
import type { ApiError } from '../app/api-client.js';
import { words } from '../components/badge.js';
import { Field, Select, TextArea } from '../components/field.js';
import { useProduct } from '../app/product.js';
import { useData } from '../app/use-data.js';

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
    case 'template': {
      // The body is for the eyes of the person alone.
      const { body: _body, ...sent } = fields;
      return sent['template'] ? { kind, language: 'en', params: [], ...sent } : undefined;
    }
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

/** Name, value, error and change of a text field of the content. */
const fieldOf =
  ({ content, error, onChange }: ContentProps) =>
  (name: string) => ({
    name,
    value: typeof content[name] === 'string' ? content[name] : '',
    error: error?.fields[`content.${name}`],
    onInput: (event: { currentTarget: { value: string } }) =>
      onChange({ ...content, [name]: event.currentTarget.value || undefined }),
  });

function FieldsOfKind(props: ContentProps): JSX.Element {
  const { content, onChange } = props;
  const field = fieldOf(props);
  switch (content.kind) {
    case 'text':
      return <TextArea label="Text" required {...field('text')} />;
    case 'template':
      return <TemplateFields {...props} />;
    case 'call':
      return <CallFields {...props} />;
    case 'email':
      return (
        <>
          <Field label="Subject" required {...field('subject')} />
          <TextArea label="Text" {...field('text')} />
          <TextArea label="HTML" rows={3} spellcheck={false} {...field('html')} />
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

function CallFields(props: ContentProps): JSX.Element {
  const { content, onChange } = props;
  const field = fieldOf(props);
  return (
    <>
      <TextArea label="Text to speak" {...field('text')} />
      <div class="field-row">
        <Field
          label="Or a code"
          inputMode="numeric"
          autocomplete="off"
          hint="4 to 8 digits, spoken one by one."
          {...field('code')}
        />
        <Select
          label="Category"
          name="category"
          value={field('category').value || 'transactional'}
          options={['transactional', 'marketing'].map((name) => [name, name])}
          onChange={(event) => onChange({ ...content, category: event.currentTarget.value })}
        />
      </div>
    </>
  );
}

/** A choice of the approved templates where they are listed, else their fields. */
function TemplateFields(props: ContentProps): JSX.Element {
  const { content, error, onChange } = props;
  const templates = useTemplates();
  const [params, setParams] = useState<readonly string[]>([]);
  const language = typeof content['language'] === 'string' ? content['language'] : 'en';
  const chosen = templates?.find(
    (one) => one.name === content['template'] && one.language === language,
  );
  const choose = (one: TemplateChoice | undefined): void => {
    const empty = Array.from({ length: one?.paramsCount ?? 0 }, () => '');
    setParams(empty);
    onChange({
      kind: content.kind,
      template: one?.name,
      language: one?.language,
      category: one?.category,
      params: empty,
      ...(one?.body && { body: one.body }),
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
          <Field label="Template" required {...fieldOf(props)('template')} />
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

interface TemplateChoice {
  readonly name: string;
  readonly language: string;
  readonly category: string;
  readonly status: string;
  readonly paramsCount: number;
  /** Names of the values in order. @default they have positions alone */
  readonly paramNames?: readonly string[] | null;
  /** Text with `{{1}}` or `{{name}}` in the place of values. @default not known */
  readonly body?: string | null;
}

/** Templates that may be sent, none while they load; `undefined` where the product lists none. */
function useTemplates(): readonly TemplateChoice[] | undefined {
  const { templates } = useProduct();
  const { data, loading } = useData<{ readonly data: readonly TemplateChoice[] }>(templates);
  return loading ? [] : data?.data.filter(({ status }) => status === 'approved');
}
