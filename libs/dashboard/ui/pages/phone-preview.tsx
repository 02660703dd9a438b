import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SmsTextAnswer } from '../../src/api.js';
import { ApiError, call } from '../app/api-client.js';
import { plural } from '../app/format.js';

/** Milliseconds without typing before the text is split. */
const PAUSE = 150;

/** The message as its recipient's phone shows it, and for SMS the parts that it costs. */
export function PhonePreview(props: {
  from: string;
  /** Text, or the lines of a template. */
  text: string;
  /** The channel counts parts of SMS. */
  counted: boolean;
}): JSX.Element {
  const { from, text, counted } = props;
  const split = useSplit(counted ? text : '');
  return (
    <section class="phone-preview" aria-label="As the phone shows it">
      <div class="mini-phone">
        <p class="mini-sender">{from || 'Sender'}</p>
        {text === '' ? (
          <p class="muted small">The text appears here.</p>
        ) : (
          <p class="sms-bubble" dir="auto">
            {split?.text === text ? <Parts text={text} split={split.answer} /> : text}
          </p>
        )}
      </div>
      {counted && <Count split={split?.answer} />}
    </section>
  );
}

interface Split {
  readonly text: string;
  readonly answer: SmsTextAnswer;
}

/** The split of the last text that the person paused at. */
function useSplit(text: string): Split | undefined {
  const [split, setSplit] = useState<Split>();
  useEffect(() => {
    if (text === '') {
      setSplit(undefined);
      return undefined;
    }
    const controller = new AbortController();
    const timer = setTimeout(() => {
      call<SmsTextAnswer>('POST', 'api/messages/text', { text }, { signal: controller.signal })
        .then((answer) => setSplit({ text, answer }))
        .catch((error: unknown) => {
          // The estimate below names what is wrong with the text.
          if (!controller.signal.aborted && error instanceof ApiError) setSplit(undefined);
        });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return split;
}

function Parts({ text, split }: { text: string; split: SmsTextAnswer }): JSX.Element {
  const costly = new Set(split.encoding === 'UCS-2' ? split.ucs2 : split.doubled);
  return (
    <>
      {split.ends.map((end, index) => (
        <span key={end}>
          {marked(text.slice(split.ends[index - 1] ?? 0, end), costly)}
          {index < split.ends.length - 1 && (
            <span class="part-end" aria-hidden="true">
              {index + 2}
            </span>
          )}
        </span>
      ))}
    </>
  );
}

/** The text with the characters that cost more. */
function marked(text: string, costly: ReadonlySet<string>): ComponentChildren {
  if (costly.size === 0) return text;
  const pieces: ComponentChildren[] = [];
  let plain = '';
  for (const character of text) {
    if (!costly.has(character)) {
      plain += character;
      continue;
    }
    pieces.push(plain, <mark key={pieces.length}>{character}</mark>);
    plain = '';
  }
  return [...pieces, plain];
}

function Count({ split }: { split: SmsTextAnswer | undefined }): JSX.Element | null {
  if (!split) return null;
  const { encoding, units, left, ends, ucs2, doubled } = split;
  const quoted = (characters: readonly string[]): string =>
    characters.map((one) => `“${one}”`).join(' ');
  return (
    <div class="small" role="status" aria-label="Parts">
      <p class="muted">
        {plural(ends.length, 'part')}, {encoding}, {plural(units, 'unit')}; {left} more fit
      </p>
      {encoding === 'UCS-2' && (
        <p class="warning-text">
          {quoted(ucs2)} {ucs2.length === 1 ? 'is' : 'are'} not in the alphabet of SMS: a message
          has 70 characters instead of 160.
        </p>
      )}
      {doubled.length > 0 && (
        <p class="muted">
          {quoted(doubled)} {doubled.length === 1 ? 'counts' : 'count'} twice.
        </p>
      )}
    </div>
  );
}
