import { describe, expect, it } from '@jest/globals';
import { presentedSecret } from './bearer.js';
import { newSecret } from './credential-secret.js';

describe('presentedSecret', () => {
  const token = newSecret('api_token');
  const key = newSecret('api_key');

  it('reads the secret of the kind that is asked for', () => {
    expect(presentedSecret(`Bearer ${token}`, 'api_token')).toEqual({ secret: token });
    expect(presentedSecret(`bearer ${key}`, 'api_key')).toEqual({ secret: key });
  });

  it.each([
    [undefined, 'missing header'],
    ['', 'missing header'],
    [token, 'missing Bearer'],
    [`Basic ${token}`, 'missing Bearer'],
    [`Bearer  ${token}`, 'white space'],
    [`Bearer ${token} `, 'white space'],
    [`Bearer ${token.slice(0, 20)} ${token.slice(20)}`, 'white space'],
    [`Bearer ${token}\t`, 'white space'],
    ['Bearer ', 'white space'],
    [`Bearer ${token.slice(0, -1)}`, 'malformed or bad checksum'],
    ['Bearer <API_TOKEN>', 'malformed or bad checksum'],
    [`Bearer ${key}`, 'wrong kind'],
  ])('%j is refused: %s', (header, cause) => {
    expect(presentedSecret(header, 'api_token')).toEqual({ cause });
  });
});
