import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useContextData } from '../app/context.js';
import { Button } from '../components/basics.js';
import { lazily } from '../components/lazily.js';

export const SendDialog = lazily(
  async () => (await import('./send-dialog.js')).SendDialog,
  () => null,
);

export function SendButton(): JSX.Element | null {
  const { act } = useContextData();
  const [open, setOpen] = useState(false);
  if (!act) return null;
  return (
    <>
      <Button kind="primary" icon="send" onClick={() => setOpen(true)}>
        Send a message
      </Button>
      {open && <SendDialog onClose={() => setOpen(false)} />}
    </>
  );
}
