import { type ComponentType, render } from 'preact';
import { currentRoute, navigate } from './router.js';
import { chooseTheme, chosenTheme } from './theme.js';

/** Draws the pages into the document; the mount itself opens the first page. */
export function startPages(App: ComponentType): void {
  chooseTheme(chosenTheme());
  if (!currentRoute().page) navigate(`overview${window.location.search}`, 'replace');
  const element = document.getElementById('app');
  if (element) render(<App />, element);
}
