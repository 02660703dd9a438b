import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, In, LessThan } from 'typeorm';
import { networkOf } from '../../accounts/limits.js';
import { fingerprint } from '../../accounts/credentials.js';
import type { SignInOrigin } from './sign-in-limits.js';
import { KnownPlace } from './sign-in.tables.js';

/** How long a place is known after its last sign-in, in milliseconds. */
const KNOWN_FOR = 180 * 24 * 3_600_000;

/** The request that signs in. */
export interface Visitor {
  readonly ip: string;
  /** Value of the cookie that knows the browser again. */
  readonly browser?: string | undefined;
}

/** The browsers and networks from which users have signed in. */
@Injectable()
export class KnownPlaces {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Takes the same time without a user. */
  async originOf(visitor: Visitor, userId = ''): Promise<SignInOrigin> {
    const places = placesOf(visitor);
    const known = await this.dataSource.manager.findBy(KnownPlace, { userId, place: In(places) });
    const valid = known.filter(({ lastUsedAt }) => lastUsedAt > this.#oldest);
    const browser = valid.find(({ place }) => place.startsWith('browser'));
    return {
      ip: visitor.ip,
      isKnown: valid.length > 0,
      ...(browser && { knownBrowser: browser.place }),
    };
  }

  /** Notes a sign-in with the right password and code. */
  async note(manager: EntityManager, visitor: Visitor, userId: string): Promise<void> {
    const lastUsedAt = new Date(this.clock.now());
    await manager.delete(KnownPlace, { lastUsedAt: LessThan(this.#oldest) });
    // Two sign-ins from one place at once note it both.
    const rows = placesOf(visitor).map((place) => ({ userId, place, lastUsedAt }));
    await manager.upsert(KnownPlace, rows, ['userId', 'place']);
  }

  get #oldest(): Date {
    return new Date(this.clock.now() - KNOWN_FOR);
  }
}

function placesOf({ ip, browser }: Visitor): string[] {
  const network = `network ${networkOf(ip)}`;
  return browser === undefined ? [network] : [network, `browser ${fingerprint(browser)}`];
}
