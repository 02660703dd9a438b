import { expect, it } from '@jest/globals';
import type { FastifyInstance } from 'fastify';
import { eventually } from '../../../test/support/eventually.js';
import { tooManySignIns } from '../../secrets/password-hash.js';
import { Paced, paceBursts } from './paced.js';

const run = (paced: Paced, ip: string, begun: string[]) =>
  paced.run(ip, async () => void begun.push(ip));

it('a network with one work does not wait for all of a network with many', async () => {
  const paced = new Paced(tooManySignIns);
  const begun: string[] = [];
  const many = Array.from({ length: 20 }, () => run(paced, '203.0.113.7', begun));
  const one = run(paced, '198.51.100.1', begun);
  expect(begun).toEqual(['203.0.113.7']);
  await one;
  expect(begun.length).toBeLessThan(5);
  await Promise.all(many);
  expect(begun).toHaveLength(21);
});

it('beyond a thousand that wait, the network with the most of them loses its newest', async () => {
  const paced = new Paced(tooManySignIns);
  const begun: string[] = [];
  const many = Array.from({ length: 1_001 }, () => run(paced, '203.0.113.7', begun));
  const one = run(paced, '198.51.100.1', begun);
  await expect(many.at(-1)).rejects.toMatchObject({ status: 503 });
  await one;
  await Promise.all(many.slice(0, -1));
  expect(begun).toHaveLength(1_001);
});

it('sign-ins take turns before their bodies are read, streams of pages take their own, other requests none', async () => {
  const hooks: ((...given: unknown[]) => void)[] = [];
  const addHook = (_name: string, hook: (...given: unknown[]) => void) => hooks.push(hook);
  paceBursts({ addHook } as unknown as FastifyInstance);
  const begun: string[] = [];
  const ask = (name: string, method: string, url: string) =>
    hooks[0]?.({ method, ip: '203.0.113.7', routeOptions: { url } }, {}, () => begun.push(name));
  ask('first', 'POST', '/portal/api/session');
  ask('second', 'POST', '/portal/api/session');
  ask('stream', 'GET', '/portal/api/live');
  ask('second stream', 'GET', '/portal/api/live');
  ask('session', 'GET', '/portal/api/session');
  ask('send', 'POST', '/ng/v1/sendsms');
  // No timer runs before these promises.
  for (let n = 0; n < 20; n++) await Promise.resolve();
  expect(begun.toSorted()).toEqual(['first', 'send', 'session', 'stream']);
  await eventually(async () =>
    expect(begun).toEqual(expect.arrayContaining(['second', 'second stream'])),
  );
});
