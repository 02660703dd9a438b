import { MessagingConfigError } from '../../message/errors.js';
import type { CallbackVerifier } from '../../ports/delivery-report-parser.js';
import { anySame, checkedSecrets, type Secrets } from './secret.js';

export interface BasicAuthOptions {
  readonly username: string;
  /** At least 16 characters; two during a rotation. */
  readonly password: Secrets;
}

/**
 * HTTP Basic authentication (RFC 7617), as in `https://user:password@app.example.com/…`.
 * @throws MessagingConfigError naming the wrong option.
 */
export function basicAuth({ username, password }: BasicAuthOptions): CallbackVerifier {
  if (typeof username !== 'string' || username === '' || username.includes(':'))
    throw new MessagingConfigError('basicAuth.username: must be a name without a colon');
  const expected = checkedSecrets('basicAuth.password', password).map((p) => `${username}:${p}`);
  return {
    verify: ({ headers: { authorization } }) => {
      if (typeof authorization !== 'string') return false;
      const given = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization)?.[1];
      return given !== undefined && anySame(Buffer.from(given, 'base64').toString(), expected);
    },
  };
}
