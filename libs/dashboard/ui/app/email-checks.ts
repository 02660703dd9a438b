/** Octets of html from which on Gmail shows a part of a mail and a link to its rest: 102 KiB. */
export const GMAIL_SHOWS = 102 * 1_024;

const MOST_LINKS = 500;

/** Longest address that mail programs and filters pass on unchanged. */
const LONGEST = 2_000;

const PROTOCOLS_THAT_STAY = new Set(['tel:', 'sms:', 'callto:', 'geo:', 'webcal:']);

/**
 * What is wrong with the form of a link of an e-mail; nothing is asked of its host.
 *
 * @param href as the html has it
 * @param text that readers see
 * @returns `null`: nothing
 */
export function linkFault(href: string, text: string): string | null {
  const written = href.trim();
  if (written === '') return 'has no address';
  if (/\{\{|%7b%7b|\*\||\$\{|%%/i.test(written)) return 'has a variable that was not filled in';
  if (written.startsWith('#')) return 'leads to a place in the page, which mail programs ignore';
  if (/\s/.test(written)) return 'has a space in it';
  if (!URL.canParse(written)) return 'is no whole address: begin it with https://';
  const url = new URL(written);
  if (url.protocol === 'mailto:')
    return url.pathname.includes('@') ? null : 'has no e-mail address behind mailto:';
  if (PROTOCOLS_THAT_STAY.has(url.protocol)) return null;
  if (!/^https?:$/.test(url.protocol))
    return `begins with ${url.protocol}, which mail programs remove`;
  return hostFault(url) ?? textFault(url, text) ?? formFault(url, written);
}

function hostFault({ hostname, username }: URL): string | null {
  if (username !== '') return 'hides its host behind a user name';
  if (/^[\d.]+$|^\[/.test(hostname)) return 'names an IP address, which filters distrust';
  if (!hostname.includes('.') || /\.(?:local|localhost|internal|lan)$/.test(hostname))
    return 'is reachable in your own network alone';
  return null;
}

/** A text that is the address of another host looks like a forgery. */
function textFault({ hostname }: URL, text: string): string | null {
  const [, shown] =
    /^(?:https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})(?:[/?#:]|$)/i.exec(text.trim()) ?? [];
  if (shown === undefined) return null;
  const plain = (host: string): string => host.toLowerCase().replace(/^www\./, '');
  return plain(shown) === plain(hostname) ? null : `shows ${shown}, and leads to ${hostname}`;
}

function formFault({ protocol }: URL, written: string): string | null {
  if (protocol === 'http:') return 'is not encrypted: use https';
  if (written.length > LONGEST) return `has more than ${LONGEST.toLocaleString('en')} characters`;
  return null;
}

/** `512 B`, `96 KB`, `1.4 MB`; a KB has 1,024 octets, as in the limit of Gmail. */
export function sizeText(octets: number): string {
  if (octets < 1_024) return `${octets} B`;
  const kilo = octets / 1_024;
  return kilo < 1_024 ? `${kilo.toFixed(kilo < 10 ? 1 : 0)} KB` : `${(kilo / 1_024).toFixed(1)} MB`;
}

export interface EmailLink {
  readonly href: string;
  readonly text: string;
  readonly fault: string | null;
}

/**
 * The first 500 links of the html of an e-mail, read as text: a parsed document would be under the policy of the
 * page, and name each style of the e-mail as a breach of it.
 */
export function linksOf(html: string): readonly EmailLink[] {
  const links: EmailLink[] = [];
  const opening = /<(?:a|area)\s([^<>]{0,4000})>/gi;
  const closing = /<\/a\s*>/gi;
  /** Where the next link ends; -1: none does. */
  let end = 0;
  for (const { 0: tag, 1: attributes = '', index } of html.matchAll(opening)) {
    if (links.length === MOST_LINKS) break;
    const start = index + tag.length;
    if (end !== -1 && end < start) {
      closing.lastIndex = start;
      end = closing.exec(html)?.index ?? -1;
    }
    const [, ...values] =
      /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
    const href = decoded(values.find((value) => value !== undefined) ?? '');
    const inside = end === -1 || /^<area/i.test(tag) ? '' : html.slice(start, end);
    const text = decoded(inside.slice(0, LONGEST).replaceAll(/<[^>]*>/g, ' ')).trim();
    links.push({
      href,
      text: text.replaceAll(/\s+/g, ' ') || 'a picture',
      fault: linkFault(href, text),
    });
  }
  return links;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The usual character references; others stay as they are written. */
function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,5}));/gi, (whole, ...found) => {
    const [decimal, hex, name] = found as (string | undefined)[];
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
