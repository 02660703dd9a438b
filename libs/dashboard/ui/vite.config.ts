import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  // The server writes the base by the depth of a page.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(here, '../dist/ui'),
    emptyOutDir: true,
    target: 'es2022',
    // One polyfill less, and no inline script: the pages' Content-Security-Policy allows none.
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  logLevel: 'warn',
});
