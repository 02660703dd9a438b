import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PrivateRedis } from '../../chaos/private-redis.js';
import { describeEachDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { describeUnless } from '../../support/servers.js';
import { Processes, type RunningGateway } from './built-gateway.js';
import { buildGateway } from '../../support/builds.js';

describeUnless(
  PrivateRedis.missing,
  'processes that accept and processes that dispatch on redis',
  () => {
    describeEachDatabase(
      'gateways that share a Redis',
      (database) => {
        const processes = new Processes();
        let redis: PrivateRedis;
        let settings: Record<string, string>;
        let api: RunningGateway;
        let worker: RunningGateway;
        let token: string;

        const call = async (
          method: string,
          path: string,
          body?: unknown,
          on = api,
          credential = token,
        ) => {
          const response = await fetch(on.url + path, {
            method,
            headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          return {
            status: response.status,
            body: (await response.json()) as Record<string, unknown>,
          };
        };
        const send = async (): Promise<string> => {
          const message = { from: 'ACME', to: ['2348012345678'], body: 'Hello' };
          const { status, body } = await call('POST', '/ng/v1/sendsms', message);
          expect(status).toBe(200);
          return String(body['reference_id']);
        };
        const expectDelivered = (id: string) =>
          eventually(async () => {
            const { body } = await call('GET', `/ng/v1/sms/${id}`);
            expect(body).toMatchObject({ status: 'completed', counts: { delivered: 1 } });
          });

        beforeAll(async () => {
          await buildGateway();
          redis = await PrivateRedis.start();
          settings = {
            DATABASE_URL: database.url,
            ENGINE: 'bullmq',
            REDIS_URL: redis.url,
            LEASE: '2s',
            WHATSAPP_WAIT: '60s',
          };
          api = await processes.gateway({ ...settings, ROLE: 'api' });
          worker = await processes.gateway({ ...settings, ROLE: 'worker' });
          [token] = await api.told(/tok_\w{49}/);
        });
        afterAll(async () => {
          await processes.destroy();
          await redis.kill();
        });

        it('a worker delivers what an api process accepted, also after kill -9', async () => {
          await expectDelivered(await send());
          await worker.stop('SIGKILL');
          const waiting = await send();
          worker = await processes.gateway({ ...settings, ROLE: 'worker' });
          await expectDelivered(waiting);
        });

        it('the api process answers a WhatsApp send with the outcome that the worker recorded', async () => {
          const [key] = await api.told(/svk_\w{49}/);
          const post = (path: string, body: object) =>
            call('POST', `/whatsapp/ng/v1${path}`, body, api, key);
          await post('/contacts', { phone: '2348012345678', opt_in: true });
          const answer = await post('/sendwhatsapp', {
            to: '2348012345678',
            message_type: 'template',
            template_name: 'order_update',
            language: 'en',
            params: ['Ada', '1001'],
          });
          expect(answer).toMatchObject({
            status: 200,
            body: { message_id: expect.stringMatching(/^wamid\./), status: 'sent', cost: 6.7 },
          });
        });

        it('a worker process serves only health and metrics', async () => {
          expect((await call('GET', '/health/ready', undefined, worker)).status).toBe(200);
          expect((await fetch(`${worker.url}/metrics`)).status).toBe(200);
          for (const path of ['/ng/v1/sms', '/openapi.json', '/docs', '/healthy'])
            expect(await call('GET', path, undefined, worker)).toMatchObject({
              status: 404,
              body: { error: { code: 'not_found' } },
            });
          expect(worker.output).not.toContain('tok_');
        });

        it('readiness names an unreachable broker while both processes go on', async () => {
          await redis.kill();
          for (const on of [api, worker])
            await eventually(async () =>
              expect(await call('GET', '/health/ready', undefined, on)).toMatchObject({
                status: 200,
                body: {
                  details: { engine: { status: 'degraded', reason: 'broker_unavailable' } },
                },
              }),
            );
          await expectDelivered(await send());
          await redis.restart();
          await eventually(async () =>
            expect(await call('GET', '/health/ready')).toMatchObject({
              status: 200,
              body: { details: { engine: { status: 'up' } } },
            }),
          );
        });
      },
      ['postgres'],
    );
  },
);
