import {
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  type ModuleMetadata,
  RequestMethod,
} from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { type DashboardOptions, MessagingDashboardModule } from '@dundun/dashboard';
import { MessagingModule, type MessagingOptions, simulator } from '@dundun/messaging';

export const PLATFORMS = {
  express: () => new ExpressAdapter(),
  // As the README says for addresses with a slash at their end.
  fastify: () => new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } }),
};

export type Platform = keyof typeof PLATFORMS;

/** Lets in requests with the header `x-key: open`. */
@Injectable()
export class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return headers['x-key'] === 'open';
  }
}

const PAGE = '<!doctype html><html><head><base href="./" /><title>x</title></head></html>';
export const SCRIPT = `console.log(${JSON.stringify('dashboard '.repeat(200))})`;

/** A directory as a build of the pages leaves it. */
export async function builtPages(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-pages-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'index.html'), PAGE);
  await writeFile(join(directory, 'assets/index-abc123.js'), SCRIPT);
  await writeFile(join(directory, 'assets/notes.txt'), 'not served');
  return directory;
}

export interface DashboardAppOptions {
  readonly database: DataSourceOptions;
  readonly dashboard?: Partial<DashboardOptions>;
  readonly messaging?: Partial<MessagingOptions>;
  readonly platform?: Platform;
  readonly extra?: Pick<ModuleMetadata, 'providers'>;
  /** Before the routes are made. */
  readonly configure?: (app: INestApplication) => void;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows its answer
  readonly body: any;
}

/** An app with a dashboard that listens on a free port. */
export class DashboardApp {
  private constructor(
    readonly app: INestApplication,
    readonly url: string,
  ) {}

  static async start(options: DashboardAppOptions): Promise<DashboardApp> {
    const { database, dashboard, messaging, platform = 'fastify', extra, configure } = options;
    const module = await Test.createTestingModule({
      imports: [
        DiscoveryModule,
        TypeOrmModule.forRoot(database),
        MessagingModule.forRoot({
          ...(messaging?.providers === undefined && {
            transport: simulator({ reportDelay: 1 }),
          }),
          whatsapp: { templates: 'open' },
          callbackPath: false,
          ...messaging,
        }),
        MessagingDashboardModule.forRoot({ path: 'dashboard', guard: KeyGuard, ...dashboard }),
      ],
      ...extra,
    }).compile();
    const app = module.createNestApplication(PLATFORMS[platform](), { logger: ['error'] });
    configure?.(app);
    await app.listen(0, '127.0.0.1');
    return new DashboardApp(app, await app.getUrl());
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answered> {
    return this.call('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answered> {
    return this.call('POST', path, body, headers);
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const answer = await fetch(new URL(path, this.url), {
      method,
      headers: {
        'x-key': 'open',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json');
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }

  /** Method and path of every route below `api/`. */
  routes(): { method: 'GET' | 'POST'; path: string }[] {
    const discovery = this.app.get(DiscoveryService, { strict: false });
    return discovery.getControllers().flatMap(({ metatype, instance }) => {
      const at = Reflect.getMetadata(PATH_METADATA, metatype ?? Object) as string | undefined;
      if (at !== 'dashboard') return [];
      const names = new MetadataScanner().getAllMethodNames(
        Object.getPrototypeOf(instance) as object,
      );
      return names.flatMap((name) => {
        const handler = (instance as Record<string, object>)[name] as object;
        const path = Reflect.getMetadata(PATH_METADATA, handler) as string | undefined;
        const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
        if (path === undefined || !path.startsWith('api/')) return [];
        return [
          {
            method: method === RequestMethod.POST ? ('POST' as const) : ('GET' as const),
            path: `/dashboard/${path}`,
          },
        ];
      });
    });
  }

  close(): Promise<void> {
    return this.app.close();
  }
}
