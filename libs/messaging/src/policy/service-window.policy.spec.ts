import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { registryOf } from '../channels/built-in-channels.js';
import type { PolicyItem, PolicySlice } from '../ports/messaging-policy.js';
import { SERVICE_WINDOW, ServiceWindowPolicy, windowIsOpen } from './service-window.policy.js';

const recipient = { kind: 'phone', value: '2348012345678' } as const;
const channels = registryOf();
const NOW = Date.UTC(2026, 5, 1);
const margins = fc.integer({ min: 0, max: SERVICE_WINDOW - 1 });
const near = fc.integer({ min: -2, max: 2 });

function slice(item: Partial<PolicyItem['message']>, lastInboundAt: number | null): PolicySlice {
  const message = {
    tenant: '',
    channel: 'whatsapp',
    sender: '1',
    content: { kind: 'text', text: 'Hi' },
    ...item,
  } as PolicyItem['message'];
  const facts = { contact: 'c', suppressed: false, consent: 'opted_in', lastInboundAt } as const;
  return { stage: 'send', now: NOW, items: [{ message, recipient, facts }] };
}

describe('the service window', () => {
  it('the window closes 24 hours minus the margin after the inbound message', () => {
    fc.assert(
      fc.property(margins, near, (margin, off) => {
        const last = NOW - (SERVICE_WINDOW - margin) + off;
        expect(windowIsOpen(last, NOW, margin)).toBe(off > 0 && last - NOW <= margin);
      }),
    );
  });

  it('the window is open only after an inbound message', () => {
    fc.assert(
      fc.property(margins, fc.nat(3 * SERVICE_WINDOW), (margin, age) => {
        expect(windowIsOpen(NOW - age, NOW, margin)).toBe(age < SERVICE_WINDOW - margin);
        expect(windowIsOpen(null, NOW, margin)).toBe(false);
      }),
    );
  });

  it('a clock that is ahead does not extend the window', () => {
    fc.assert(
      fc.property(margins, fc.nat(SERVICE_WINDOW), fc.nat(), (margin, ahead, age) => {
        expect(ahead > margin && windowIsOpen(NOW + ahead, NOW, margin)).toBe(false);
        // The recorder's clock was ahead by no more than the margin.
        const written = NOW - age + Math.min(ahead, margin);
        expect(windowIsOpen(written, NOW, margin) && age >= SERVICE_WINDOW).toBe(false);
      }),
    );
  });

  it('templates and other channels need no window, texts and media do', async () => {
    const policy = new ServiceWindowPolicy(channels, { margin: 0, substitute: undefined });
    const template = { kind: 'template', template: 't', language: 'en', params: [] } as const;
    expect((await policy.decide(slice({ content: template }, null))).size).toBe(0);
    expect(policy.scope.channels).toEqual(['whatsapp']);
    for (const content of [undefined, { kind: 'media', type: 'audio', mediaId: '1' } as const])
      expect((await policy.decide(slice(content ? { content } : {}, null))).get(0)).toMatchObject({
        code: 'window_closed',
      });
    expect((await policy.decide(slice({}, NOW - 1))).size).toBe(0);
  });

  it('a denied text is replaced by the configured template', async () => {
    const content = { kind: 'template', template: 't', language: 'en', params: [] } as const;
    const policy = new ServiceWindowPolicy(channels, { margin: 0, substitute: () => content });
    expect((await policy.decide(slice({}, null))).get(0)).toEqual({
      decision: 'substitute',
      content,
    });
  });
});
