import {
  Button,
  call,
  Card,
  CsvFields,
  ErrorNotice,
  Facts,
  Field,
  formatNumber,
  fullTime,
  navigate,
  Notice,
  PageHeader,
  Table,
  toast,
  useAction,
} from '@dundun/dashboard/ui';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ImportedRates, NewRates, RatePreview, RateVersionRow } from '../../../portal-api.js';
import { RateChangeTables } from './rate-changes.js';

interface ImportProps {
  versions: readonly RateVersionRow[];
  /** Called once a version is stored. */
  done: () => Promise<unknown>;
}

interface Previewed {
  readonly asked: NewRates;
  readonly preview: RatePreview;
}

/** A file, what it changes, and the question whether to store it. */
export function ImportRates({ versions, done }: ImportProps): JSX.Element {
  const [previewed, setPreviewed] = useState<Previewed>();
  return (
    <>
      <PageHeader
        back={{ label: 'Rates', to: 'rates' }}
        title="Import a version"
        description="The file is all prices of the card from a time on. Nothing is stored before you confirm what it changes."
      />
      {/* Hidden, so that the way back has the form as it was. */}
      <div hidden={previewed !== undefined}>
        <FileForm versions={versions} done={setPreviewed} />
      </div>
      {previewed && (
        <Confirm previewed={previewed} back={() => setPreviewed(undefined)} done={done} />
      )}
    </>
  );
}

function FileForm(props: {
  versions: readonly RateVersionRow[];
  done: (previewed: Previewed) => void;
}): JSX.Element {
  const [csv, setCsv] = useState('');
  const [card, setCard] = useState('default');
  const known = props.versions.find((version) => version.card === card)?.currency;
  const { run, busy, error } = useAction(async (form: FormData) => {
    const text = (name: string): string => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    const asked: NewRates = {
      csv,
      card,
      currency: text('currency').toUpperCase(),
      ...(text('from') && { from: text('from') }),
      ...(form.has('anyCurrency') && { anyCurrency: true }),
    };
    const preview = await call<RatePreview>('POST', 'api/rates/preview', asked);
    props.done({ asked: { ...asked, follows: preview.follows }, preview });
  });
  const lines = Object.entries(error?.fields ?? {}).filter(([path]) =>
    /^(?:line |file$)/.test(path),
  );
  return (
    <Card>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void run(new FormData(event.currentTarget));
        }}
      >
        <Field
          label="Card"
          name="card"
          required
          value={card}
          hint="A new name makes a new card"
          autocomplete="off"
          error={error?.fields['card']}
          onInput={(event) => setCard(event.currentTarget.value.trim())}
        />
        <Field
          key={known ?? ''}
          label="Currency"
          name="currency"
          required
          maxLength={3}
          defaultValue={known}
          readOnly={known !== undefined}
          hint={known ? 'The currency of the card stays' : 'Such as NGN'}
          autocomplete="off"
          error={error?.fields['currency']}
        />
        <Field
          label="Starts on"
          name="from"
          type="date"
          hint="At 00:00 UTC; empty for now"
          error={error?.fields['from']}
        />
        <CsvFields
          csv={csv}
          onCsv={setCsv}
          placeholder={'channel,prefix,category,price,billing\nsms,*,,20,\nvoice,234,,15,60/60'}
          hint="The first line names the columns: channel, prefix, category, price, and billing for calls."
          error={error?.fields['csv']}
        />
        <label class="check">
          <input type="checkbox" name="anyCurrency" />
          <span>
            Also where accounts with money in another currency use the card: their sends are refused
          </span>
        </label>
        {lines.length > 0 ? (
          <>
            <Notice tone="danger" title="The file is not right, and nothing is stored.">
              Correct these lines, and choose the file again.
            </Notice>
            <Table
              label="Wrong lines"
              rows={lines}
              id={([path]) => path}
              columns={[
                { title: 'Where', cell: ([path]) => path },
                { title: 'Why', cell: ([, message]) => message },
              ]}
            />
          </>
        ) : (
          <ErrorNotice error={error} />
        )}
        <Button type="submit" kind="primary" busy={busy} disabled={!csv.trim()}>
          Preview
        </Button>
      </form>
    </Card>
  );
}

function Confirm(props: {
  previewed: Previewed;
  back: () => void;
  done: () => Promise<unknown>;
}): JSX.Element {
  const { asked, preview } = props.previewed;
  const { card, currency, from, rates, follows, until } = preview;
  // The button that had the focus is hidden.
  useEffect(() => document.querySelector<HTMLElement>('main h1')?.focus(), []);
  const { run, busy, error } = useAction(async () => {
    await call<ImportedRates>('POST', 'api/rates', asked);
    toast(`The version of ${card} is stored`);
    navigate('rates');
    await props.done();
  });
  return (
    <>
      <Card title={`${card}, ${currency}`} description="Nothing is stored yet.">
        <Facts
          rows={[
            ['Starts', asked.from === undefined ? 'now' : fullTime(from)],
            until !== null && ['Until', `${fullTime(until)}, when a later version starts`],
            ['Rates', formatNumber(rates)],
            [
              'Compared with',
              follows === 'none' ? 'nothing: the card is new' : 'the version before',
            ],
          ]}
        />
        <ErrorNotice error={error} />
        <div class="actions">
          <Button onClick={props.back}>Back to the file</Button>
          <Button kind="primary" busy={busy} onClick={() => void run()}>
            Import this version
          </Button>
        </div>
      </Card>
      <RateChangeTables changes={preview} />
    </>
  );
}
