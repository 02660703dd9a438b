import { type InboundContent, readAddress } from '@dundun/messaging';
import type { InboundText } from '@dundun/messaging/operations';
import { partialAddress } from '@dundun/messaging/values';
import type { ContentOutline, ReceivedOutline, ShownAddress } from './api.js';

const DOT = '•';

const NUMBER = /(?<![0-9A-Za-z._-])\+?([1-9]\d{6,14})(?![0-9A-Za-z_]|-[0-9A-Za-z]|\.\d)/g;
const EMAIL = /[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;

/** @param key as views have it: digits, an e-mail address or `platform:{id}`; empty: it was erased */
export function masked(key: string): ShownAddress {
  const address = readAddress(key);
  return address ? partialAddress(address) : key && DOT.repeat(3);
}

/** A text of a provider or a receiver, with numbers and e-mail addresses masked. */
export function maskedText(text: string): string {
  return text
    .replace(EMAIL, (value) => partialAddress({ kind: 'email', value }))
    .replace(NUMBER, (_, value: string) => partialAddress({ kind: 'phone', value }));
}

/** The first letter alone. */
export function maskedName(name: string | null): string | null {
  return name === null ? null : `${Array.from(name)[0] ?? ''}${DOT.repeat(3)}`;
}

interface Content {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The shape of a content, without its words. */
export function outlineOf(content: object | null): ContentOutline | null {
  if (content === null) return null;
  const { kind, text, template, product } = content as Content;
  return {
    kind,
    product: typeof product === 'string' ? productOf(content as Content) : null,
    characters: typeof text === 'string' ? text.length : null,
    template: typeof template === 'string' ? template : null,
  };
}

/** @param whole with what the sender wrote */
export function receivedOutlineOf(
  { profileName, repliesTo }: InboundText,
  content: InboundContent | undefined,
  whole: boolean,
): ReceivedOutline {
  const files = content?.kind === 'media' ? content.files : [];
  return {
    profileName: whole ? profileName : maskedName(profileName),
    isReply: repliesTo !== null,
    detail: whole && content ? detailOf(content) : null,
    files: files.map(({ type, contentType, filename, size }) => {
      return { type, contentType, filename: whole ? filename : null, size };
    }),
  };
}

/** What the text of the message does not say; `null`: nothing. */
function detailOf(content: InboundContent): string | null {
  const joined = (...parts: readonly (string | null)[]) =>
    parts.filter((part) => part !== null && part !== '').join(', ') || null;
  switch (content.kind) {
    case 'text':
    case 'media':
    case 'flow':
      return null;
    case 'location': {
      const { name, address, latitude, longitude } = content;
      return joined(name, address, `${latitude}, ${longitude}`);
    }
    case 'contacts':
      return joined(
        ...content.contacts.map(({ name, phones, emails }) => joined(name, ...phones, ...emails)),
      );
    case 'reaction':
      return content.emoji;
    case 'button':
      return content.payload;
    case 'list':
      return joined(content.description, content.id);
    case 'other':
      return content.type;
  }
}

/** Readable text of a content; `null`: it has no text. */
export function textOf(content: object | null): string | null {
  if (content === null) return null;
  const { text, template, params, code, audioUrl, product } = content as Content;
  if (typeof text === 'string') return text;
  // A call speaks the digits one by one.
  if (typeof code === 'string') return Array.from(code).join(' ');
  if (typeof audioUrl === 'string') return audioUrl;
  if (typeof product === 'string') return productOf(content as Content);
  if (typeof template !== 'string') return null;
  const values = Array.isArray(params) ? params.map(String).join(', ') : '';
  return values === '' ? `[${template}]` : `[${template}] ${values}`;
}

/** Product and amount of an order: `airtime-ng, 100 NGN`. */
function productOf({ product, amount, currency }: Content): string {
  return `${String(product)}, ${String(amount)} ${String(currency)}`;
}

export function isAddress(text: string): boolean {
  return readAddress(text) !== undefined;
}
