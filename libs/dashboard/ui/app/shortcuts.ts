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

/** `/` searches, `g` and a letter open a page, `?` helps; none of them while a person types. */
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
      if (target instanceof Element && target.closest('input, textarea, select, dialog')) return;
      const followsG = event.timeStamp - pressedG < SEQUENCE;
      pressedG = 0;
      const page = followsG ? pages.find(({ key }) => key === event.key) : undefined;
      if (page) navigate(page.name);
      else if (event.key === 'g') pressedG = event.timeStamp;
      else if (event.key === '?') help();
      else if (event.key === '/') search();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [pages, help]);
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
