import { resolve } from 'node:path';
import { defineConfig, mergeConfig } from 'vite';
import dashboard from '../../../libs/dashboard/ui/vite.config.ts';

const here = import.meta.dirname;
const top = resolve(here, '../../..');

export default mergeConfig(
  dashboard,
  defineConfig({
    root: here,
    resolve: { alias: { '@dundun/dashboard/ui': resolve(top, 'libs/dashboard/ui/index.ts') } },
    build: { outDir: resolve(top, 'dist/portal') },
  }),
);
