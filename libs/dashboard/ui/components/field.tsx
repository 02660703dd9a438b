import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface Common {
  label: string;
  name: string;
  hint?: ComponentChildren;
  error?: string;
}

type FieldProps = Common & Omit<JSX.IntrinsicElements['input'], 'label' | 'name' | 'size'>;
type AreaProps = Common & Omit<JSX.IntrinsicElements['textarea'], 'label' | 'name'>;
type SelectProps = Common &
  Omit<JSX.IntrinsicElements['select'], 'label' | 'name'> & {
    options: readonly (readonly [value: string, title: string])[];
  };

/** Name, hint and error of a field, linked to it for screen readers. */
function Labelled(props: {
  id: string;
  common: Common;
  required?: boolean;
  children: ComponentChildren;
}): JSX.Element {
  const { id, common } = props;
  return (
    <div class="field">
      <label for={id}>{common.label}</label>
      {common.hint && (
        <p class="hint" id={`${id}-hint`}>
          {common.hint}
        </p>
      )}
      {props.children}
      {common.error && (
        <p class="field-error" id={`${id}-error`}>
          {common.error}
        </p>
      )}
    </div>
  );
}

function described(id: string, { hint, error }: Common): Record<string, string | undefined> {
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return {
    'aria-describedby': ids || undefined,
    'aria-invalid': error ? 'true' : undefined,
  };
}

export function Field({ label, name, hint, error, ...input }: FieldProps): JSX.Element {
  const id = useId();
  const common = { label, name, hint, error };
  return (
    <Labelled id={id} common={common}>
      <input {...input} {...described(id, common)} id={id} name={name} />
    </Labelled>
  );
}

export function TextArea({ label, name, hint, error, ...area }: AreaProps): JSX.Element {
  const id = useId();
  const common = { label, name, hint, error };
  return (
    <Labelled id={id} common={common}>
      <textarea rows={4} {...area} {...described(id, common)} id={id} name={name} />
    </Labelled>
  );
}

export function Select(props: SelectProps): JSX.Element {
  const { label, name, hint, error, options, ...select } = props;
  const id = useId();
  const common = { label, name, hint, error };
  return (
    <Labelled id={id} common={common}>
      <select {...select} {...described(id, common)} id={id} name={name}>
        {options.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

/** Several values to tick, such as the scopes of a key. */
export function Choices(props: {
  legend: string;
  name: string;
  hint?: string;
  error?: string;
  options: readonly (readonly [value: string, title: string, detail?: string])[];
  chosen?: readonly string[];
}): JSX.Element {
  return (
    <fieldset class="choices">
      <legend>{props.legend}</legend>
      {props.hint && <p class="hint">{props.hint}</p>}
      {props.options.map(([value, title, detail]) => (
        <label key={value}>
          <input
            type="checkbox"
            name={props.name}
            value={value}
            defaultChecked={props.chosen?.includes(value)}
          />
          <span>
            {title}
            {detail && <small class="muted">{detail}</small>}
          </span>
        </label>
      ))}
      {props.error && <p class="field-error">{props.error}</p>}
    </fieldset>
  );
}

/** A select of a filter bar: its name is for screen readers, its first option says it to others. */
export function Filter(props: {
  label: string;
  value: string;
  /** The option without a filter, such as `All statuses`. */
  all: string;
  options: readonly (readonly [value: string, title: string])[];
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <select
      class={`filter${props.value ? ' set' : ''}`}
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
    >
      <option value="">{props.all}</option>
      {props.options.map(([value, title]) => (
        <option key={value} value={value}>
          {title}
        </option>
      ))}
    </select>
  );
}
