import { type ComponentType, render } from 'preact';
import { chooseTheme, chosenTheme } from './theme.js';

/** Draws the pages into the document. */
export function startPages(App: ComponentType): void {
  chooseTheme(chosenTheme());
  const element = document.getElementById('app');
  if (element) render(<App />, element);
}
