import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, readText } from '../app/api-client.js';
import { plural } from '../app/format.js';
import { toast } from '../app/toasts.js';
import { Button, ErrorNotice } from './basics.js';
import { Dialog } from './dialog.js';
import { mount } from '../app/router.js';

/** Messages of a file: a browser holds it in memory. */
const MOST = 200_000;

interface ExportedFile {
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
async function readInPieces(
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
function saveFile(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Rows of a piece; each piece of a whole file is an entry of the audit log. */
const PIECE = { masked: 2_000, whole: 10_000 } as const;

/** Reads a file piece by piece, says how far it is, and hands it over. */
export function ExportProgress(props: {
  /** Such as `messages`. */
  what: string;
  address: string;
  isWhole: boolean;
  onClose: () => void;
}): JSX.Element {
  const { what, address, isWhole, onClose } = props;
  const [rows, setRows] = useState(0);
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const controller = new AbortController();
    const piece = isWhole ? PIECE.whole : PIECE.masked;
    readInPieces(address, piece, setRows, controller.signal).then(
      ({ csv, rows: all, isCut }) => {
        if (controller.signal.aborted) return;
        saveFile(`${what}.csv`, csv);
        toast(
          `${plural(all, 'row')} exported${isCut ? '; there are more: narrow the filter' : ''}`,
        );
        onClose();
      },
      (refused: unknown) => {
        if (controller.signal.aborted) return;
        if (!(refused instanceof ApiError)) throw refused;
        setError(refused);
      },
    );
    return () => controller.abort();
    // The file is that of the click.
  }, []);
  return (
    <Dialog
      title={`Export of ${what}`}
      onClose={onClose}
      footer={<Button onClick={onClose}>{error ? 'Close' : 'Stop'}</Button>}
    >
      {!error && <progress aria-label="Progress" />}
      <p role="status">{plural(rows, 'row')} read.</p>
      <ErrorNotice error={error} />
    </Dialog>
  );
}
