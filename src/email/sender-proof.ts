import { readAddress } from '@dundun/messaging';

/** Octets of a header in which signatures are looked for. */
const MOST_HEADER = 65_536;

/** Signatures of one mail; each costs a DNS question. */
const MOST_SIGNATURES = 10;

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
 * @param from address of the sender, as the mail is recorded
 * @throws Error where DNS does not answer
 */
export async function provesSender(
  { raw, from }: { readonly raw: Buffer; readonly from: string },
  lookup: TxtLookup,
): Promise<boolean> {
  const signatures = signaturesOf(raw);
  const isLimited = signatures.some((signature) => /[:;]\s*l\s*=/i.test(signature));
  if (signatures.length === 0 || signatures.length > MOST_SIGNATURES || isLimited) return false;
  // Loaded here, because few processes receive mail.
  const { dkimVerify } = await import('mailauth/lib/dkim/verify.js');
  const { headerFrom, results } = await dkimVerify(raw, { resolver: lookup });
  const [sender, ...others] = headerFrom.map((address) => readAddress(address, ['email'])?.value);
  if (sender !== from || others.length > 0) return false;
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

/** The signature fields of the header, unfolded; none where the header is too long. */
function signaturesOf(raw: Buffer): string[] {
  const head = raw.subarray(0, MOST_HEADER).toString('latin1');
  const end = /\r?\n\r?\n/.exec(head)?.index;
  if (end === undefined) return [];
  const fields = head.slice(0, end).split(/\r?\n(?!\s)/);
  return fields.filter((field) => /^dkim-signature\s*:/i.test(field));
}
