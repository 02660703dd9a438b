import { withMigrationLock } from '@dundun/messaging/migrations';
import { HoldsService } from '@dundun/messaging/operations';
import { type EngineFactory, MESSAGING_TRACING } from '@dundun/messaging/ports';
import { Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { AccountReads, endReads } from './accounts/account-reads.js';
import { AuthGuard } from './accounts/auth.guard.js';
import { limitCallbackFailures } from './accounts/callback-failures.js';
import { BodyBudget, guardLargeBodies } from './accounts/large-bodies.js';
import { AccountsService } from './accounts/accounts.service.js';
import { RequestLimits } from './accounts/limits.js';
import { logRequests, RequestLog } from './accounts/request-log.js';
import { AppModule } from './app.module.js';
import { CARRIER_CALLBACK_BYTES, isCarrierCallback } from './carriers/carriers.js';
import { destroyWithin } from './config/database.js';
import { type Environment, EnvironmentError, settingErrorOf } from './config/environment.js';
import { listenRemedyOf } from './config/listen-remedies.js';
import { type GatewayChannel, GatewayChannels } from './channel.js';
import { CHANNELS } from './channels/index.js';
import { DEMO_NAME, type DemoAccount } from './accounts/demo-account.js';
import { DemoBilling } from './billing/demo-billing.js';
import { RateCards } from './billing/rate-cards/rate-cards.service.js';
import { HttpFront } from './http-front.js';

import { takeFiles, takeForms, takeJson, takeTexts } from './http/body-parsers.js';
import { serveOpenApi } from './openapi.document.js';
import { openGatewayDatabase } from './gateway-database.js';
import { PortalGuard } from './portal/portal.guard.js';
import { isProbeAnswer } from './probes/probes.controller.js';
import { guardPortalHosts, isPortalRoute, leadToPortal } from './portal/portal-request.js';
import { paceBursts } from './portal/sign-in/paced.js';
import { SetUpLinks, setupLink } from './portal/sign-in/set-up-links.js';
import { smppTls } from './smpp/smpp-tls.js';
import { StartProgress } from './start-progress.js';

/** Longest time, in ms, that a failed start takes to close what it has opened. */
const CLOSE_WITHIN = 5_000;

/**
 * Connections that the system accepts while the process is in one turn of its event loop. Of more it
 * drops the first packet, and their clients wait one second, then three. Node's own number is 511.
 */
const BACKLOG = 4_096;

export interface Gateway {
  readonly app: NestFastifyApplication;
  /** Base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The account created by the first start outside production. */
  readonly demo: DemoAccount | undefined;
  /** Refuses new requests, finishes those under way, then closes all resources. */
  stop(): Promise<void>;
}

interface StartOptions {
  /** Channels of the gateway. @default all of `src/channels` */
  readonly channels?: readonly GatewayChannel[] | undefined;
  /** Longest time, in ms, without progress. @default 30_000 */
  readonly patience?: number | undefined;
}

/**
 * Starts a gateway, which waits for a database that is away or that another process migrates.
 * @throws EnvironmentError, StalledStartError, or the error that prevented the start; resources are
 * closed then
 */
export async function startGateway(
  environment: Environment,
  logger: LoggerService,
  { channels = CHANNELS, patience }: StartOptions = {},
): Promise<Gateway> {
  Logger.overrideLogger(logger);
  // Before anything is opened.
  smppTls(environment);
  return StartProgress.of((progress) => start(environment, logger, channels, progress), patience);
}

async function start(
  environment: Environment,
  logger: LoggerService,
  channels: readonly GatewayChannel[],
  progress: StartProgress,
): Promise<Gateway> {
  const isWorker = environment.ROLE === 'worker';
  const dataSource = await openGatewayDatabase(environment, 'never', progress.goOn);
  const front = new HttpFront(environment);
  let app: NestFastifyApplication | undefined;
  try {
    progress.reach('modules');
    const module = AppModule.for(environment, dataSource, channels, await engineOf(environment));
    // The gateway reads bodies itself.
    const options = { logger, bodyParser: false, abortOnError: false };
    app = await NestFactory.create<NestFastifyApplication>(module, front.adapter, options);
    if (app.get(MESSAGING_TRACING, { strict: false })) front.continueTraces();
    const isSelfVerified = (route: string | undefined) =>
      isCarrierCallback(route) || isProbeAnswer(route);
    const auth = app.get(AuthGuard, { strict: false });
    const { callbackFailures } = app.get(RequestLimits, { strict: false });
    if (callbackFailures) limitCallbackFailures(front.adapter, callbackFailures, isSelfVerified);
    logRequests(front.adapter, app.get(RequestLog, { strict: false }));
    endReads(front.adapter, app.get(AccountReads, { strict: false }));
    const portal = isWorker ? undefined : app.get(PortalGuard, { strict: false });
    if (portal) {
      guardPortalHosts(front.adapter.getInstance(), environment);
      leadToPortal(front.adapter.getInstance());
      paceBursts(front.adapter.getInstance());
    }
    const bodies = new Map(channels.flatMap((channel) => Object.entries(channel.bodies ?? {})));
    const bodyOf = (route = '') => bodies.get(route) ?? {};
    const isFile = (route?: string) => bodyOf(route).as === 'file';
    guardLargeBodies(front.adapter, {
      budget: new BodyBudget(environment.BODY_BUDGET, environment.CREDENTIAL_BODY_BUDGET),
      recognise: (request) =>
        (portal && isPortalRoute(request.routeOptions.url, { api: true })
          ? portal
          : auth
        ).recognise(request),
      isSelfVerified,
      limitOf: (route) =>
        isSelfVerified(route)
          ? Math.min(CARRIER_CALLBACK_BYTES, environment.BODY_LIMIT)
          : bodyOf(route).bytes,
    });
    const { DOCS = environment.NODE_ENV !== 'production' } = environment;
    takeJson(front.adapter.getInstance(), {
      raw: isSelfVerified,
      mostOf: (route) => bodyOf(route).fields,
    });
    takeForms(front.adapter.getInstance(), {
      unread: (route) => bodyOf(route).as === 'unread',
      raw: (route) => environment.carriers.takeForms && isCarrierCallback(route),
    });
    takeTexts(front.adapter.getInstance(), {
      taken: (route) => environment.carriers.takeTexts && isCarrierCallback(route),
      raw: isFile,
    });
    takeFiles(front.adapter.getInstance(), isFile);
    if (!isWorker) serveOpenApi(app, { page: DOCS });
    progress.reach('services');
    await init(app, environment);
    progress.reach('listener');
    front.registerMethodNotAllowed();
    await listen(app, environment);
    const url = await app.getUrl();
    const running = app;
    progress.reach('account');
    const demo =
      environment.NODE_ENV === 'production' || isWorker
        ? undefined
        : await withMigrationLock(dataSource, () => createDemo(running, url), {
            onProgress: progress.goOn,
          });
    progress.reach('ready');
    const restored = await app.get(HoldsService, { strict: false }).restoredSince();
    const { ROLE: role, carriers } = environment;
    const carrier = carriers.main.join(', ');
    if (environment.SECRETS_KEY === undefined)
      new Logger('Secrets').warn('secrets are stored in clear; set SECRETS_KEY to encrypt them');
    new Logger('Gateway').log({ message: 'listening', url, carrier, role });
    if (restored)
      new Logger('Gateway').warn({
        message:
          'this database is a restored backup: messages are accepted and none is sent; run `npx dundun restore --check`, then `npx dundun lanes release`',
        restored,
      });
    return { app, url, demo, stop: stopOf(front, app) };
  } catch (error) {
    await closeWithin(app, dataSource);
    throw settingErrorOf(error, environment);
  }
}

/** Closes what a failed start has opened, as far as that ends by itself. */
async function closeWithin(
  app: NestFastifyApplication | undefined,
  dataSource: DataSource,
): Promise<void> {
  if (!app) return destroyWithin(dataSource);
  const closed = app.close().catch(() => undefined);
  await Promise.race([closed, wait(CLOSE_WITHIN, undefined, { ref: false })]);
}

/** The account of the first start, with what its channels need and the link to set up its first user. */
async function createDemo(
  app: NestFastifyApplication,
  url: string,
): Promise<DemoAccount | undefined> {
  const links = app.get(SetUpLinks, { strict: false });
  const demos = app.get(GatewayChannels).all.flatMap(({ demo }) => demo ?? []);
  const billing = app.get(DemoBilling, { strict: false });
  let setup = '';
  let balance = '';
  const created = await app
    .get(AccountsService)
    .createFirst(DEMO_NAME, async (manager, accountId) => {
      for (const { add } of demos) await add(manager, accountId, app);
      balance = await billing.add(manager, accountId);
      setup = setupLink(url, await links.firstLink(manager, accountId));
    });
  if (!created) return undefined;
  await app.get(RateCards, { strict: false }).reread();
  return { ...created, setup, balance, examples: demos.map(({ example }) => example) };
}

function stopOf(front: HttpFront, app: NestFastifyApplication): () => Promise<void> {
  return async () => {
    const began = performance.now();
    await front.whileClosing(() => app.close());
    const ms = Math.round(performance.now() - began);
    new Logger('Gateway').log({ message: 'stopped', ms });
  };
}

/** `undefined`: polling the database. BullMQ is loaded only where it is selected. */
async function engineOf({
  ENGINE,
  REDIS_URL = '',
}: Environment): Promise<EngineFactory | undefined> {
  if (ENGINE === 'database') return undefined;
  const { bullMq } = await import('@dundun/messaging/bullmq');
  return bullMq({ connection: REDIS_URL, queue: 'dundun' });
}

/** Starts the modules, and with them the listener for mail. @throws EnvironmentError */
async function init(
  app: NestFastifyApplication,
  { EMAIL_LISTEN }: Pick<Environment, 'EMAIL_LISTEN'>,
): Promise<void> {
  try {
    await app.init();
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    const [, remedy] = listenRemedyOf(error) ?? [];
    const isOfListener = syscall === 'listen' || syscall === 'getaddrinfo';
    if (!EMAIL_LISTEN || !isOfListener || remedy === undefined) throw error;
    const { host, port } = EMAIL_LISTEN;
    throw new EnvironmentError([`EMAIL_LISTEN "${host}:${port}": ${remedy}`], { cause: error });
  }
}

/** @throws EnvironmentError */
async function listen(app: NestFastifyApplication, environment: Environment): Promise<void> {
  try {
    const { PORT: port, HOST: host } = environment;
    await app.listen({ port, host, backlog: BACKLOG });
  } catch (error) {
    const [name, remedy] = listenRemedyOf(error) ?? [];
    if (name === undefined) throw error;
    throw new EnvironmentError([`${name} "${environment[name]}": ${remedy}`], { cause: error });
  }
}
