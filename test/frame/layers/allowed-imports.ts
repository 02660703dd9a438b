const lib = 'libs/messaging/src';

/** One file per layer that imports everything it may. */
export const allowedImports: Record<string, string> = {
  [`${lib}/message/status.ts`]: `export const status = 'queued';`,
  [`${lib}/message/message.ts`]: `export { status } from './status.js';`,
  [`${lib}/ports/clock.ts`]: `import { v7 } from 'uuid';
    import { status } from '../message/status.js';
    export const clock = [v7, status];`,
  [`${lib}/store/batch.repository.ts`]: `import { createHash } from 'node:crypto';
    import { DataSource } from 'typeorm';
    import { clock } from '../ports/clock.js';
    import { status } from '../message/status.js';
    export const batches = [createHash, DataSource, clock, status];`,
  [`${lib}/contacts/contact.repository.ts`]: `import { batches } from '../store/batch.repository.js';
    export const contacts = [batches];`,
  [`${lib}/policy/opt-in.policy.ts`]: `import { contacts } from '../contacts/contact.repository.js';
    export const optIn = [contacts];`,
  [`${lib}/dispatch/drain.ts`]: `import { optIn } from '../policy/opt-in.policy.js';
    import { batches } from '../store/batch.repository.js';
    export const drain = [optIn, batches];`,
  [`${lib}/providers/http/http.transport.ts`]: `export const http = 1;`,
  [`${lib}/providers/smpp/smpp.transport.ts`]: `import { pdu } from '@dundun/smpp';
    export const smpp = pdu;`,
  [`${lib}/channels/receipt.ts`]: `export const receipt = 1;`,
  [`${lib}/channels/sms.service.ts`]: `import { receipt } from './receipt.js';
    export const sms = [receipt];`,
  [`${lib}/operations/holds.service.ts`]: `import { batches } from '../store/batch.repository.js';
    import { drain } from '../dispatch/drain.js';
    import { sms } from '../channels/sms.service.js';
    export const holds = [batches, drain, sms];`,
  [`${lib}/telemetry/tracing.ts`]: `import { clock } from '../ports/clock.js';
    export const tracing = [clock];`,
  [`${lib}/testing/index.ts`]: `import { optIn } from '../policy/opt-in.policy.js';
    export const contract = [optIn];`,
  [`${lib}/kit/messaging-tester.ts`]: `import { drain } from '../dispatch/drain.js';
    import { module } from '../messaging.module.js';
    export const tester = [drain, module];`,
  [`${lib}/testing.ts`]: `import { contract } from './testing/index.js';
    import { tester } from './kit/messaging-tester.js';
    export const testing = [contract, tester];`,
  [`${lib}/messaging.service.ts`]: `import { batches } from './store/batch.repository.js';
    export const service = [batches];`,
  [`${lib}/messaging.module.ts`]: `import { Module } from '@nestjs/common';
    import { drain } from './dispatch/drain.js';
    import { service } from './messaging.service.js';
    import { sms } from './channels/sms.service.js';
    import { holds } from './operations/holds.service.js';
    import { tracing } from './telemetry/tracing.js';
    export const module = [Module, drain, service, sms, holds, tracing];`,
  [`${lib}/index.ts`]: `export { module } from './messaging.module.js';`,
  'libs/smpp/src/codec/pdu.ts': `import { connect } from 'node:net';
    export const pdu = connect;`,
  'libs/smpp/src/index.ts': `export { pdu } from './codec/pdu.js';`,
  'libs/dashboard/src/api.ts': `export interface Answer { readonly title: string }`,
  'libs/dashboard/src/index.ts': `import { Controller } from '@nestjs/common';
    import { module } from '@dundun/messaging';
    import type { Answer } from './api.js';
    export const dashboard: Answer & { all: unknown[] } = { title: '', all: [Controller, module] };`,
  'src/settings/parsers.ts': `import { module } from '@dundun/messaging';
    export const parse = module;`,
  'src/carriers/acme.ts': `import { module } from '@dundun/messaging';
    import { parse } from '../settings/parsers.js';
    export const acme = [module, parse];`,
  'src/config/config.ts': `import { module } from '@dundun/messaging';
    import { join } from 'node:path';
    import { parse } from '../settings/parsers.js';
    import { acme } from '../carriers/acme.js';
    export const config = [module, join, parse, acme];`,
  'src/http/errors.filter.ts': `import { Catch } from '@nestjs/common';
    export const filter = Catch;`,
  'src/channel.ts': `import { config } from './config/config.js';
    export const channel = config;`,
  'src/accounts/accounts.service.ts': `import { config } from '../config/config.js';
    import { channel } from '../channel.js';
    export const accounts = [config, channel];`,
  'src/secrets/secrets.ts': `import { config } from '../config/config.js';
    export const secrets = [config];`,
  'src/blocked/blocked.service.ts': `import { module } from '@dundun/messaging';
    import { accounts } from '../accounts/accounts.service.js';
    export const blocked = [module, accounts];`,
  'src/billing/ledger/billing.service.ts': `import { module } from '@dundun/messaging';
    import { accounts } from '../../accounts/accounts.service.js';
    export const billing = [module, accounts];`,
  'src/webhooks/webhooks.service.ts': `import { accounts } from '../accounts/accounts.service.js';
    import { secrets } from '../secrets/secrets.js';
    export const webhooks = [accounts, secrets];`,
  'src/channels/sms/sms.controller.ts': `import { module } from '@dundun/messaging';
    import { accounts } from '../../accounts/accounts.service.js';
    import { blocked } from '../../blocked/blocked.service.js';
    import { filter } from '../../http/errors.filter.js';
    export const controller = [module, accounts, blocked, filter];`,
  'src/channels/index.ts': `import { channel } from '../channel.js';
    import { controller } from './sms/sms.controller.js';
    export const channels = [channel, controller];`,
  'src/groups/groups.controller.ts': `import { accounts } from '../accounts/accounts.service.js';
    export const groups = [accounts];`,
  'src/inbound/inbound.controller.ts': `import { accounts } from '../accounts/accounts.service.js';
    export const inbound = [accounts];`,
  'src/notifications/notifications.controller.ts': `import { module } from '@dundun/messaging';
    import { accounts } from '../accounts/accounts.service.js';
    import { channel } from '../channel.js';
    export const notifications = [module, accounts, channel];`,
  'src/smpp/smpp-listener.ts': `import { pdu } from '@dundun/smpp';
    import { accounts } from '../accounts/accounts.service.js';
    export const listener = [pdu, accounts];`,
  'src/doctor/doctor.service.ts': `import { module } from '@dundun/messaging';
    import { accounts } from '../accounts/accounts.service.js';
    import { webhooks } from '../webhooks/webhooks.service.js';
    export const doctor = [module, accounts, webhooks];`,
  'src/portal/members.controller.ts': `import { module } from '@dundun/messaging';
    import { page } from '@dundun/dashboard';
    import { accounts } from '../accounts/accounts.service.js';
    import { groups } from '../groups/groups.controller.js';
    import { doctor } from '../doctor/doctor.service.js';
    export const members = [module, page, accounts, groups, doctor];`,
  'src/cli/account.command.ts': `import { accounts } from '../accounts/accounts.service.js';
    import { app } from '../app.module.js';
    export const account = [accounts, app];`,
  'src/app.module.ts': `import { module } from '@dundun/messaging';
    import { controller } from './channels/sms/sms.controller.js';
    import { webhooks } from './webhooks/webhooks.service.js';
    import { groups } from './groups/groups.controller.js';
    import { members } from './portal/members.controller.js';
    import { dashboard } from '@dundun/dashboard';
    export const app = [module, controller, webhooks, groups, members, dashboard];`,
  'src/main.ts': `import { app } from './app.module.js';
    import { config } from './config/config.js';
    console.log(app, config);`,
  'ormconfig.ts': `import { config } from './src/config/config.js';
    export const source = config;`,
};
