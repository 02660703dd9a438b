import { join } from 'node:path';
import { isNewerThan, root } from './changes.js';

/**
 * Builds the pages of the dashboard and of the portal.
 *
 *   node src/pages.js                 always
 *   node src/pages.js --if-changed    only those older than a source or a package
 */

/** Folders of the sources of pages, which share components, and the forms of the API. */
const SOURCES = ['libs/dashboard/ui', 'libs/dashboard/src', 'src/portal'];

const PAGES = [
  { config: 'libs/dashboard/ui/vite.config.ts', built: 'libs/dashboard/dist/ui/index.html' },
  { config: 'src/portal/ui/vite.config.ts', built: 'dist/portal/index.html' },
];

const ifChanged = process.argv.includes('--if-changed');
for (const { config, built } of PAGES) {
  const page = join(root, built);
  if (ifChanged && (await isNewerThan(page, SOURCES, /\./, /(?:^|\/)(?:dist|node_modules)\//)))
    continue;
  const { build } = await import('vite');
  await build({ configFile: join(root, config) });
}
