import { useEffect } from 'preact/hooks';
import type { Page } from './product.js';
import { navigate } from './router.js';

/** Milliseconds between `g` and the letter of a page. */
const SEQUENCE = 1500;

const KEY = 'dundun.shortcuts';

/** Single-letter keys interfere with dictation: the help switches them off. */
export function shortcutsOn(): boolean {
  try {
    return localStorage.getItem(KEY) !== 'off';
  } catch {
    return true;
  }
}

export function switchShortcuts(on: boolean): void {
  try {
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, 'off');
  } catch {
    // Storage is switched off: the keys stay on.
  }
}

/**
 * `/` searches, `g` and a letter open a page, `?` helps, `j` and `k` go to the next and the former row of
 * a list, `x` chooses it; none of them while a person types.
 */
export function useShortcuts(pages: readonly Page[], help: () => void): void {
  useEffect(() => {
    let pressedG = 0;
    const press = (event: KeyboardEvent): void => {
      if (
        !shortcutsOn() ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented
      )
        return;
      const { target } = event;
      if (
        target instanceof Element &&
        target.closest('input:not([type=checkbox]), textarea, select, dialog')
      )
        return;
      const followsG = event.timeStamp - pressedG < SEQUENCE;
      pressedG = 0;
      const page = followsG ? pages.find(({ key }) => key === event.key) : undefined;
      if (page) navigate(page.name);
      else if (event.key === 'g') pressedG = event.timeStamp;
      else if (event.key === '?') help();
      else if (event.key === '/') search();
      else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1);
      else if (event.key === 'x') chooseRow();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [pages, help]);
}

const rowOfFocus = (): Element | null | undefined => document.activeElement?.closest('tbody tr');

/** Focuses the link of the next or former row, where Enter opens its page. */
function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll('main tr.linked')];
  const at = rows.findIndex((row) => row === rowOfFocus());
  const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.querySelector<HTMLElement>('.row-link')?.focus();
}

function chooseRow(): void {
  rowOfFocus()?.querySelector<HTMLElement>('.choice input')?.click();
}

/** Focuses the search of the page, or that of the messages. */
function search(): void {
  const find = (): HTMLInputElement | null => document.querySelector('main input[type=search]');
  const here = find();
  if (here) {
    here.focus();
    return;
  }
  navigate('messages');
  requestAnimationFrame(() => requestAnimationFrame(() => find()?.focus()));
}
