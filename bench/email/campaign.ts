import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** One key of each kind, as PEM. */
export interface Keys {
  readonly rsa: string;
  readonly ed25519: string;
}

export function makeKeys(): Keys {
  const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    rsa: pem(generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey),
    ed25519: pem(generateKeyPairSync('ed25519').privateKey),
  };
}

export const DOMAIN = 'shop.example';
export const FROM = `Shop <orders@${DOMAIN}>`;
const WORDS = 'It is on its way, and should arrive within three working days. '.repeat(12);

/** About 2 KB as html and as text, with `name` and `order` of each recipient. */
export const SUBJECT = 'Order {{order}} for {{name}}';
export const TEXT = `Dear {{name}},\n\nyour order {{order}} has left.\n\n${WORDS}\n`;
export const HTML = `<h1>Dear {{name}}</h1><p>Your order {{order}} has left.</p><p>${WORDS}</p>`;

export function recipientsOf(count: number, first: readonly string[] = []) {
  return [...first, ...Array.from({ length: count }, (_, n) => `p${n}@customers.example`)].map(
    (email, n) => ({ email, variables: { name: `Customer ${n}`, order: `A-${n}` } }),
  );
}

export function filled(text: string, n: number): string {
  return text.replaceAll('{{name}}', `Customer ${n}`).replaceAll('{{order}}', `A-${n}`);
}
