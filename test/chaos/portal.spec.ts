import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { newSecret } from '../../src/accounts/credentials.js';
import { Processes, type RunningGateway } from '../e2e/gateway/built-gateway.js';
import { buildGateway, buildPages } from '../support/builds.js';
import { codeOf, PASSWORD } from '../e2e/portal/portal-client.js';
import { Browser } from '../support/browser.js';
import { describeEachDatabase } from '../support/databases.js';
import { freePort } from '../support/free-port.js';
import { describeWithServer } from '../support/servers.js';
import { audit, ORDERED } from './audit.js';
import { CompiledSources } from './compiled-sources.js';
import { LaneOrders } from './order.js';
import { seedOf } from './processes/chance.js';
import { Seed } from './seed.js';
import { until } from './until.js';
import { Upstream } from './upstream.js';

/** Sends of one message each, and kills while they are sent. */
const { messages, kills } =
  process.env['CHAOS'] === 'full' ? { messages: 300, kills: 10 } : { messages: 45, kills: 3 };

const CALLERS = 4;
const PAGES = ['overview', 'messages', 'batches'];

/** Phases of a batch to which nothing more happens. */
const ENDED = 5;

describeWithServer('chromium', 'with pages of the portal open', () => {
  beforeAll(async () => {
    await buildGateway();
    await buildPages();
  });

  describeEachDatabase(
    'kill -9 of the gateway',
    (database) => {
      let processes: Processes;
      let upstream: Upstream | undefined;
      let browser: Browser | undefined;
      afterEach(async () => {
        await browser?.close();
        await processes.destroy();
        await upstream?.stop();
      });

      it('kill -9 of the gateway loses and doubles no message, each lane keeps its order, and the pages catch up without a reload', async () => {
        processes = new Processes();
        const seed = new Seed();
        seed.begin('portal');
        const sources = await CompiledSources.make();
        const script = sources.path('upstream.process.js');
        upstream = await Upstream.start(script, seedOf(seed.value, 'upstream'));
        const settings = {
          PORT: String(await freePort()),
          DATABASE_URL: database.url,
          LEASE: '2s',
          CARRIER: 'http',
          CARRIER_URL: upstream.url,
          CARRIER_TOKEN: newSecret('api_token'),
          CARRIER_CALLBACK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
        };
        const lanes = new LaneOrders();
        const requests = sources.path('gateway-requests.process.js');
        const startGateway = () =>
          processes.gatewayWith(requests, settings, (child) => lanes.follow(child));
        let gateway: RunningGateway = await startGateway();
        const { url } = gateway;
        const [, token = ''] = await gateway.told(/(tok_\w+)/);
        const [link] = await gateway.told(/http\S+\/portal\/setup#code=[\w-]{43}/);
        const setUp = await fetch(`${url}/portal/api/setup`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
          body: JSON.stringify({
            code: codeOf(link),
            email: 'ada@example.com',
            password: PASSWORD,
          }),
        });
        await setUp.arrayBuffer();
        browser = await Browser.open(url, setUp.headers.getSetCookie()[0]?.split(';')[0]);
        const pages: Page[] = [];
        for (const name of PAGES) {
          const page = await browser.page();
          await page.goto(`${url}/portal/${name}`);
          await page.locator('main h1').first().waitFor();
          await page.evaluate('window.notReloaded = true');
          pages.push(page);
        }

        const accepted: string[] = [];
        const send = async (n: number): Promise<void> => {
          const key = `chaos-${n}`;
          lanes.calling(key);
          for (;;) {
            const answer = await fetch(`${url}/ng/v1/sendsms`, {
              method: 'POST',
              headers: {
                authorization: `Bearer ${token}`,
                'content-type': 'application/json',
                'idempotency-key': key,
              },
              body: JSON.stringify({ from: 'ACME', to: [`23480${10_000_000 + n}`], body: 'Chaos' }),
            }).catch(() => undefined);
            const body = (await answer?.json().catch(() => ({}))) as { reference_id?: string };
            if (answer?.ok && body.reference_id) {
              accepted.push(body.reference_id);
              lanes.accepted(key, body.reference_id);
              return;
            }
            await pause(50);
          }
        };
        let next = 0;
        const sending = Array.from({ length: CALLERS }, async () => {
          while (next < messages) {
            await send(next++);
            await pause(seed.below(60));
          }
        });
        for (let kill = 1; kill <= kills; kill++) {
          const enough = () => accepted.length >= (messages * kill) / (kills + 1);
          await until(enough, 60_000, 'sends are accepted');
          await pause(seed.below(100));
          await gateway.stop('SIGKILL');
          gateway = await startGateway();
        }
        await Promise.all(sending);
        const store = await database.open();
        const open = async () => {
          const [row] = (await store.query(
            `SELECT count(*) AS n FROM messaging_batch WHERE state < ${ENDED}`,
          )) as { n: string | number }[];
          return Number(row?.n) === 0;
        };
        await until(open, 60_000, 'every batch ends');

        const book = await upstream.book();
        const findings = await audit(store, book, new Map(), await upstream.refused());
        const passed = await lanes.passed(store);
        expect({ ...findings, passed }).toMatchObject({ ...ORDERED, unknown: [], messages });
        expect(new Set(accepted).size).toBe(messages);
        const known = (await store.query('SELECT id FROM messaging_batch')) as { id: string }[];
        expect(known.map(({ id }) => id).toSorted()).toEqual(accepted.toSorted());

        const [overview, list, batches] = pages as [Page, Page, Page];
        const funnel = overview.getByRole('list', { name: 'Funnel' }).getByRole('listitem');
        await funnel.first().getByText(String(messages), { exact: true }).waitFor();
        await funnel.nth(1).getByText(String(messages), { exact: true }).waitFor();
        const shown = Math.min(messages, 50);
        for (const [page, status] of [
          [list, 'sent'],
          [batches, 'completed'],
        ] as const) {
          const rows = page.locator('main tbody tr').filter({ hasText: status });
          await rows.nth(shown - 1).waitFor();
          expect(await rows.count()).toBe(shown);
        }
        for (const page of pages) expect(await page.evaluate('window.notReloaded')).toBe(true);
      });
    },
    ['sqlite', 'postgres'],
  );
});
