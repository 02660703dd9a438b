import { readText } from './api-client.js';
import { mount } from './router.js';

/** Messages of a file: a browser holds it in memory. */
const MOST = 200_000;

export interface ExportedFile {
  readonly csv: string;
  readonly rows: number;
  /** There are more than a file has. */
  readonly isCut: boolean;
}

/**
 * Reads a file in pieces, each of a request.
 * @param address with its filter, such as `api/messages/export?status=failed`
 * @param tell called with the rows so far
 * @throws {ApiError} a refusal, or no answer
 */
export async function readInPieces(
  address: string,
  piece: number,
  tell: (rows: number) => void,
  signal: AbortSignal,
): Promise<ExportedFile> {
  const parts: string[] = [];
  let rows = 0;
  let cursor: string | null = null;
  do {
    const url: URL = new URL(address, mount);
    url.searchParams.set('limit', String(piece));
    if (cursor) url.searchParams.set('cursor', cursor);
    const { text, headers } = await readText(url.href, signal);
    // Each piece has the titles of the columns.
    parts.push(cursor ? text.slice(text.indexOf('\n') + 1) : text);
    rows += Number(headers.get('x-rows'));
    cursor = headers.get('x-next-cursor');
    tell(rows);
  } while (cursor && rows < MOST);
  return { csv: parts.join(''), rows, isCut: cursor !== null };
}

/** Gives a text to the person as a file. */
export function saveFile(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
