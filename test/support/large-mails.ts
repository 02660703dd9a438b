/** A little less than the listener takes of an inbound mail. */
const LARGEST_MAIL = 10_400_000;

interface Part {
  readonly head: string;
  /** Fills the mail up to its size. */
  readonly filling: string;
}

const HEAD = ['From: Ada <ada@friend.example>', 'Date: Sun, 22 Nov 2026 10:05:00 +0000'];
const TEXT = ['--b', 'Content-Type: text/plain', '', 'STOP', ''];
const BASE64 = `${'A'.repeat(76)}\r\n`;
const FOLDED = `X-Field: ${'x'.repeat(60)}\r\n ${'y'.repeat(60)}\r\n`;

/** Fields whose hashes a verifier makes of the whole body, each in another way. */
export const SIGNATURES = ['relaxed', 'simple'].flatMap((form) =>
  ['sha256', 'sha1'].map(
    (hash) =>
      `DKIM-Signature: v=1; a=rsa-${hash}; c=relaxed/${form}; d=friend.example; s=rsa; h=from:date; bh=AAAA; b=AAAA`,
  ),
);

const mixed = (head: readonly string[], ...parts: readonly string[]): string =>
  [...head, 'Content-Type: multipart/mixed; boundary="b"', '', ...parts, ''].join('\r\n');

/** Inbound mails of people as they are on the wire, by what is large in them. */
export function largeMails(size = LARGEST_MAIL): Readonly<Record<string, Buffer>> {
  const file = ['--b', 'Content-Type: application/pdf', 'Content-Transfer-Encoding: base64', ''];
  const nested = Array.from({ length: 200 }, (_, n) => [
    `--b${n === 0 ? '' : n - 1}`,
    `Content-Type: multipart/mixed; boundary="b${n}"`,
    '',
  ]);
  const plain = `${HEAD.join('\r\n')}\r\n`;
  const parts: Readonly<Record<string, Part>> = {
    'a file in base64': { head: mixed(HEAD, ...TEXT, ...file), filling: BASE64 },
    'one line': { head: `${plain}\r\n`, filling: 'x' },
    'one line of spaces': { head: `${plain}\r\n`, filling: ' ' },
    'empty lines': { head: `${plain}\r\n`, filling: '\r\n' },
    'line feeds': { head: `${plain}\r\n`, filling: '\n' },
    'lines of a tab': { head: `${plain}\r\n`, filling: '\t\r\n' },
    'lines that end in spaces': { head: `${plain}\r\n`, filling: 'a  \r\n' },
    'lines of a dot': { head: `${plain}\r\n`, filling: '..\r\n' },
    'words of html': {
      head: `${plain}Content-Type: text/html\r\n\r\n`,
      filling: '<a href="https://example.org/">&amp; <b>x</b></a> ',
    },
    'open tags': { head: `${plain}Content-Type: text/html\r\n\r\n`, filling: '<a <li <!--' },
    'nested parts': { head: mixed(HEAD, ...nested.flat()), filling: BASE64 },
    'short parts': { head: mixed(HEAD), filling: '--b\r\n\r\nx\r\n' },
    'many fields': { head: plain, filling: FOLDED },
    'one field': { head: `${plain}Subject: `, filling: '=?utf-8?q?=41?= ' },
    'many addresses': { head: `${plain}To: `, filling: 'a@b.example,"' },
  };
  const slow = Math.min(size, 500_000);
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      // A server reads each of these lines in a turn of its own.
      filled(part, part.filling.startsWith('.') ? slow : size),
    ]),
  );
}

/** A bounce or complaint with the returned message, of which it has everything. */
export function withOriginal(report: string, size = LARGEST_MAIL): Buffer {
  const head = report.replace(/--b--\r\n$/, '--b\r\nContent-Type: message/rfc822\r\n\r\n');
  return filled({ head: `${head}${HEAD.join('\r\n')}\r\n\r\n`, filling: BASE64 }, size);
}

function filled({ head, filling }: Part, size: number): Buffer {
  const count = Math.floor((size - head.length) / filling.length);
  return Buffer.from(`${head}${filling.repeat(count)}\r\n`, 'latin1');
}
