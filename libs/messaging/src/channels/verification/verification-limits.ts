import type { Address } from '../../message/address.js';
import { doubledWait } from '../../message/doubled-wait.js';
import { countryOfNumber } from '../../message/phone-country.js';
import { addressIdentity } from '../../message/phone-identity.js';
import type { MessagingSettings } from '../../ports/messaging-settings.js';
import type { Sql } from '../../store/database/store-database.js';
import type { KeyedDigests } from '../../store/rows/keyed-digests.js';
import type { WindowCounts } from '../../store/verbs/window-counts.js';
import { VerificationLimitError, VerificationStoppedError } from './verification.js';
import type { VerificationStore } from './verification-store.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Time in ms that a person has to check a code before it counts as never checked. */
const MATURE = 600_000;
/** Newest mature codes that are looked at, and the smallest sample that is used. */
const SAMPLE = 200;
const LEAST = 50;
/** Codes are stopped where less than one in this many is ever checked. */
const ONE_IN = 10;

export const LONGEST_WINDOW = 7 * DAY;

/** Scope and subject of the tenant's window, which is locked first. */
export const ACCOUNT_LIMIT = { scope: 'account', subject: '-' } as const;

interface Recipient {
  readonly tenant: string;
  readonly address: Address;
  /** ISO code; empty without one. */
  readonly country: string;
}

/** Country of a phone number by its prefix; `''`: none, or not known. */
export function countryOf({ kind, value }: Address): string {
  return kind === 'phone' ? countryOfNumber(value) : '';
}

/** Takes a code's place in the windows of its tenant, country, network and recipient. */
export class VerificationLimits {
  constructor(
    private readonly store: VerificationStore,
    private readonly counts: WindowCounts,
    private readonly digests: KeyedDigests,
    private readonly settings: MessagingSettings['verification'],
  ) {}

  /**
   * Locks the windows in one order, the tenant's first, so that concurrent starts wait.
   * @throws VerificationLimitError
   * @throws VerificationStoppedError
   */
  async take(tx: Sql, { tenant, address, country }: Recipient, now: number): Promise<void> {
    const { perTenant, perCountry, perNetwork, perRecipient, coolDown } = this.settings;
    const digest = (value: string) => this.digests.ofAddress(tenant, value)[0] ?? value;
    const { value } = address;
    const network =
      address.kind === 'email' ? value.slice(value.lastIndexOf('@') + 1) : value.slice(0, -4);
    for (const [scope, subject, { max, per }, wait] of [
      [ACCOUNT_LIMIT.scope, ACCOUNT_LIMIT.subject, perTenant, 0],
      ['country', country || '-', perCountry, 0],
      ['network', digest(network), perNetwork, 0],
      ['recipient', digest(addressIdentity(value)), perRecipient, coolDown],
    ] as const) {
      const key = { tenant, scope, subject };
      const known = await this.counts.lockOne(tx, key);
      const isOver = now >= known.windowAt + per;
      const windowAt = isOver ? now : known.windowAt;
      const started = isOver ? 0 : known.started;
      if (started >= max) throw new VerificationLimitError(scope, windowAt + per - now);
      if (now < known.nextAt && !isOver)
        throw new VerificationLimitError(scope, known.nextAt - now);
      const nextAt = wait > 0 ? now + doubledWait(wait, started, per) : 0;
      await this.counts.set(tx, [{ ...key, windowAt, started: started + 1, nextAt, seen: null }]);
    }
    if (country !== '') await this.#refusePumping(tx, { tenant, country }, now);
  }

  async #refusePumping(
    tx: Sql,
    of: { readonly tenant: string; readonly country: string },
    now: number,
  ): Promise<void> {
    const checked = await this.store.checked(tx, of, now - HOUR, now - MATURE, SAMPLE);
    if (checked.length < LEAST) return;
    if (checked.filter(Boolean).length * ONE_IN < checked.length)
      throw new VerificationStoppedError(of.country);
  }
}
