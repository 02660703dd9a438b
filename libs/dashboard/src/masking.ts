import { readAddress } from '@dundun/messaging';
import type { ContentOutline, ShownAddress } from './api.js';

const DOT = '•';

/**
 * `•••••••••01`, `h•••@demo.test`, `platform:•••`.
 * @param key as views have it: digits, an e-mail address or `platform:{id}`
 */
export function masked(key: string): ShownAddress {
  if (key === '') return '';
  if (key.startsWith('platform:')) return `platform:${DOT.repeat(3)}`;
  const at = key.lastIndexOf('@');
  if (at >= 0) return `${key.slice(0, 1)}${DOT.repeat(3)}${key.slice(at)}`;
  return DOT.repeat(Math.max(3, key.length - 2)) + key.slice(-2);
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
