import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../app/api-client.js';
import { readInPieces, saveFile } from '../app/export-pieces.js';
import { plural } from '../app/format.js';
import { toast } from '../app/toasts.js';
import { Button, ErrorNotice } from './basics.js';
import { Dialog } from './dialog.js';

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
