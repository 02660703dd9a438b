import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './basics.js';
import { Dialog } from './dialog.js';
import { Icon } from './icon.js';
import { lazily } from './lazily.js';

const ExportProgress = lazily(
  () => import('./export-progress.js').then((part) => part.ExportProgress),
  () => null,
);

/** Downloads a CSV file, and asks before one with whole numbers and addresses. */
export function ExportButton(props: {
  /** Such as `messages`. */
  what: string;
  /** Address of the file with masked values; without it there is no such file. */
  masked?: string;
  /** Address of the file with whole values; without it the caller may not have them. */
  whole?: string | false;
  /** The server gives the file in pieces, so that the page shows how far it is. @default false */
  inPieces?: boolean;
}): JSX.Element | null {
  const { what, masked, whole } = props;
  const [asking, setAsking] = useState(false);
  const [address, setAddress] = useState<string>();
  const close = (): void => setAsking(false);
  const follow = (event: MouseEvent & { currentTarget: HTMLAnchorElement }): void => {
    close();
    if (!props.inPieces) return;
    event.preventDefault();
    setAddress(event.currentTarget.href);
  };
  const progress = address !== undefined && (
    <ExportProgress
      what={what}
      address={address}
      isWhole={address.includes('reveal=true')}
      onClose={() => setAddress(undefined)}
    />
  );
  if (!whole)
    return masked === undefined ? null : (
      <>
        <a class="button plain" href={masked} download="" onClick={follow}>
          <Icon name="download" />
          CSV
        </a>
        {progress}
      </>
    );
  return (
    <>
      <Button icon="download" onClick={() => setAsking(true)}>
        CSV
      </Button>
      {asking && (
        <Dialog
          title={`Export ${what} with whole addresses?`}
          onClose={close}
          footer={
            <>
              <Button onClick={close}>Cancel</Button>
              {masked !== undefined && (
                <a class="button plain" href={masked} download="" onClick={follow}>
                  Export masked
                </a>
              )}
              <a class="button primary" href={whole} download="" onClick={follow}>
                Export whole
              </a>
            </>
          }
        >
          <p>
            The file has every number and e-mail address in full, and nothing protects it outside
            these pages. The export writes an entry of the audit log.
          </p>
          {masked !== undefined && <p>A masked file has them as this page shows them.</p>}
        </Dialog>
      )}
      {progress}
    </>
  );
}
