import { createHash } from 'node:crypto';

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem;color:#111;background:#fff}button{font:inherit;padding:.6rem 1.2rem;border:2px solid #111;border-radius:.3rem;background:#111;color:#fff;cursor:pointer}button:focus-visible{outline:3px solid #06c;outline-offset:3px}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Headers of every page: nothing is loaded, framed, stored or indexed, and the address stays here. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

export const PAGES = {
  form: page(
    'Unsubscribe',
    '<p>You will get no more marketing email from this sender.</p><form method="post"><button type="submit">Unsubscribe</button></form>',
  ),
  done: page(
    'You are unsubscribed',
    '<p>You will get no more marketing email from this sender.</p>',
  ),
  unknown: page(
    'This link does not work',
    '<p>Open the link in the email again, and make sure that it is whole.</p>',
  ),
  busy: page('Too many requests', '<p>Wait a minute, then open the link again.</p>'),
} as const;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`;
}
