import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { commandsOf } from '../../src/cli/command-line.js';
import { Processes, type RunningGateway } from '../e2e/gateway/built-gateway.js';
import { buildGateway } from '../support/builds.js';
import { limitTests } from '../support/time-limit.js';
import { Guide } from './guide.js';
import { pagesOfReaders, ROOT } from './markdown-blocks.js';

// A block starts up to four commands.
limitTests(120);

/** Blocks of pages that print requests to a gateway, by the first words of those that are no requests. */
const NO_REQUESTS: Readonly<Record<string, readonly string[]>> = {
  'docs/email.md': ['npm install'],
  'docs/vas.md': [],
  'docs/voice.md': [],
};

describe('requests of the pages', () => {
  let processes: Processes;
  let gateway: RunningGateway;
  let page: Guide | undefined;

  beforeAll(() => buildGateway());
  beforeEach(async () => {
    processes = new Processes();
    gateway = await processes.gateway({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  });
  afterEach(async () => {
    await page?.close();
    await processes.destroy();
  });

  it.each(Object.entries(NO_REQUESTS))(
    '%s: a new gateway accepts each as printed',
    async (name, others) => {
      const [token = ''] = await gateway.told(/tok_[0-9A-Za-z]{49}/);
      const [key = ''] = await gateway.told(/svk_[0-9A-Za-z_]{40,}/);
      const [account = ''] = await gateway.told(/acc_[0-9A-Za-z]{22}/);
      page = await Guide.open(
        name,
        { 'http://127.0.0.1:3000': gateway.url, 'tok_…': token, 'svk_…': key, 'acc_…': account },
        {
          DATABASE_URL: `sqlite:${join(await processes.directory(), 'gateway.sqlite')}`,
          WEBHOOK_ALLOW_PRIVATE: 'true',
          TOKEN: token,
          KEY: key,
          WA: `${gateway.url}/whatsapp/ng/v1`,
        },
      );
      const blocks = page
        .blocks('sh')
        .filter((block) => !others.some((words) => block.startsWith(words)));
      expect(blocks.length).toBeGreaterThan(0);
      let id = '';
      for (const block of blocks)
        for (const command of block.replaceAll('\\\n', ' ').trim().split('\n')) {
          // An answer of 4xx or 5xx fails the command.
          const strict = command.replace(/^curl /, 'curl -sS --fail-with-body ');
          const answer = await page.run(strict.replace(/\b(?:REFERENCE_)?ID\b/, id));
          id = /"(?:reference_id|id)":"([^"]+)"/.exec(answer)?.[1] ?? id;
        }
    },
  );
});

describe('commands of the pages', () => {
  /** Each `npx dundun …`, by its place. */
  const printed = pagesOfReaders().flatMap((name) => {
    const lines = readFileSync(join(ROOT, name), 'utf8').split('\n');
    return lines.flatMap((line, n) =>
      [...line.matchAll(/(?:npx |`)dundun ([a-z][^`#]*)/g)].map(
        ([, words = '']) => [`${name}:${n + 1}`, words.trim()] as const,
      ),
    );
  });
  let root: Command;
  beforeAll(async () => (root = await commandsOf(() => true)));

  it.each(printed)('%s: dundun %s: the command has these options', (_, words) => {
    let command = root;
    const rest = words.replaceAll(/'[^']*'/g, 'text').split(/\s+/);
    for (;;) {
      const next = command.commands.find((one) => one.name() === rest[0]?.split('|')[0]);
      if (!next) break;
      command = next;
      rest.shift();
    }
    expect(command).not.toBe(root);
    const known = command.options.flatMap(({ long, short }) => [long, short]);
    const given = rest
      .filter((word) => /^--?[a-z]/.test(word))
      .map((word) => word.replace(/[.,;)\]]+$/, ''));
    expect(given.filter((option) => !known.includes(option) && option !== '--help')).toEqual([]);
  });
});
