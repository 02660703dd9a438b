import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RecipientFactsReader } from '../contacts/recipient-facts.js';
import { ChannelRegistry } from '../message/channel-registry.js';
import { systemClock } from '../ports/clock.js';
import type {
  MessagingPolicy,
  PolicyScope,
  PolicySlice,
  PolicyDecision,
} from '../ports/messaging-policy.js';
import { OptedOutPolicy } from './consent.policies.js';
import { PolicyPipeline } from './policy-pipeline.js';

const registry = { consentCategoryOf: () => 'transactional' };
const noFacts = {
  read: async () => new Map(),
  presumesEmpty: () => false,
} as unknown as RecipientFactsReader;
const text = { kind: 'text', text: 'Hi' } as const;
const template = { kind: 'template', template: 't', language: 'en', params: [] } as const;
const addressed = {
  message: { tenant: '', channel: 'sms', sender: 'ACME', content: text },
  recipients: ['2348012345678'],
} as const;
const deny = (code: string): PolicyDecision => ({ decision: 'deny', code, reason: 'r' });
const defer = (until: number): PolicyDecision => ({ decision: 'defer', until: new Date(until) });

function policies(
  ...say: (PolicyDecision | ((slice: PolicySlice) => PolicyDecision | undefined))[]
) {
  return say.map((given, index): MessagingPolicy => ({
    name: `p${index}`,
    decide: async (slice) => {
      const said = typeof given === 'function' ? given(slice) : given;
      return new Map(said ? [[0, said]] : []);
    },
  }));
}

async function decisionOf(...say: Parameters<typeof policies>) {
  const pipeline = new PolicyPipeline(() => policies(...say), noFacts, systemClock, registry);
  return (await pipeline.review([addressed], 'send')).get(0);
}

it('the first denial counts', async () => {
  expect(await decisionOf(defer(5), deny('a'), deny('b'), { decision: 'allow' })).toMatchObject({
    decision: 'deny',
    code: 'a',
    policy: 'p1',
  });
});

it('the latest deferral counts', async () => {
  expect(await decisionOf(defer(5), defer(9), defer(7))).toEqual({
    decision: 'defer',
    until: new Date(9),
    policy: 'p1',
  });
});

it('substituted content is judged by the next policies', async () => {
  const seen: string[] = [];
  const look = ({ items }: PolicySlice) => {
    seen.push(items[0]!.message.content.kind);
    return undefined;
  };
  expect(await decisionOf(look, { decision: 'substitute', content: template }, look)).toMatchObject(
    {
      decision: 'substitute',
      content: template,
    },
  );
  expect(seen).toEqual(['text', 'template']);
});

it('earlier policies also decide on a substitution with another consent category', async () => {
  const known = [{ suppressed: null, contact: 'c', category: 'marketing', consent: 'opted_out' }];
  const facts = {
    read: async () => new Map([[0, known]]),
    presumesEmpty: () => false,
  } as unknown as RecipientFactsReader;
  const byKind = {
    consentCategoryOf: (_: string, { kind }: { kind: string }) =>
      kind === 'template' ? 'marketing' : 'transactional',
  };
  const swap: MessagingPolicy = {
    name: 'swap',
    decide: async () => new Map([[0, { decision: 'substitute', content: template }]]),
  };
  const pipeline = new PolicyPipeline(
    () => [new OptedOutPolicy(new ChannelRegistry([])), swap],
    facts,
    systemClock,
    byKind,
  );
  expect((await pipeline.review([addressed], 'send')).get(0)).toMatchObject({ code: 'opted_out' });
});

it('without policies no query runs', async () => {
  const pipeline = new PolicyPipeline(() => [], {} as RecipientFactsReader, systemClock, registry);
  expect((await pipeline.review([addressed], 'send')).size).toBe(0);
});

it('an invalid decision names the policy', async () => {
  const stray: MessagingPolicy = { name: 'stray', decide: async () => new Map([[7, deny('x')]]) };
  const pipeline = new PolicyPipeline(() => [stray], noFacts, systemClock, registry);
  await expect(pipeline.review([addressed], 'send')).rejects.toThrow('policy stray');
  await expect(decisionOf(defer(Number.NaN))).rejects.toThrow('policy p0');
});

describe('the scope of a policy', () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `${2_348_000_000_000 + n}`);
  const refused = new Set([many[0], many[2_499], many[2_500], many[4_999]]);
  const whatsapp = { ...addressed.message, channel: 'whatsapp' } as const;
  const reads: string[] = [];
  const facts = {
    read: async ({ recipients }: { recipients: readonly string[] }, of: string) => {
      reads.push(of);
      return new Map(
        recipients.flatMap((recipient, place) =>
          refused.has(recipient) ? [[place, [{ suppressed: '*', contact: null }]] as const] : [],
        ),
      );
    },
    presumesEmpty: () => isEmpty,
  } as unknown as RecipientFactsReader;
  const denier = (scope: PolicyScope, seen: string[] = []): MessagingPolicy => ({
    name: 'denier',
    scope,
    decide: async ({ items }) => {
      seen.push(...items.map(({ recipient }) => recipient.value));
      return new Map(items.map((_, index) => [index, deny('no')]));
    },
  });
  const pipelineOf = (policy: MessagingPolicy) =>
    new PolicyPipeline(() => [policy], facts, systemClock, registry);
  let isEmpty = false;
  beforeEach(() => {
    reads.length = 0;
    isEmpty = false;
  });

  it('scope refused reads and judges only recipients who refused', async () => {
    const seen: string[] = [];
    const pipeline = pipelineOf(denier({ recipients: 'refused' }, seen));
    const decisions = await pipeline.review([{ ...addressed, recipients: many }], 'send');
    expect(reads).toEqual(['refused', 'refused']);
    expect(seen).toEqual([...refused]);
    expect([...decisions.keys()].map((place) => many[place])).toEqual([...refused]);
  });

  it('while no refusal is stored, a send asks no policy with scope refused', async () => {
    isEmpty = true;
    const pipeline = pipelineOf(denier({ recipients: 'refused' }));
    expect((await pipeline.review([{ ...addressed, recipients: many }], 'send')).size).toBe(0);
    expect(reads).toEqual([]);
    await pipeline.review([{ ...addressed, recipients: many }], 'dispatch');
    expect(reads).toEqual(['refused']);
  });

  it('without a scope all recipients are read', async () => {
    const seen: string[] = [];
    const pipeline = pipelineOf(denier({}, seen));
    const parts = [many.slice(0, 2_400), many.slice(2_400, 2_450), many.slice(2_450)];
    const decisions = await pipeline.review(
      parts.map((recipients) => ({ ...addressed, recipients })),
      'send',
    );
    expect(reads).toEqual(['known', 'known']);
    expect(seen).toEqual(many);
    expect(decisions.size).toBe(many.length);
  });

  it('the policies judge all messages of a slice together, as two of them may have one recipient', async () => {
    const slices: number[] = [];
    const counter: MessagingPolicy = {
      name: 'counter',
      decide: async ({ items }) => {
        slices.push(items.length);
        return new Map();
      },
    };
    await pipelineOf(counter).review([{ ...addressed, recipients: many }], 'dispatch');
    expect(slices).toEqual([many.length]);
  });

  it('a channel scope limits reads and decisions to its channel', async () => {
    const seen: string[] = [];
    const pipeline = pipelineOf(denier({ channels: ['whatsapp'] }, seen));
    expect((await pipeline.review([addressed], 'send')).size).toBe(0);
    expect(reads).toEqual([]);
    const decisions = await pipeline.review(
      [addressed, { message: whatsapp, recipients: ['2348000000001'] }, addressed],
      'dispatch',
    );
    expect(seen).toEqual(['2348000000001']);
    expect([...decisions.keys()]).toEqual([1]);
  });

  it('scope unread judges all recipients without facts', async () => {
    const seen: string[] = [];
    await pipelineOf(denier({ recipients: 'unread' }, seen)).review([addressed], 'send');
    expect(seen).toEqual(addressed.recipients);
    expect(reads).toEqual([]);
  });
});
