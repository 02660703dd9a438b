import { readAddress } from '@dundun/messaging';
import type { UnprovenMail } from '@dundun/messaging/smtp';
import { Readable } from 'node:stream';

/** Octets of a header in which signatures are looked for. */
const MOST_HEADER = 65_536;

/** Signatures of one mail; each costs a DNS question. */
const MOST_SIGNATURES = 10;

/** Lines of a mail, empty ones in succession, and octets of a line: with more the verifier takes minutes, or hundreds of MiB. */
const MOST_LINES = 150_000;
const MOST_EMPTY_LINES = 1_000;
const MOST_LINE = 65_536;

/** Fields of a result that the types of `mailauth` leave out. */
interface Untyped {
  readonly algo?: string;
  readonly signingHeaders?: { readonly keys: string };
}

/** Asks for the TXT records of a name, each in pieces. */
export type TxtLookup = (name: string) => Promise<string[][]>;

/**
 * Whether a DKIM signature proves the domain of the sender (RFC 6376): it is valid, its domain is
 * aligned with that of `From` as DMARC demands, and it covers `From`, `Date` and the whole body. A
 * signed `Date` keeps a mail that is sent again later from counting as a newer one.
 * @throws Error where DNS does not answer
 */
export async function provesSender(
  { head, raw, from }: Omit<UnprovenMail, 'remoteAddress'>,
  lookup: TxtLookup,
): Promise<boolean> {
  const signatures = signaturesOf(head);
  const isLimited = signatures.some((signature) => /[:;]\s*l\s*=/i.test(signature));
  if (signatures.length === 0 || signatures.length > MOST_SIGNATURES || isLimited) return false;
  // Loaded here, because few processes receive mail.
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const lines = new Lines();
  const mail = Readable.from(boundedBy(lines, raw), { objectMode: false });
  const { headerFrom, results } = await dkimVerify(mail, { resolver: lookup });
  const [sender, ...others] = headerFrom.map((address) => readAddress(address, ['email'])?.value);
  if (lines.areTooMany || sender !== from || others.length > 0) return false;
  const isProof = (result: (typeof results)[number]): boolean => {
    const { status, algo, signingHeaders } = result as typeof result & Untyped;
    const covered = signingHeaders?.keys.toLowerCase().split(/\s*:\s*/) ?? [];
    return (
      status.result === 'pass' &&
      Boolean(status.aligned) &&
      // SHA-1 proves nothing any more (RFC 8301).
      /-sha256$/i.test(algo ?? '') &&
      ['from', 'date'].every((name) => covered.includes(name))
    );
  };
  if (results.some(isProof)) return true;
  if (results.some(({ status }) => status.result === 'temperror'))
    throw new Error('DNS did not answer for the signature of a mail');
  return false;
}

/** The mail, up to a piece with too much in its lines. */
async function* boundedBy(
  lines: Lines,
  raw: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of raw) {
    lines.add(piece);
    if (lines.areTooMany) return;
    yield piece;
  }
}

const [TAB, LF, CR, SPACE] = [9, 10, 13, 32];

/** Counts the lines of a mail. */
class Lines {
  areTooMany = false;
  #count = 0;
  /** Empty lines in succession; white space at its end does not count as a part of a line. */
  #empty = 0;
  #length = 0;
  #isEmpty = true;

  add(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.areTooMany; at++) {
      const octet = piece[at];
      if (octet === LF) this.#end();
      else {
        this.#isEmpty &&= octet === SPACE || octet === TAB || octet === CR;
        this.areTooMany = ++this.#length > MOST_LINE;
      }
    }
  }

  #end(): void {
    this.#empty = this.#isEmpty ? this.#empty + 1 : 0;
    this.areTooMany = ++this.#count > MOST_LINES || this.#empty > MOST_EMPTY_LINES;
    this.#length = 0;
    this.#isEmpty = true;
  }
}

/** The signature fields of the header, unfolded; none where the header is too long. */
function signaturesOf(head: Buffer): string[] {
  const text = head.toString('latin1', 0, MOST_HEADER);
  const end = /\r?\n\r?\n/.exec(text)?.index;
  if (end === undefined) return [];
  const fields = text.slice(0, end).split(/\r?\n(?!\s)/);
  // Those of ARC are verified as well.
  return fields.filter((field) => /^(?:dkim|arc-message)-signature\s*:/i.test(field));
}
