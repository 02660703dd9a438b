import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { timeInWords } from '../app/format.js';

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
    options: Options;
  };

/** Name, hint and error of a field, linked to it for screen readers. */
function Labelled(
  props: Omit<Common, 'name'> & {
    children: (linked: Record<string, string | undefined>) => JSX.Element;
  },
): JSX.Element {
  const { label, hint, error } = props;
  const id = useId();
  const ids = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {props.children({
        id,
        'aria-describedby': ids || undefined,
        'aria-invalid': error ? 'true' : undefined,
      })}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

export function Field({ label, hint, error, ...input }: FieldProps): JSX.Element {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(linked) =>
        input.type === 'datetime-local' ? (
          <TimeInput {...input} {...linked} />
        ) : (
          <input {...input} {...linked} />
        )
      }
    </Labelled>
  );
}

/** Browsers write a time in the order of their own country, so it stands below in words. */
function TimeInput(input: JSX.IntrinsicElements['input']): JSX.Element {
  const [typed, setTyped] = useState(input.defaultValue);
  const value = input.value ?? typed;
  return (
    <>
      <input
        {...input}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          input.onInput?.(event);
        }}
      />
      <output class="hint">{timeInWords(typeof value === 'string' ? value : '')}</output>
    </>
  );
}

export function TextArea({ label, hint, error, ...area }: AreaProps): JSX.Element {
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(linked) => <textarea rows={4} {...area} {...linked} />}
    </Labelled>
  );
}

type Options = readonly (readonly [value: string, title: string])[];

const optionsOf = (options: Options, chosen?: string): JSX.Element[] =>
  options.map(([value, title]) => (
    <option
      key={value}
      value={value}
      selected={chosen === undefined ? undefined : value === chosen}
    >
      {title}
    </option>
  ));

/** Preact leaves `defaultValue` of a select aside, and puts a `value` back at each rendering. */
export function Select(props: SelectProps): JSX.Element {
  const { label, hint, error, options, defaultValue, ...select } = props;
  const chosen = typeof defaultValue === 'string' ? defaultValue : undefined;
  return (
    <Labelled label={label} hint={hint} error={error}>
      {(linked) => (
        <select {...select} {...linked}>
          {optionsOf(options, chosen)}
        </select>
      )}
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
      <div class="choice-list">
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
      </div>
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
  options: Options;
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
      {optionsOf(props.options)}
    </select>
  );
}
