import { expect, it } from '@jest/globals';
import type { RecipientFactsReader } from '../contacts/recipient-facts.js';
import { systemClock } from '../ports/clock.js';
import type { MessagingPolicy, PolicySlice, Verdict } from '../ports/messaging-policy.js';
import { PolicyPipeline } from './policy-pipeline.js';

const nobody = { nobody: async () => true } as unknown as RecipientFactsReader;
const text = { kind: 'text', text: 'Hi' } as const;
const template = { kind: 'template', template: 't', language: 'en', params: [] } as const;
const candidate = {
  message: { tenant: '', channel: 'sms', sender: 'ACME', content: text },
  recipient: '2348012345678',
} as const;
const deny = (code: string): Verdict => ({ decision: 'deny', code, reason: 'r' });
const defer = (until: number): Verdict => ({ decision: 'defer', until: new Date(until) });

function policies(...say: (Verdict | ((slice: PolicySlice) => Verdict | undefined))[]) {
  return say.map((verdict, index): MessagingPolicy => ({
    name: `p${index}`,
    decide: async (slice) => {
      const said = typeof verdict === 'function' ? verdict(slice) : verdict;
      return new Map(said ? [[0, said]] : []);
    },
  }));
}

async function ruling(...say: Parameters<typeof policies>) {
  const pipeline = new PolicyPipeline(() => policies(...say), nobody, systemClock);
  return (await pipeline.review([candidate], 'send')).get(0);
}

it('the first denial counts, whatever comes before or after', async () => {
  expect(await ruling(defer(5), deny('a'), deny('b'), { decision: 'allow' })).toMatchObject({
    decision: 'deny',
    code: 'a',
    policy: 'p1',
  });
});

it('the latest deferral counts', async () => {
  expect(await ruling(defer(5), defer(9), defer(7))).toEqual({
    decision: 'defer',
    until: 9,
    policy: 'p1',
  });
});

it('what is put in place is what the next policies judge', async () => {
  const seen: string[] = [];
  const look = ({ items }: PolicySlice) => {
    seen.push(items[0]!.message.content.kind);
    return undefined;
  };
  expect(await ruling(look, { decision: 'substitute', content: template }, look)).toMatchObject({
    decision: 'substitute',
    content: template,
  });
  expect(seen).toEqual(['text', 'template']);
});

it('no policy, no question', async () => {
  const pipeline = new PolicyPipeline(() => [], {} as RecipientFactsReader, systemClock);
  expect((await pipeline.review([candidate], 'send')).size).toBe(0);
});

it('a verdict about nobody, or until never, is the policy’s fault and told as such', async () => {
  const stray: MessagingPolicy = { name: 'stray', decide: async () => new Map([[7, deny('x')]]) };
  const pipeline = new PolicyPipeline(() => [stray], nobody, systemClock);
  await expect(pipeline.review([candidate], 'send')).rejects.toThrow('policy stray');
  await expect(ruling(defer(Number.NaN))).rejects.toThrow('policy p0');
});
