import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { setQuery, useRoute } from '../app/router.js';
import { Icon } from './icon.js';

/**
 * Writes a value of the address when the person presses Enter or leaves the field.
 * @param props.name of the value @default 'q'
 */
export function SearchBox(props: { placeholder: string; name?: string }): JSX.Element {
  const { placeholder, name = 'q' } = props;
  const { query } = useRoute();
  const asked = query.get(name) ?? '';
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  const search = (): void => {
    if (text.trim() !== asked) setQuery({ [name]: text.trim() });
  };
  return (
    <form
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        search();
      }}
    >
      <Icon name="search" />
      <input
        type="search"
        name={name}
        aria-label={placeholder}
        placeholder={placeholder}
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={search}
        onSearch={search}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
