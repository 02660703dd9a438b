import type * as messaging from '@dundun/messaging';
import type * as operationsEntry from '@dundun/messaging/operations';
import type * as testing from '@dundun/messaging/testing';
import type * as jestGlobals from '@jest/globals';
import type * as common from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';

/** Names that blocks use without declaring them: services that an app injects, and values of its own. */
declare global {
  const sms: messaging.SmsService;
  const contacts: messaging.ContactsService;
  const whatsApp: messaging.WhatsAppService;
  const email: messaging.EmailService;
  const voice: messaging.VoiceService;
  const vas: messaging.VasService;
  const holds: operationsEntry.HoldsService;
  const operations: operationsEntry.MessagingOperations;
  /** In blocks about tests, the tester. */
  const messaging: messaging.MessagingService & testing.MessagingTester;
  const verification: messaging.VerificationService;
  const notifications: messaging.NotificationService;
  const notifier: messaging.Notifier;
  const policy: messaging.PolicyService;
  const app: common.INestApplicationContext;
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
  class Order {
    id: number;
    phone: string;
  }
  function charge(order: Order): Promise<void>;
  const receipt: messaging.Receipt;
  const jest: typeof jestGlobals.jest;
  const { afterEach, beforeEach, it }: typeof jestGlobals;
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
