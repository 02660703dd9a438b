/** A message as it reached the network. */
export interface SmscMessage {
  readonly from: string;
  readonly to: string;
  readonly encoding: 'text' | 'ucs-2' | 'data';
  readonly text: string;
  /** Which part of a long text it is, percent-encoded. */
  readonly header: string | undefined;
}

/** Messages that fakesmsc received, in order. */
export function smscMessages(output: string): SmscMessage[] {
  return output.split('\n').flatMap((line) => {
    const match = /Got message \d+: <(.+?) (\d+) (?:udh (\S+) )?(text|ucs-2|data) (.*)>$/.exec(
      line,
    );
    if (!match) return [];
    const [, from, to, header, encoding, written] = match as unknown as [
      string,
      string,
      string,
      string | undefined,
      SmscMessage['encoding'],
      string,
    ];
    return [{ from, to, encoding, header, text: textOf(encoding, written) }];
  });
}

function textOf(encoding: SmscMessage['encoding'], written: string): string {
  switch (encoding) {
    case 'text':
      return written;
    case 'data':
      return fromPercents(written).toString('utf8');
    case 'ucs-2':
      return fromPercents(written).swap16().toString('utf16le');
  }
}

function fromPercents(text: string): Buffer {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9A-F]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1');
}
