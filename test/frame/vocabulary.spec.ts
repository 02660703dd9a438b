import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

/** A word that the glossary has another one for, in the folders where it would mean that. */
interface Banned {
  readonly word: RegExp;
  readonly in: readonly string[];
  readonly instead: string;
  /** Lines that may have it, with the reason. */
  readonly except?: readonly RegExp[];
}

const LIBRARY = 'libs/messaging/src';

const BANNED: readonly Banned[] = [
  {
    word: /park(?:s|ed|ing|For|Until|edFor)?\b|[a-z]Park|\bPark/,
    in: [LIBRARY, 'libs/smpp/src', 'libs/dashboard/src', 'docs', 'test/integration/dispatch'],
    instead: 'a message is deferred, or backs off; a request is queued',
    // A column, and a reason of passed messages, keep their names.
    except: [/parked_until/, /['`]parked['`]/, /toEqual\(\{ parked:/],
  },
  {
    word: /\brest(?:s|ed|ing)\b|\brest[A-Z]\w*|[a-z]Rest(?:ed|s|ing)?\b|_REST\b/,
    in: [`${LIBRARY}/dispatch`, `${LIBRARY}/routing`, 'docs/routes.md', 'docs/architecture.md'],
    instead: 'a provider pauses, a lane backs off',
  },
  {
    word: /\bisHeld\b|#held\b|\bHeld[A-Z]\w*|\bHELD_(?:COLUMNS|NAMES|PAIRS)\b|\bheldUntil\b|holdUntil/,
    in: [LIBRARY, 'libs/smpp/src', 'src', 'docs/architecture.md', 'test/integration'],
    instead: 'a hold is an operator’s stop; a lane is leased, a row is locked',
  },
  {
    word: /\bopen(?:s|ed)?\b|Open[A-Z]\w*|\breopened\b/,
    in: [`${LIBRARY}/dispatch`],
    instead: 'open and closed are states of the breaker; a submission is unanswered',
    except: [
      /breaker|half-open/i,
      /─▶ open|^ \* .*opens$/,
      /\bopen\(ofLane/,
      /\bone\.(?:open|isOpen)\b/,
    ],
  },
  {
    word: /OpenSubmission|\bopen submissions?\b/i,
    in: [LIBRARY, 'docs', 'test'],
    instead: 'a submission without an outcome is unanswered',
    except: [/submission_open/],
  },
  {
    word: /\bpric(?:e|es|ed)\b|[a-z]Pric|Price[sd]?\b/,
    in: [`${LIBRARY}/routing`, `${LIBRARY}/ports/provider-costs.ts`],
    instead: 'a customer pays a price, a provider charges a cost',
    // The options of a provider and of a route keep their names.
    except: [/maxPrice|prices\b/, /rate-card/],
  },
  {
    word: /carriers?\b/i,
    in: [`${LIBRARY}/dispatch`, `${LIBRARY}/routing`, `${LIBRARY}/store`, `${LIBRARY}/ports`],
    instead: 'the library has providers, the settings of the gateway carriers',
  },
];

/** Pages that a build of the site makes of sources. */
const GENERATED = /^docs\/(?:reference|gateway-api|source)\//;

function filesOf(path: string): string[] {
  if (/\.(?:ts|md)$/.test(path)) return [path];
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:ts|md)$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !GENERATED.test(file));
}

function found({ word, in: places, except = [] }: Banned): string[] {
  return places.flatMap(filesOf).flatMap((file) => {
    if (file === 'test/frame/vocabulary.spec.ts') return [];
    return readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, n) => {
        const left = except.reduce((text, one) => (one.test(text) ? '' : text), line);
        return word.test(left) ? [`${file}:${n + 1}: ${line.trim()}`] : [];
      });
  });
}

describe('one word for one thing', () => {
  it.each(BANNED)('$instead: $word is nowhere in $in', (banned) => {
    expect(found(banned)).toEqual([]);
  });

  it('a banned word is found, and its exceptions are not', () => {
    const [parked] = BANNED as [Banned];
    expect(parked.word.test('const parkFor = 0')).toBe(true);
    expect(parked.except?.some((one) => one.test("order.waits(item, 'parked')"))).toBe(true);
  });
});
