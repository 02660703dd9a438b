import { describe, expect, it } from '@jest/globals';
import { keyIdOf, type SecretColumn, SecretKeys, UnreadableSecretError } from './secret-keys.js';

const PLACE: SecretColumn = { table: 'gateway_webhook_endpoint', column: 'secret', key: 'id' };
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);

describe('SecretKeys', () => {
  const keys = new SecretKeys(NEW);

  it('a sealed secret opens, names its key and differs each time', () => {
    const sealed = keys.seal(PLACE, 'a', SECRET);
    expect(keys.open(PLACE, 'a', sealed)).toBe(SECRET);
    expect(keyIdOf(sealed)).toBe(keys.id);
    expect(sealed).not.toContain(SECRET.slice(6));
    expect(keys.seal(PLACE, 'a', SECRET)).not.toBe(sealed);
  });

  it.each<[string, SecretColumn, string]>([
    ['row', PLACE, 'b'],
    ['column', { ...PLACE, column: 'previous_secrets' }, 'a'],
    ['table', { ...PLACE, table: 'gateway_domain' }, 'a'],
  ])('a sealed secret does not open in another %s', (_what, place, row) => {
    const sealed = keys.seal(PLACE, 'a', SECRET);
    expect(() => keys.open(place, row, sealed)).toThrow(UnreadableSecretError);
  });

  it('a changed byte of a sealed secret is found', () => {
    const sealed = keys.seal(PLACE, 'a', SECRET);
    const [form, id, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const broken = [form, id, changed.toString('base64url')].join('.');
      expect(() => keys.open(PLACE, 'a', broken)).toThrow(UnreadableSecretError);
    }
    for (const short of ['', 'AA', text.slice(0, 20)])
      expect(() => keys.open(PLACE, 'a', `${form}.${id}.${short}`)).toThrow(UnreadableSecretError);
  });

  it('the previous key only opens', () => {
    const sealed = new SecretKeys(OLD).seal(PLACE, 'a', SECRET);
    const both = new SecretKeys(NEW, [OLD]);
    expect(both.open(PLACE, 'a', sealed)).toBe(SECRET);
    expect(both.seal(PLACE, 'a', SECRET)).toMatch(`enc1.${keys.id}.`);
  });

  it('a secret in clear or under an unknown key is refused without showing it', () => {
    const old = new SecretKeys(OLD);
    expect(() => keys.open(PLACE, 'a', SECRET)).toThrow(
      /^gateway_webhook_endpoint\.secret: holds a secret in clear; a restart encrypts it$/,
    );
    expect(() => keys.open(PLACE, 'a', old.seal(PLACE, 'a', SECRET))).toThrow(
      `is encrypted under another key (${old.id})`,
    );
  });
});
