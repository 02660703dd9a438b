#!/usr/bin/env node
// This file is committed, so that npx finds the command before the first build.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const built = join(import.meta.dirname, '..', '..', 'dist', 'src', 'cli.js');
if (existsSync(built)) await import(pathToFileURL(built).href);
else {
  process.stderr.write('dundun: not built yet; run `npm run build` first\n');
  process.exitCode = 1;
}
