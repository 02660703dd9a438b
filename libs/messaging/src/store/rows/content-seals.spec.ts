import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { MessageContent } from '../../message/message.js';
import { ContentSeals } from './content-seals.js';
import { readContent, writeContent } from './stored-content.js';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const CODE = '48151623';
const content = {
  kind: 'template',
  template: 'login_code',
  language: 'en',
  category: 'authentication',
  params: [CODE],
  secret: true,
} as unknown as MessageContent;
const stored = { content, trace: { traceparent: '00-1' }, labels: undefined };

describe('ContentSeals', () => {
  const seals = new ContentSeals([NEW, OLD]);
  const errors: string[] = [];
  beforeEach(() => {
    jest
      .spyOn(Logger.prototype, 'error')
      .mockImplementation((line: unknown) => void errors.push(String(line)));
  });
  afterEach(() => {
    errors.length = 0;
    jest.restoreAllMocks();
  });

  it('a sealed content shows its kind and category alone, and opens in its batch alone', () => {
    const sealed = seals.seal('a', stored);
    expect(sealed).toMatchObject({
      content: { kind: 'template', category: 'authentication', secret: true },
      trace: stored.trace,
    });
    expect(JSON.stringify(sealed)).not.toMatch(/48151623|login_code/);
    expect(seals.seal('a', stored)).not.toEqual(sealed);
    const read = readContent(writeContent(sealed).json);
    expect(seals.open('a', read)).toEqual({ ...stored, hasPersonal: undefined });
    expect(seals.open('b', read)).toEqual({
      content: { kind: 'template', category: 'authentication', secret: true },
      trace: stored.trace,
      labels: undefined,
      unreadable: true,
    });
    expect(errors).toEqual([expect.stringContaining('batch b was changed, or belongs to')]);
  });

  it('a changed byte is found, and so is a text that is none', () => {
    const { $sealed } = seals.seal('a', stored).content as unknown as { $sealed: string };
    const [form, id, text = ''] = $sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    const opened = (changed: string) =>
      seals.open('a', { content: { ...content, $sealed: changed } as MessageContent });
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(opened(`${form}.${id}.${changed.toString('base64url')}`).unreadable).toBe(true);
    }
    for (const short of ['x', `${form}.${id}.AA`, `${form}.${id}.${text.slice(0, 20)}`])
      expect(opened(short).unreadable).toBe(true);
    expect(opened($sealed).unreadable).toBeUndefined();
  });

  it('the first key seals, each one opens, and a missing one is named', () => {
    const sealed = new ContentSeals([OLD]).seal('a', stored);
    expect(seals.open('a', sealed).content).toEqual(content);
    expect(seals.isCurrent(sealed)).toBe(false);
    expect(seals.isCurrent(seals.seal('a', stored))).toBe(true);
    expect(seals.isCurrent(stored)).toBe(false);
    expect(new ContentSeals([NEW]).open('a', sealed).unreadable).toBe(true);
    expect(new ContentSeals().open('a', sealed).unreadable).toBe(true);
    expect(errors.join('\n')).toMatch(
      /the key [0-9a-f]{8}, which is missing; add that key to the option verification\.keys/,
    );
  });

  it('other contents, and all without keys, stay the objects that they are', () => {
    const open = { content: { kind: 'text', text: 'Hi' } as const };
    expect(seals.seal('a', open)).toBe(open);
    expect(seals.open('a', open)).toBe(open);
    expect(seals.isCurrent(open)).toBe(true);
    const none = new ContentSeals();
    expect(none.seal('a', stored)).toBe(stored);
    expect(none.isCurrent(stored)).toBe(true);
    // Only the store itself seals.
    const forged = { content: { ...open.content, $sealed: 'enc1.00000000.AA' } as MessageContent };
    expect(seals.open('a', forged)).toBe(forged);
  });
});
