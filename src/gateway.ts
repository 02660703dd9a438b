import {
  type EngineFactory,
  HoldsService,
  MESSAGING_TRACING,
  VasService,
  withMigrationLock,
} from '@dundun/messaging';
import { Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthGuard } from './accounts/auth.guard.js';
import { limitCallbackFailures } from './accounts/callback-failures.js';
import { BodyBudget, guardLargeBodies } from './accounts/large-bodies.js';
import { AccountsService, type CreatedAccount } from './accounts/accounts.service.js';
import { RequestLimits } from './accounts/limits.js';
import { AppModule } from './app.module.js';
import { fileCarriers } from './carriers/file-carriers.js';
import { CARRIER_CALLBACK_BYTES, isCarrierCallback } from './carriers.js';
import { type Environment, EnvironmentError } from './config/environment.js';
import { listenRemedyOf } from './config/listen-remedies.js';
import { emailBodyLimits } from './email/email-bodies.js';
import { DEMO_CAPS, DEMO_NAME, DEMO_SENDER } from './accounts/demo-account.js';
import { DomainsService } from './email/domains.service.js';
import { isUnsubscribe } from './email/unsubscribe.controller.js';
import { HttpFront } from './http-front.js';
import { takeForms } from './http/form-body.js';
import { takeJson } from './http/json-body.js';
import { serveOpenApi } from './openapi.document.js';
import { openGatewayDatabase } from './gateway-database.js';
import { PortalGuard } from './portal/portal.guard.js';
import { guardPortalHosts, isPortalRoute } from './portal/portal-request.js';
import { SetUpLinks, setupLink } from './portal/set-up-links.js';
import { smppTls } from './smpp/smpp-tls.js';
import { CallersService } from './voice/callers.service.js';

interface FirstAccount extends CreatedAccount {
  /** One-time link for the first user of the portal. */
  readonly setup: string;
}

export interface Gateway {
  readonly app: NestFastifyApplication;
  /** Base URL, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The account created by the first start outside production. */
  readonly demo: FirstAccount | undefined;
  /** Refuses new requests, finishes those under way, then closes all resources. */
  stop(): Promise<void>;
}

/** @throws EnvironmentError, or the error that prevented the start; resources are closed then */
export async function startGateway(
  environment: Environment,
  logger: LoggerService,
): Promise<Gateway> {
  Logger.overrideLogger(logger);
  const isWorker = environment.ROLE === 'worker';
  // Before anything is opened.
  fileCarriers(environment);
  smppTls(environment);
  const dataSource = await openGatewayDatabase(environment, 'never');
  const front = new HttpFront(environment);
  let app: NestFastifyApplication | undefined;
  try {
    const module = AppModule.for(environment, dataSource, await engineOf(environment));
    // The gateway reads bodies itself.
    const options = { logger, bodyParser: false, abortOnError: false };
    app = await NestFactory.create<NestFastifyApplication>(module, front.adapter, options);
    if (app.get(MESSAGING_TRACING, { strict: false })) front.continueTraces();
    const auth = app.get(AuthGuard, { strict: false });
    const { callbackFailures } = app.get(RequestLimits, { strict: false });
    if (callbackFailures) limitCallbackFailures(front.adapter, callbackFailures, isCarrierCallback);
    const portal = isWorker ? undefined : app.get(PortalGuard, { strict: false });
    if (portal) guardPortalHosts(front.adapter.getInstance(), environment);
    guardLargeBodies(front.adapter, {
      budget: new BodyBudget(environment.BODY_BUDGET, environment.CREDENTIAL_BODY_BUDGET),
      recognise: (request) =>
        (portal && isPortalRoute(request.routeOptions.url, { api: true })
          ? portal
          : auth
        ).recognise(request),
      isSelfVerified: isCarrierCallback,
      limitOf: (route) =>
        isCarrierCallback(route)
          ? Math.min(CARRIER_CALLBACK_BYTES, environment.BODY_LIMIT)
          : emailBodyLimits(route)?.bytes,
    });
    const { DOCS = environment.NODE_ENV !== 'production' } = environment;
    takeJson(front.adapter.getInstance(), {
      raw: isCarrierCallback,
      mostOf: (route) => emailBodyLimits(route)?.fields,
    });
    takeForms(front.adapter.getInstance(), {
      unread: isUnsubscribe,
      raw: (route) =>
        (environment.VOICE_CARRIER === 'twilio' || environment.written !== undefined) &&
        isCarrierCallback(route),
    });
    if (!isWorker) serveOpenApi(app, { page: DOCS });
    await init(app, environment);
    front.registerMethodNotAllowed();
    await listen(app, environment);
    const url = await app.getUrl();
    const running = app;
    const demo =
      environment.NODE_ENV === 'production' || isWorker
        ? undefined
        : await withMigrationLock(dataSource, () => createDemo(running, url));
    const { CARRIER, ROLE: role, written } = environment;
    const carrier = written ? Object.keys(written.carriers).join(', ') : CARRIER;
    if (environment.SECRETS_KEY === undefined)
      new Logger('Secrets').warn('secrets are stored in clear; set SECRETS_KEY to encrypt them');
    new Logger('Gateway').log({ message: 'listening', url, carrier, role });
    const restored = await app.get(HoldsService, { strict: false }).restoredSince();
    if (restored)
      new Logger('Gateway').warn({
        message:
          'this database is a restored backup: messages are accepted and none is sent; run `npx dundun restore --check`, then `npx dundun lanes release`',
        restored,
      });
    return { app, url, demo, stop: stopOf(front, app) };
  } catch (error) {
    await (app ? app.close() : dataSource.destroy());
    throw error;
  }
}

/** The account of the first start, with its domain, its caller id and the link to set up its first user. */
async function createDemo(
  app: NestFastifyApplication,
  url: string,
): Promise<FirstAccount | undefined> {
  const domains = app.get(DomainsService, { strict: false });
  const callers = app.get(CallersService, { strict: false });
  const links = app.get(SetUpLinks, { strict: false });
  const vas = app.get(VasService, { strict: false });
  let setup = '';
  const created = await app
    .get(AccountsService)
    .createFirst(DEMO_NAME, DEMO_SENDER, async (manager, accountId) => {
      await domains.addDemo(manager, accountId);
      await callers.addDemo(manager, accountId);
      await vas.allow(DEMO_CAPS, { tenant: accountId, manager });
      setup = setupLink(url, await links.firstLink(manager, accountId));
    });
  return created && { ...created, setup };
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
    await app.listen(environment.PORT, environment.HOST);
  } catch (error) {
    const [name, remedy] = listenRemedyOf(error) ?? [];
    if (name === undefined) throw error;
    throw new EnvironmentError([`${name} "${environment[name]}": ${remedy}`], { cause: error });
  }
}
