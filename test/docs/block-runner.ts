import * as dashboard from '@dundun/dashboard';
import * as messaging from '@dundun/messaging';
import * as africasTalking from '@dundun/messaging/africas-talking';
import * as awsSms from '@dundun/messaging/aws-sms';
import * as bullmq from '@dundun/messaging/bullmq';
import * as bird from '@dundun/messaging/bird';
import * as clickatell from '@dundun/messaging/clickatell';
import * as inbound from '@dundun/messaging/inbound';
import * as infobip from '@dundun/messaging/infobip';
import * as kannel from '@dundun/messaging/kannel';
import * as migrations from '@dundun/messaging/migrations';
import * as operations from '@dundun/messaging/operations';
import * as ports from '@dundun/messaging/ports';
import * as plivo from '@dundun/messaging/plivo';
import * as postmark from '@dundun/messaging/postmark';
import * as reloadly from '@dundun/messaging/reloadly';
import * as sinch from '@dundun/messaging/sinch';
import * as resend from '@dundun/messaging/resend';
import * as sendgrid from '@dundun/messaging/sendgrid';
import * as ses from '@dundun/messaging/ses';
import * as sns from '@dundun/messaging/sns';
import * as smpp from '@dundun/messaging/smpp';
import * as smtp from '@dundun/messaging/smtp';
import * as telnyx from '@dundun/messaging/telnyx';
import * as termii from '@dundun/messaging/termii';
import * as terminus from '@dundun/messaging/terminus';
import * as testing from '@dundun/messaging/testing';
import * as twilio from '@dundun/messaging/twilio';
import * as vonage from '@dundun/messaging/vonage';
import * as whatsAppCloud from '@dundun/messaging/whatsapp-cloud';
import * as dundunSmpp from '@dundun/smpp';
import { expect, jest } from '@jest/globals';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import * as events from '@nestjs/event-emitter';
import * as nestTerminus from '@nestjs/terminus';
import * as nestTesting from '@nestjs/testing';
import * as nestTypeOrm from '@nestjs/typeorm';
import * as reactEmail from '@react-email/render';
import Handlebars from 'handlebars';
import { generateKeyPairSync } from 'node:crypto';
import { Script } from 'node:vm';
import * as reactRuntime from 'react/jsx-runtime';
import ts from 'typescript';
import { EntitySchema } from 'typeorm';
import { parses } from './block-program.js';
import type { Block } from './markdown-blocks.js';

const PACKAGES: Readonly<Record<string, object>> = {
  '@dundun/dashboard': dashboard,
  '@dundun/messaging': messaging,
  '@dundun/messaging/africas-talking': africasTalking,
  '@dundun/messaging/aws-sms': awsSms,
  '@dundun/messaging/bird': bird,
  '@dundun/messaging/bullmq': bullmq,
  '@dundun/messaging/clickatell': clickatell,
  '@dundun/messaging/inbound': inbound,
  '@dundun/messaging/infobip': infobip,
  '@dundun/messaging/kannel': kannel,
  '@dundun/messaging/migrations': migrations,
  '@dundun/messaging/operations': operations,
  '@dundun/messaging/ports': ports,
  '@dundun/messaging/plivo': plivo,
  '@dundun/messaging/postmark': postmark,
  '@dundun/messaging/reloadly': reloadly,
  '@dundun/messaging/sinch': sinch,
  '@dundun/messaging/resend': resend,
  '@dundun/messaging/sendgrid': sendgrid,
  '@dundun/messaging/ses': ses,
  '@dundun/messaging/sns': sns,
  '@dundun/messaging/smpp': smpp,
  '@dundun/messaging/smtp': smtp,
  '@dundun/messaging/telnyx': telnyx,
  '@dundun/messaging/termii': termii,
  '@dundun/messaging/terminus': terminus,
  '@dundun/messaging/testing': testing,
  '@dundun/messaging/twilio': twilio,
  '@dundun/messaging/vonage': vonage,
  '@dundun/messaging/whatsapp-cloud': whatsAppCloud,
  '@dundun/smpp': dundunSmpp,
  '@nestjs/common': common,
  '@nestjs/core': core,
  '@nestjs/event-emitter': events,
  '@nestjs/terminus': nestTerminus,
  '@nestjs/testing': nestTesting,
  '@nestjs/typeorm': nestTypeOrm,
  '@react-email/render': reactEmail,
  handlebars: { __esModule: true, default: Handlebars },
  'node:fs/promises': { readFile: async () => PDF },
  'react/jsx-runtime': reactRuntime,
};

const PDF = Buffer.from('%PDF-1.7');
const WEBHOOK_SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const KEY = Buffer.alloc(32, 7).toString('base64');
const NUMBER = '2348012345678';

const pem = { privateKeyEncoding: { type: 'pkcs8', format: 'pem' } } as const;
const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;

@common.Injectable()
class OrdersService {
  constructor(@common.Inject(messaging.SmsService) private readonly sms: messaging.SmsService) {}

  async ship(to: string): Promise<string> {
    return (await this.sms.send({ from: 'ACME', to, body: 'On its way' })).id;
  }
}

@common.Module({ providers: [OrdersService], exports: [OrdersService] })
class OrdersModule {}

@common.Module({})
class AppModule {}

class ConfigService {
  getOrThrow(name: string): string {
    return name.endsWith('SECRET') ? WEBHOOK_SECRET : 'https://sms.example.com';
  }
}

@common.Module({ providers: [ConfigService], exports: [ConfigService] })
class ConfigModule {}

/** Values that blocks use without declaring them, beside services: see names-in-blocks.ts. */
const VALUES = {
  ConfigModule,
  ConfigService,
  AppModule,
  OrdersModule,
  OrdersService,
  Order: new EntitySchema({ name: 'order', columns: { id: { type: Number, primary: true } } }),
  apiKey: 'svk_0123456789',
  apiToken: 'tok_0123456789',
  appSecret: 'x'.repeat(32),
  authToken: 'x'.repeat(32),
  baseUrl: 'https://sms.example.com',
  body: 'Hello',
  ed25519Pem: generateKeyPairSync('ed25519', { ...pem, publicKeyEncoding }).privateKey,
  expect,
  jest,
  manager: undefined,
  myProvider: messaging.simulator(),
  myWhatsAppTransport: messaging.simulator(),
  OUR_NUMBER: '2348000000001',
  pdf: PDF,
  phoneNumberId: '106540352242922',
  process: { env: environment() },
  receipt: { id: 'b1', recipients: 1, createdAt: new Date(0), replayed: false },
  rsaPem: generateKeyPairSync('rsa', { modulusLength: 2_048, ...pem, publicKeyEncoding })
    .privateKey,
  secret: 'x'.repeat(32),
  template: { kind: 'template', template: 'sale', language: 'en', params: [] },
  tenant: 'acme',
  to: NUMBER,
  token: 'x'.repeat(32),
  verifyToken: 'x'.repeat(32),
};

function environment(): Readonly<Record<string, string>> {
  const known: Readonly<Record<string, string>> = {
    VERP_KEY: KEY,
    SMPP_URL: 'smpp://app:secret@127.0.0.1:1',
    ERASURE_KEY: KEY,
    VERIFICATION_KEY: KEY,
    SENDGRID_PUBLIC_KEY: generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .publicKey.export({ format: 'der', type: 'spki' })
      .toString('base64'),
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TELNYX_PUBLIC_KEY: KEY,
    SNS_TOPIC_ARN: 'arn:aws:sns:eu-west-1:123456789012:mail',
    PLIVO_AUTH_ID: 'MA'.padEnd(20, 'X'),
  };
  const valueOf = (name: string) =>
    known[name] ?? (/WEBHOOK|CALLBACK/.test(name) ? WEBHOOK_SECRET : 'x'.repeat(32));
  return new Proxy({}, { get: (_, name) => valueOf(String(name)) });
}

export type ModuleOptions = messaging.MessagingOptions & { readonly callbackPath?: string | false };

/**
 * Runs a block in an app, whose services are in `scope`. A name in it takes the place of an export.
 * @returns the messaging modules that the block made, to be booted
 */
export async function runBlock(
  block: Block,
  scope: Readonly<Record<string, unknown>>,
): Promise<common.DynamicModule[]> {
  const made: common.DynamicModule[] = [];
  const { MessagingModule } = messaging;
  const recorded = <M extends common.DynamicModule>(module: M): M => (made.push(module), module);
  const Recorded = Object.assign(Object.create(MessagingModule) as typeof MessagingModule, {
    forRoot: (options: ModuleOptions) => recorded(MessagingModule.forRoot(options)),
    forRootAsync: (options: Parameters<typeof MessagingModule.forRootAsync>[0]) =>
      recorded(MessagingModule.forRootAsync(options)),
  });
  const steps: (() => unknown)[] = [];
  const last: (() => unknown)[] = [];
  /** An app listens at any free port, and is closed in the end. */
  const NestFactory = {
    create: async (module: common.Type, options: common.NestApplicationOptions) => {
      const app = await core.NestFactory.create(module, { ...options, logger: false });
      const listen = app.listen.bind(app);
      last.push(() => app.close());
      return Object.assign(app, { listen: () => listen(0, '127.0.0.1') });
    },
  };
  const replaced: Readonly<Record<string, unknown>> = {
    NestFactory,
    ...scope,
    MessagingModule: Recorded,
  };
  const required = (name: string): object => {
    const found = PACKAGES[name];
    if (!found) throw new Error(`a block imports ${name}; mark it as compile`);
    const others = Object.keys(found).filter((key) => key in replaced);
    return { ...found, ...Object.fromEntries(others.map((key) => [key, replaced[key]])) };
  };
  const runner = {
    beforeEach: (step: () => unknown) => void steps.push(step),
    it: (_: string, step: () => unknown) => void steps.push(step),
    afterEach: (step: () => unknown) => void last.push(step),
  };
  const names = {
    ...runner,
    ...Object.assign({}, ...Object.values(PACKAGES)),
    ...VALUES,
    ...replaced,
  };
  const globals: Record<string, unknown> = { ...names };
  for (const name of ['default', 'module.exports', '__esModule']) delete globals[name];
  const parameters = Object.keys(globals).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
  const run = new Script(
    `(async (require, exports, ${parameters.join(', ')}) => { {${compiled(block)}\n} })`,
  ).runInThisContext() as (...all: unknown[]) => Promise<void>;
  await run(required, {}, ...parameters.map((name) => globals[name]));
  for (const step of [...steps, ...last]) await step();
  return made;
}

function compiled({ code, isTsx }: Block): string {
  const isModule = isTsx || parses(code);
  const { outputText } = ts.transpileModule(isModule ? code : `class Block {\n${code}}`, {
    fileName: isTsx ? 'block.tsx' : 'block.ts',
    compilerOptions: {
      jsx: ts.JsxEmit.ReactJSX,
      esModuleInterop: true,
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  });
  return outputText;
}
