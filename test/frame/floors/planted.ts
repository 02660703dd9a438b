const lib = 'libs/messaging/src';
const dependencies = 'boundaries(dependencies)';

/** [violation, file, its text, the rule that must report it] */
export const planted: [string, string, string, string][] = [
  [
    'the vocabulary looks up',
    `${lib}/message/a.ts`,
    `export { clock } from '../ports/clock.js';`,
    dependencies,
  ],
  [
    'an import of a type looks up',
    `${lib}/store/b.ts`,
    `import type { optIn } from '../policy/opt-in.policy.js';
    export type B = typeof optIn;`,
    dependencies,
  ],
  [
    'a dynamic import looks up',
    `${lib}/policy/c.ts`,
    `export const c = () => import('../dispatch/drain.js');`,
    dependencies,
  ],
  [
    'one room looks into the next',
    `${lib}/callbacks/d.ts`,
    `export { drain } from '../dispatch/drain.js';`,
    dependencies,
  ],
  [
    'a room looks up at the module',
    `${lib}/jobs/e.ts`,
    `export { module } from '../messaging.module.js';`,
    dependencies,
  ],
  [
    'a room looks up at the index',
    `${lib}/jobs/f.ts`,
    `export { module } from '../index.js';`,
    dependencies,
  ],
  [
    'a provider hidden deeper looks sideways',
    `${lib}/providers/kannel/g.ts`,
    `export { sms } from '../../channels/sms.service.js';`,
    dependencies,
  ],
  [
    'testing looks into a room',
    `${lib}/testing/h.ts`,
    `export { drain } from '../dispatch/drain.js';`,
    dependencies,
  ],
  [
    'a room leans on testing',
    `${lib}/engines/i.ts`,
    `export { contract } from '../testing/index.js';`,
    dependencies,
  ],
  [
    'the vocabulary takes an npm package',
    `${lib}/message/j.ts`,
    `export { v7 } from 'uuid';`,
    dependencies,
  ],
  [
    'the vocabulary takes a part of Node',
    `${lib}/message/k.ts`,
    `export { join } from 'node:path';`,
    dependencies,
  ],
  [
    'the library looks into the gateway',
    `${lib}/callbacks/l.ts`,
    `export { config } from '../../../../src/config/config.js';`,
    dependencies,
  ],
  [
    'the library imports itself by name',
    `${lib}/callbacks/m.ts`,
    `export { module } from '@dundun/messaging';`,
    dependencies,
  ],
  [
    'a surface looks into the next',
    'src/sms/n.ts',
    `export { webhooks } from '../webhooks/webhooks.service.js';`,
    dependencies,
  ],
  [
    'groups look into the messages',
    'src/groups/n.ts',
    `export { controller } from '../sms/sms.controller.js';`,
    dependencies,
  ],
  [
    'accounts look up at a surface',
    'src/accounts/o.ts',
    `export { controller } from '../sms/sms.controller.js';`,
    dependencies,
  ],
  [
    'configuration looks sideways',
    'src/config/p.ts',
    `export { filter } from '../http/errors.filter.js';`,
    dependencies,
  ],
  [
    'the figures look up at the accounts',
    'src/metrics/n.ts',
    `export { service } from '../accounts/accounts.service.js';`,
    dependencies,
  ],
  [
    'a surface looks up at the app',
    'src/health/q.ts',
    `export { app } from '../app.module.js';`,
    dependencies,
  ],
  [
    'the gateway reaches into the library',
    'src/sms/r.ts',
    `export { drain } from '../../libs/messaging/src/dispatch/drain.js';`,
    dependencies,
  ],
  [
    'the app module reaches into the library',
    'src/app.module.ts',
    `export { service } from '../libs/messaging/src/messaging.service.js';`,
    dependencies,
  ],
  [
    'a spec of the gateway reaches into the library',
    'src/sms/s.spec.ts',
    `export { drain } from '../../libs/messaging/src/dispatch/drain.js';`,
    'eslint(no-restricted-imports)',
  ],
  [
    'an import leads nowhere',
    'src/sms/t.ts',
    `export { gone } from '../accounts/gone.js';`,
    'boundaries(no-unknown-dependencies)',
  ],
  [
    'a room that the library has not',
    `${lib}/helpers/u.ts`,
    `export const u = 1;`,
    'boundaries(no-unknown-files)',
  ],
  [
    'a room beside the library',
    'libs/messaging/helpers/v.ts',
    `export const v = 1;`,
    'boundaries(no-unknown-files)',
  ],
  [
    'a room that the gateway has not',
    'src/common/w.ts',
    `export const w = 1;`,
    'boundaries(no-unknown-files)',
  ],
  [
    'two files import each other',
    `${lib}/store/x.ts`,
    `import { y } from './y.js';
    export const x = () => y;`,
    'import(no-cycle)',
  ],
  [
    'types import each other',
    `${lib}/store/y.ts`,
    `import type { x } from './x.js';
    export const y = (): typeof x | undefined => undefined;`,
    'import(no-cycle)',
  ],
  [
    'any is any',
    `${lib}/store/z.ts`,
    `export const z = (it: any): number => it.length;`,
    'typescript(no-explicit-any)',
  ],
  [
    'a promise that nobody waits for',
    'src/http/z.ts',
    `export function z(): void { Promise.resolve().then(() => 1); }`,
    'typescript(no-floating-promises)',
  ],
];
