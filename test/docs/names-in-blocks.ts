import type * as dashboard from '@dundun/dashboard';
import type * as messaging from '@dundun/messaging';
import type * as bullmq from '@dundun/messaging/bullmq';
import type * as queue from '@dundun/messaging/queue';
import type * as smtp from '@dundun/messaging/smtp';
import type * as terminus from '@dundun/messaging/terminus';
import type * as testing from '@dundun/messaging/testing';
import type * as smpp from '@dundun/smpp';
import type * as jestGlobals from '@jest/globals';
import type * as common from '@nestjs/common';
import type * as core from '@nestjs/core';
import type * as events from '@nestjs/event-emitter';
import type * as nestTerminus from '@nestjs/terminus';
import type * as nestTesting from '@nestjs/testing';
import type * as nestTypeOrm from '@nestjs/typeorm';
import type { DataSource, EntityManager } from 'typeorm';

/** The packages of the program, for block-program.ts. */
export type Packages = [
  typeof dashboard,
  typeof messaging,
  typeof bullmq,
  typeof queue,
  typeof smtp,
  typeof terminus,
  typeof testing,
  typeof smpp,
  typeof common,
  typeof core,
  typeof events,
  typeof nestTerminus,
  typeof nestTesting,
  typeof nestTypeOrm,
];

/** Names that blocks use without declaring them: services that an app injects, and values of its own. */
declare global {
  const sms: messaging.SmsService;
  const contacts: messaging.ContactsService;
  const whatsApp: messaging.WhatsAppService;
  const email: messaging.EmailService;
  const voice: messaging.VoiceService;
  const holds: messaging.HoldsService;
  const operations: messaging.MessagingOperations;
  /** In blocks about tests, the tester. */
  const messaging: messaging.MessagingService & testing.MessagingTester;
  const verification: messaging.VerificationService;
  const notifications: messaging.NotificationService;
  const manager: EntityManager;
  const dataSource: DataSource;
  const to: string;
  const body: string;
  const tenant: string;
  const secret: string;
  const baseUrl: string;
  const apiToken: string;
  const authToken: string;
  const token: string;
  const phoneNumberId: string;
  const appSecret: string;
  const verifyToken: string;
  const code: string;
  const unknownId: string;
  const OUR_NUMBER: string;
  const pdf: Buffer;
  const rsaPem: string;
  const ed25519Pem: string;
  const myProvider: messaging.TransportFactory;
  const myWhatsAppTransport: messaging.TransportFactory;
  const template: messaging.MessageContent;
  const templates: {
    readonly order_update: messaging.Template<readonly ['name', 'order']>;
    readonly sale: messaging.Template;
  };
  const AppModule: common.Type;
  const OrdersModule: common.Type;
  class OrdersService {
    constructor(sms?: messaging.SmsService);
    ship(phone: string): Promise<string>;
  }
  const Order: common.Type;
  const receipt: messaging.Receipt;
  const jest: typeof jestGlobals.jest;
  const AdminGuard: common.Type<common.CanActivate>;
  const expect: typeof jestGlobals.expect;
  function settle(messageId: string | undefined, state: unknown): Promise<void>;
  function receive(pdu: unknown): Promise<void>;
  function isKnown(systemId: string, password: string): boolean;
  function accept(systemId: string, pdu: unknown): Promise<string>;

  /** `@nestjs/config` is not installed in this repository. */
  const ConfigModule: common.Type;
  class ConfigService {
    getOrThrow(key: string): string;
  }
}

declare module 'expect' {
  interface Matchers<
    R extends void | Promise<void>,
    T = unknown,
  > extends testing.MessagingMatchers<R> {}
}
