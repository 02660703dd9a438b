import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type Environment, EnvironmentError } from '../config/environment.js';

/** Certificate, with its chain, and private key in PEM. */
export interface SmppTls {
  readonly cert: string;
  readonly key: string;
}

/**
 * What the server at `SMPP_LISTEN` proves itself with; `undefined`: it speaks plain TCP, or this process
 * does not listen.
 * @throws EnvironmentError naming a file that cannot be read, or is no certificate or key
 */
export function smppTls(environment: Environment): SmppTls | undefined {
  const { SMPP_LISTEN, SMPP_TLS_CERT, SMPP_TLS_KEY, ROLE } = environment;
  if (!SMPP_LISTEN || ROLE === 'worker' || !SMPP_TLS_CERT || !SMPP_TLS_KEY) return undefined;
  const problems: string[] = [];
  const read = (name: string, path: string): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const { code = 'error' } = error as NodeJS.ErrnoException;
      problems.push(`${name} "${path}": cannot be read (${code})`);
      return '';
    }
  };
  const cert = read('SMPP_TLS_CERT', SMPP_TLS_CERT);
  const key = read('SMPP_TLS_KEY', SMPP_TLS_KEY);
  if (problems.length === 0 && !fits({ cert }))
    problems.push(`SMPP_TLS_CERT "${SMPP_TLS_CERT}": has no certificate in PEM`);
  else if (problems.length === 0 && !fits({ cert, key }))
    problems.push(
      `SMPP_TLS_KEY "${SMPP_TLS_KEY}": has no private key of SMPP_TLS_CERT in PEM, or one with a passphrase`,
    );
  if (problems.length > 0) throw new EnvironmentError(problems);
  return { cert, key };
}

/** Errors of OpenSSL are not shown. */
function fits(options: Partial<SmppTls>): boolean {
  try {
    createSecureContext(options);
    return true;
  } catch {
    return false;
  }
}
