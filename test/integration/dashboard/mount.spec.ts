import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type INestApplication,
  Injectable,
  type NestInterceptor,
  VersioningType,
} from '@nestjs/common';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { map } from 'rxjs';
import { MessagingDashboardModule } from '@dundun/dashboard';
import { describeEachDatabase } from '../../support/databases.js';
import {
  builtPages,
  DashboardApp,
  KeyGuard,
  PLATFORMS,
  type Platform,
  SCRIPT,
} from './dashboard-app.js';

/** As apps have one that wraps every answer. */
@Injectable()
class Wrapping implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_context, next) =>
    next.handle().pipe(map((data: unknown) => ({ data })));
}

const FORMS: readonly (readonly [string, string, (app: INestApplication) => void])[] = [
  ['without a prefix', '', () => undefined],
  ['with a global prefix', '/v1/inner', (app) => app.setGlobalPrefix('v1/inner')],
  [
    'with versions in the path and interceptors',
    '',
    (app) => {
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
      app.useGlobalInterceptors(new Wrapping());
    },
  ],
];

/** Path at which a browser asks for the assets and the API of a page. */
function baseOf(page: string, html: string): string {
  const [, href = ''] = /<base href="([^"]*)"/.exec(html) ?? [];
  return new URL(href, `http://host${page}`).pathname;
}

describeEachDatabase(
  'a mounted dashboard',
  (database) => {
    describe.each(Object.keys(PLATFORMS) as Platform[])('on %s', (platform) => {
      describe.each(FORMS)('%s', (_form, prefix, configure) => {
        let dashboard: DashboardApp;
        const at = `${prefix}/dashboard`;

        beforeAll(async () => {
          const files = await builtPages();
          dashboard = await DashboardApp.start({
            database: database.options(),
            platform,
            configure,
            dashboard: { files },
          });
        });
        afterAll(() => dashboard.close());

        it.each([
          '',
          '/',
          '/messages',
          '/messages/',
          '/messages/0190-7',
          '/settings/webhook/attempts',
          '/messages?status=failed',
        ])('the page at %j finds its assets and its API', async (path) => {
          const { status, text, headers } = await dashboard.get(at + path);
          expect(status).toBe(200);
          expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
          expect(headers.get('content-security-policy')).toContain("default-src 'none'");
          expect(baseOf(at + path, text)).toBe(`${at}/`);
        });

        it('an asset is served for ever, and compressed where the browser can', async () => {
          const { status, text, headers } = await dashboard.get(`${at}/assets/index-abc123.js`);
          expect({ status, text }).toEqual({ status: 200, text: SCRIPT });
          expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
          expect(headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
          expect(headers.get('content-encoding')).toBe('gzip');
          const plain = await dashboard.get(`${at}/assets/index-abc123.js`, {
            'accept-encoding': 'identity',
          });
          expect(plain.text).toBe(SCRIPT);
          expect(plain.headers.get('content-encoding')).toBeNull();
        });

        it.each([
          '/assets/index-old.js',
          '/assets/notes.txt',
          '/assets/..%2Findex.html',
          '/assets',
          '/api',
          '/api/nothing',
          '/api/nothing/else',
        ])('an unknown %s is 404 and no page', async (path) => {
          const { status, body } = await dashboard.get(at + path);
          expect(status).toBe(404);
          expect(body).toMatchObject({ error: { code: 'not_found' } });
        });

        it('the context has the channels of the app', async () => {
          const { status, body, headers } = await dashboard.get(`${at}/api/context`);
          expect(status).toBe(200);
          expect(body).toMatchObject({
            title: 'Messaging',
            tenants: 'all',
            act: false,
            reveal: false,
            simulator: true,
          });
          expect(body.channels.map(({ name }: { name: string }) => name)).toEqual([
            'sms',
            'whatsapp',
            'email',
            'voice',
            'vas',
          ]);
          expect(headers.get('cache-control')).toBe('no-store');
        });

        it.each(['', '/messages', '/assets/index-abc123.js', '/api/context', '/api/nothing'])(
          'the guard refuses %j',
          async (path) => {
            const { status, text } = await dashboard.get(at + path, { 'x-key': 'wrong' });
            expect(status).toBe(403);
            expect(text).not.toContain('<html');
          },
        );
      });
    });

    it('a dashboard with public pages guards only its API', async () => {
      const files = await builtPages();
      const dashboard = await DashboardApp.start({
        database: database.options(),
        dashboard: { files, publicPages: true },
      });
      const closed = { 'x-key': 'wrong' };
      expect((await dashboard.get('/dashboard/messages', closed)).status).toBe(200);
      expect((await dashboard.get('/dashboard/assets/index-abc123.js', closed)).status).toBe(200);
      expect((await dashboard.get('/dashboard/api/context', closed)).status).toBe(403);
      await dashboard.close();
    });

    it.each(Object.keys(PLATFORMS) as Platform[])(
      'behind a proxy that removes a prefix, pages on %s find their assets',
      async (platform) => {
        const files = await builtPages();
        const dashboard = await DashboardApp.start({
          database: database.options(),
          platform,
          dashboard: { files, path: 'admin/messaging' },
        });
        const proxy = createServer((given, answer) => {
          const url = new URL((given.url ?? '').replace('/tools', ''), dashboard.url);
          request(url, { method: given.method, headers: given.headers }, (from) => {
            answer.writeHead(from.statusCode ?? 502, from.headers);
            from.pipe(answer);
          }).end();
        });
        await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
        const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
        try {
          for (const path of ['', '/messages', '/messages/1/reports']) {
            const page = `/tools/admin/messaging${path}`;
            const { status, text } = await dashboard.get(origin + page);
            expect(status).toBe(200);
            const base = baseOf(page, text);
            expect((await dashboard.get(`${origin}${base}assets/index-abc123.js`)).text).toBe(
              SCRIPT,
            );
            expect((await dashboard.get(`${origin}${base}api/context`)).status).toBe(200);
          }
        } finally {
          proxy.closeAllConnections();
          proxy.close();
          await dashboard.close();
        }
      },
    );

    it('without built pages the API is served, and a page names the remedy', async () => {
      const dashboard = await DashboardApp.start({
        database: database.options(),
        dashboard: { files: '/nonexistent' },
      });
      expect((await dashboard.get('/dashboard/api/context')).status).toBe(200);
      const { status, text } = await dashboard.get('/dashboard');
      expect(status).toBe(404);
      expect(text).toContain('not built');
      await dashboard.close();
    });
  },
  ['sqlite'],
);

describe('the options of the dashboard', () => {
  it.each([
    ['no guard', { path: 'x', guard: undefined }, /^guard: is missing; set it to/],
    ['a guard that is none', { path: 'x', guard: class {} }, /^guard: is missing; set it to/],
    ['no path', { path: '', guard: KeyGuard }, /^path: must be/],
    ['a path with a parameter', { path: 'a/:b', guard: KeyGuard }, /^path: must be/],
  ])('%s prevents the boot with the remedy', (_wrong, options, message) => {
    expect(() => MessagingDashboardModule.forRoot(options as never)).toThrow(message);
  });
});
