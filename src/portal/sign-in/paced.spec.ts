import { expect, it } from '@jest/globals';
import { Paced } from './paced.js';

const run = (paced: Paced, ip: string, begun: string[]) =>
  paced.run(ip, async () => void begun.push(ip));

it('a network with one work does not wait for all of a network with many', async () => {
  const paced = new Paced();
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
  const paced = new Paced();
  const begun: string[] = [];
  const many = Array.from({ length: 1_001 }, () => run(paced, '203.0.113.7', begun));
  const one = run(paced, '198.51.100.1', begun);
  await expect(many.at(-1)).rejects.toMatchObject({ status: 503 });
  await one;
  await Promise.all(many.slice(0, -1));
  expect(begun).toHaveLength(1_001);
});
