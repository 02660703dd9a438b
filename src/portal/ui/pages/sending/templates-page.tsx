import {
  Badge,
  Button,
  call,
  Card,
  Dialog,
  Empty,
  Field,
  List,
  PageHeader,
  queryOf,
  type Route,
  Select,
  templateText,
  TextArea,
  type Tone,
  useData,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import {
  type Listed,
  type Template,
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
} from '../../../portal-api.js';
import { useMay } from '../../session-data.js';
import { FormButton } from '../../components/form-button.js';

const TONES: Readonly<Record<Template['status'], Tone>> = {
  approved: 'success',
  pending: 'info',
  rejected: 'danger',
  paused: 'warning',
};

export function TemplatesPage({ route }: { route: Route }): JSX.Element {
  const admin = useMay('admin');
  const list = useData<Listed<Template>>(
    `api/templates${queryOf({ cursor: route.query.get('cursor') })}`,
  );
  const add = admin && (
    <FormButton
      kind="primary"
      icon="plus"
      label="Add a template"
      title="Add a template"
      submit="Add"
      action={(form) =>
        call<Template>('POST', 'api/templates', {
          name: form.get('name'),
          language: form.get('language'),
          category: form.get('category'),
          status: form.get('status'),
          paramsCount: Number(form.get('paramsCount')),
          body: form.get('body'),
        })
      }
      done="Template saved"
      reload={list.reload}
    >
      {(refusal) => (
        <>
          <Field
            label="Name"
            name="name"
            required
            autofocus
            hint="As the platform has it; a name that is there is changed."
            error={refusal?.fields['name']}
          />
          <div class="field-row">
            <Field
              label="Language"
              name="language"
              required
              defaultValue="en"
              error={refusal?.fields['language']}
            />
            <Field
              label="Number of values"
              name="paramsCount"
              type="number"
              min={0}
              required
              defaultValue="0"
              error={refusal?.fields['paramsCount']}
            />
          </div>
          <div class="field-row">
            <Select
              label="Category"
              name="category"
              options={TEMPLATE_CATEGORIES.map((category) => [category, category])}
            />
            <Select
              label="Status"
              name="status"
              options={TEMPLATE_STATUSES.map((status) => [status, status])}
            />
          </div>
          <TextArea
            label="Text"
            name="body"
            maxLength={1_024}
            hint="As the platform has it, with {{1}}, {{2}} in the place of values. For people alone: the platform sends its own."
            error={refusal?.fields['body']}
          />
        </>
      )}
    </FormButton>
  );
  return (
    <>
      <PageHeader
        title="Templates"
        description="WhatsApp templates as the platform has approved them; they start a conversation."
      >
        {add}
      </PageHeader>
      <Card flush>
        <List
          label="Templates"
          list={list}
          id={({ name, language }) => `${name}/${language}`}
          columns={[
            { title: 'Name', cell: (template) => <Bubble template={template} /> },
            { title: 'Language', cell: ({ language }) => language },
            { title: 'Category', cell: ({ category }) => category },
            { title: 'Status', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
            {
              title: 'Values',
              cell: ({ paramsCount, paramNames }) => paramNames?.join(', ') ?? paramsCount,
            },
          ]}
          empty={
            <Empty icon="template" title="No templates yet" action={add}>
              Add what the platform has approved, so that it can be sent.
            </Empty>
          }
        />
      </Card>
    </>
  );
}

/** The name, which opens the template as a phone shows it. */
function Bubble({ template }: { template: Template }): JSX.Element {
  const [open, setOpen] = useState(false);
  const { name, language, body, paramsCount, paramNames } = template;
  const values = Array.from({ length: paramsCount }, () => '');
  return (
    <>
      <Button kind="quiet" aria-label={`Show ${name} (${language})`} onClick={() => setOpen(true)}>
        <strong>{name}</strong>
      </Button>
      {open && (
        <Dialog title={`${name} (${language})`} onClose={() => setOpen(false)}>
          <div class="mini-phone">
            <p class="sms-bubble" dir="auto">
              {templateText(body, name, values, paramNames)}
            </p>
          </div>
          {body === null && (
            <p class="muted small">
              Its text is not known here: Meta’s list brings it, or “Add a template” under the same
              name.
            </p>
          )}
        </Dialog>
      )}
    </>
  );
}
