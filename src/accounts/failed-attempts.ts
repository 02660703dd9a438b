import { Inject, Injectable } from '@nestjs/common';
import { type Environment, ENVIRONMENT } from '../config/environment.js';
import { RequestWindow, type WindowState } from './request-window.js';

/**
 * Requests without a valid credential, by address. Only such a request is ever refused for it: a
 * valid credential passes from an address that others misuse.
 */
@Injectable()
export class FailedAttempts {
  readonly #window: RequestWindow | undefined;

  constructor(@Inject(ENVIRONMENT) { AUTH_FAILURE_LIMIT }: Environment) {
    this.#window = AUTH_FAILURE_LIMIT && new RequestWindow(AUTH_FAILURE_LIMIT);
  }

  /** `undefined`: nothing is limited. */
  count(ip: string): WindowState | undefined {
    return this.#window?.take(networkOf(ip));
  }
}

/** Whoever has an IPv6 address has 2^64 of them. */
function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return groups.slice(0, 4).join(':');
}
