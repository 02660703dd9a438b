import { type ListedMessage, MessagingConfigError, type SendOptions } from '@dundun/messaging';
import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';

/** Rights of a caller, for one request. */
export interface DashboardAccess {
  /** Tenants whose data the caller sees; of others every id is unknown. */
  readonly tenants: readonly string[] | 'all';
  /** Send, cancel, reschedule, resend, import contacts, answer as a simulated customer. */
  readonly act: boolean;
  /** Whole addresses, names and content; otherwise the server masks them. */
  readonly reveal: boolean;
  /** Lanes and providers of the whole app; with `act` settle messages. @default `tenants` is `'all'` */
  readonly operate?: boolean;
  /** Name of the caller, in 1 to 255 characters, beside what the caller settles. @default 'dashboard' */
  readonly by?: string;
}

/** Request of Express or Fastify. */
export interface DashboardRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly [property: string]: unknown;
}

/** Something that a caller did or revealed. */
export interface AuditEntry {
  readonly action:
    | 'message.revealed'
    | 'message.sent'
    | 'message.resent'
    | 'message.settled'
    | 'messages.exported'
    | 'batch.cancelled'
    | 'batch.rescheduled'
    | 'lane.resumed'
    | 'contacts.imported'
    | 'contacts.exported'
    | 'contact.revealed'
    | 'contact.file_downloaded'
    | 'phone.replied'
    | 'phone.reported';
  /** Tenant of the subject; `null`: of several tenants, or of none. */
  readonly tenant: string | null;
  /** Id of the message or batch, or name of the lane; `null`: there is none. */
  readonly subject: string | null;
}

/** TypeORM's `EntityManager`. */
export type AuditManager = NonNullable<SendOptions['manager']>;

/** A send, before the library accepts it. */
export interface SendCheck {
  readonly tenant: string;
  readonly channel: string;
  readonly from: string | undefined;
  readonly content: { readonly kind: string; readonly [field: string]: unknown };
}

/** A decimal text with its currency. */
export interface MessagePrice {
  readonly amount: string;
  readonly currency: string;
}

export interface DashboardSettings {
  /** Called for each request of the API. @default all tenants, read-only and masked */
  readonly access?: (request: DashboardRequest) => DashboardAccess | Promise<DashboardAccess>;
  /**
   * Called for each entry. A failure fails the request, and the change with it.
   * @param manager of the transaction of the change; without it the entry comes before a reveal, an
   * export, an import, or an action as the simulator
   * @default entries go nowhere
   */
  readonly audit?: (
    entry: AuditEntry,
    request: DashboardRequest,
    manager?: AuditManager,
  ) => void | Promise<void>;
  /** Refuses a send, a resend or an estimate by throwing. @default accepts all */
  readonly checkSend?: (message: SendCheck, request: DashboardRequest) => void | Promise<void>;
  /**
   * What tenants are charged for messages, by the message's id; those that are free are left out. With
   * it, only callers who may `operate` see what providers report as the cost.
   * @default messages have no price, and all callers see the cost
   */
  readonly prices?: (
    messages: readonly ListedMessage[],
  ) => ReadonlyMap<string, MessagePrice> | Promise<ReadonlyMap<string, MessagePrice>>;
  /** Name in the title. @default 'Messaging' */
  readonly title?: string;
  /** Text of the badge beside the title, such as `production`. @default no badge */
  readonly environment?: string;
  /** Milliseconds between two polls of a page, 500 to 60000. @default 1000 */
  readonly pollInterval?: number;
  /**
   * The app has a route of its own at `api/live` below the path, with server-sent events named `change`, whose
   * `data` is the JSON of `ChangesAnswer` for the tenants that the caller sees. @default the pages poll
   */
  readonly live?: boolean;
}

/** Options that the routes are made from, which a factory cannot give. */
export interface DashboardMount {
  /** Such as `admin/messaging`. */
  readonly path: string;
  /**
   * Lets requests in. A class is taken from the app's providers, or created; its dependencies are
   * then providers of `imports`.
   */
  readonly guard: Type<CanActivate> | CanActivate;
  /** Modules with the dependencies of the guard. @default none */
  readonly imports?: ModuleMetadata['imports'];
  /** The guard protects the API alone: pages and assets hold no data. @default false */
  readonly publicPages?: boolean;
  /** Directory of the built pages: `index.html` and `assets/`. @default the package's own */
  readonly files?: string | URL;
}

export interface DashboardOptions extends DashboardMount, DashboardSettings {}

export interface DashboardAsyncOptions extends DashboardMount {
  // oxlint-disable-next-line typescript/no-explicit-any -- as in Nest's own FactoryProvider
  readonly inject?: any[];
  // oxlint-disable-next-line typescript/no-explicit-any -- as in Nest's own FactoryProvider
  readonly useFactory: (...dependencies: any[]) => DashboardSettings | Promise<DashboardSettings>;
}

const PATH = /^[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/;

/** @throws MessagingConfigError naming the option and the remedy */
export function checkedMount(mount: DashboardMount): DashboardMount & { readonly path: string } {
  const { guard } = mount;
  const path = typeof mount.path === 'string' ? mount.path.replace(/^\/|\/$/g, '') : '';
  if (!PATH.test(path))
    throw new MessagingConfigError(
      "path: must be one or several segments of letters, digits and -._~, such as 'admin/messaging'",
    );
  const target: unknown = typeof guard === 'function' ? guard.prototype : guard;
  if (typeof (target as Partial<CanActivate> | undefined)?.canActivate !== 'function')
    throw new MessagingConfigError(
      'guard: is missing; set it to a guard that lets in the people who may see messages, such as the guard of your admin pages',
    );
  return { ...mount, path };
}

export type DashboardState = Required<Omit<DashboardSettings, 'environment' | 'prices'>> &
  Pick<DashboardSettings, 'prices'> & { readonly environment: string | null };

/** @throws MessagingConfigError */
export function settingsOf(given: DashboardSettings): DashboardState {
  const { pollInterval = 1_000, title = 'Messaging', environment = null, live = false } = given;
  const all = { tenants: 'all', act: false, reveal: false } as const;
  if (!(Number.isInteger(pollInterval) && pollInterval >= 500 && pollInterval <= 60_000))
    throw new MessagingConfigError('pollInterval: must be 500 to 60000 milliseconds');
  for (const name of ['access', 'audit', 'checkSend', 'prices'] as const)
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw new MessagingConfigError(`${name}: must be a function`);
  return {
    access: given.access ?? (() => all),
    audit: given.audit ?? (() => undefined),
    checkSend: given.checkSend ?? (() => undefined),
    ...(given.prices && { prices: given.prices }),
    title,
    environment,
    pollInterval,
    live,
  };
}

export const DASHBOARD_SETTINGS = Symbol('DASHBOARD_SETTINGS');
export const DASHBOARD_MOUNT = Symbol('DASHBOARD_MOUNT');
