const lib = 'libs/messaging/src';
const dependencies = 'boundaries(dependencies)';

/** [violation, file, its text, the rule that must report it] */
export const violations: [string, string, string, string][] = [
  [
    'a channel imports the SMPP package',
    `${lib}/channels/sc.ts`,
    `export { pdu } from '@dundun/smpp';`,
    dependencies,
  ],
  [
    'the SMPP package imports a package of npm',
    'libs/smpp/src/codec/sa.ts',
    `export { v7 } from 'uuid';`,
    dependencies,
  ],
  [
    'the SMPP package imports the library',
    'libs/smpp/src/codec/sb.ts',
    `export { module } from '@dundun/messaging';`,
    dependencies,
  ],
  [
    'the vocabulary imports a higher layer',
    `${lib}/message/a.ts`,
    `export { clock } from '../ports/clock.js';`,
    dependencies,
  ],
  [
    'a type import of a higher layer',
    `${lib}/store/b.ts`,
    `import type { optIn } from '../policy/opt-in.policy.js';
    export type B = typeof optIn;`,
    dependencies,
  ],
  [
    'a dynamic import of a higher layer',
    `${lib}/policy/c.ts`,
    `export const c = () => import('../dispatch/drain.js');`,
    dependencies,
  ],
  [
    'a runtime folder imports its neighbour',
    `${lib}/callbacks/d.ts`,
    `export { drain } from '../dispatch/drain.js';`,
    dependencies,
  ],
  [
    'a runtime folder imports the module file',
    `${lib}/jobs/e.ts`,
    `export { module } from '../messaging.module.js';`,
    dependencies,
  ],
  [
    'a runtime folder imports the index',
    `${lib}/jobs/f.ts`,
    `export { module } from '../index.js';`,
    dependencies,
  ],
  [
    'a nested provider file imports a channel',
    `${lib}/providers/kannel/g.ts`,
    `export { sms } from '../../channels/sms.service.js';`,
    dependencies,
  ],
  [
    'testing imports a runtime folder',
    `${lib}/testing/h.ts`,
    `export { drain } from '../dispatch/drain.js';`,
    dependencies,
  ],
  [
    'a runtime folder imports testing',
    `${lib}/engines/i.ts`,
    `export { contract } from '../testing/index.js';`,
    dependencies,
  ],
  [
    'the wiring imports the testing kit',
    `${lib}/messaging.jobs.ts`,
    `export { tester } from './kit/messaging-tester.js';`,
    dependencies,
  ],
  [
    'the vocabulary imports an npm package',
    `${lib}/message/j.ts`,
    `export { v7 } from 'uuid';`,
    dependencies,
  ],
  [
    'the vocabulary imports a Node module',
    `${lib}/message/k.ts`,
    `export { join } from 'node:path';`,
    dependencies,
  ],
  [
    'the library imports the gateway',
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
    'a surface imports another surface',
    'src/sms/n.ts',
    `export { webhooks } from '../webhooks/webhooks.service.js';`,
    dependencies,
  ],
  [
    'groups import sms',
    'src/groups/n.ts',
    `export { controller } from '../sms/sms.controller.js';`,
    dependencies,
  ],
  [
    'accounts import a surface',
    'src/accounts/o.ts',
    `export { controller } from '../sms/sms.controller.js';`,
    dependencies,
  ],
  [
    'config imports http',
    'src/config/p.ts',
    `export { filter } from '../http/errors.filter.js';`,
    dependencies,
  ],
  [
    'metrics import accounts',
    'src/metrics/n.ts',
    `export { service } from '../accounts/accounts.service.js';`,
    dependencies,
  ],
  [
    'a surface imports the app module',
    'src/health/q.ts',
    `export { app } from '../app.module.js';`,
    dependencies,
  ],
  [
    'the dashboard imports an internal file of the library',
    'libs/dashboard/src/x.ts',
    `export { service } from '../../messaging/src/messaging.service.js';`,
    dependencies,
  ],
  [
    'the library imports the dashboard',
    `${lib}/channels/y.ts`,
    `export { dashboard } from '../../../dashboard/src/index.js';`,
    dependencies,
  ],
  [
    'a surface imports the dashboard',
    'src/webhooks/x.ts',
    `export { dashboard } from '@dundun/dashboard';`,
    dependencies,
  ],
  [
    'the gateway imports an internal file of the library',
    'src/sms/r.ts',
    `export { drain } from '../../libs/messaging/src/dispatch/drain.js';`,
    dependencies,
  ],
  [
    'the app module imports an internal file of the library',
    'src/app.module.ts',
    `export { service } from '../libs/messaging/src/messaging.service.js';`,
    dependencies,
  ],
  [
    'a gateway spec imports an internal file of the library',
    'src/sms/s.spec.ts',
    `export { drain } from '../../libs/messaging/src/dispatch/drain.js';`,
    'eslint(no-restricted-imports)',
  ],
  [
    'an import of a missing file',
    'src/sms/t.ts',
    `export { gone } from '../accounts/gone.js';`,
    'boundaries(no-unknown-dependencies)',
  ],
  [
    'an unknown folder of the library',
    `${lib}/helpers/u.ts`,
    `export const u = 1;`,
    'boundaries(no-unknown-files)',
  ],
  [
    'an unknown folder beside the library',
    'libs/messaging/helpers/v.ts',
    `export const v = 1;`,
    'boundaries(no-unknown-files)',
  ],
  [
    'an unknown folder of the gateway',
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
    'an explicit any',
    `${lib}/store/z.ts`,
    `export const z = (it: any): number => it.length;`,
    'typescript(no-explicit-any)',
  ],
  [
    'a floating promise',
    'src/http/z.ts',
    `export function z(): void { Promise.resolve().then(() => 1); }`,
    'typescript(no-floating-promises)',
  ],
];
