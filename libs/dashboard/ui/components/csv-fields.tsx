import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { plural } from '../app/format.js';
import { TextArea } from './field.js';

/** Characters of a file that the field draws. */
const MOST_DRAWN = 100_000;

/** Asks for CSV, as a file or pasted. */
export function CsvFields(props: {
  csv: string;
  onCsv: (csv: string) => void;
  placeholder: string;
  hint: string;
  error?: string;
}): JSX.Element {
  const { csv, onCsv } = props;
  const id = useId();
  return (
    <>
      <div class="field">
        <label for={id}>File</label>
        {csv && <p class="hint">{plural(csv.trimEnd().split('\n').length, 'line')} read</p>}
        <input
          id={id}
          type="file"
          accept=".csv,text/csv"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) void file.text().then(onCsv);
          }}
        />
      </div>
      <TextArea
        label="Or paste it"
        name="csv"
        rows={8}
        value={csv.length > MOST_DRAWN ? '' : csv}
        spellcheck={false}
        placeholder={props.placeholder}
        hint={props.hint}
        error={props.error}
        onInput={(event) => onCsv(event.currentTarget.value)}
      />
    </>
  );
}
