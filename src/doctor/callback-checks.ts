import type { MessagingOperations } from '@dundun/messaging/operations';
import type { DataSource } from 'typeorm';
import type { Carrier, Carriers } from '../carriers/carriers.js';
import { CallbackSighting } from './callback-sightings.tables.js';
import { type Check, CheckError } from './check.js';

const HOUR = 3_600_000;

/** A carrier has so long to call back, in milliseconds. */
const PATIENCE = HOUR;

/** Messages of so long are looked at, and a callback of that time is enough. */
const PERIOD = 24 * HOUR;

interface CallbackSources {
  readonly carriers: Carriers;
  readonly operations: Pick<MessagingOperations, 'recentProviders'>;
  readonly dataSource: DataSource;
  readonly publicUrl: string;
  readonly now: number;
}

/** A line for each carrier with callbacks: whether it calls back about the messages that it took. */
export function callbackChecks(sources: CallbackSources): Check[] {
  const { carriers, operations, dataSource, publicUrl, now } = sources;
  let used: Promise<readonly string[]> | undefined;
  return carriers.all
    .filter(({ callbacks }) => callbacks !== undefined)
    .map((carrier) => ({
      name: `callbacks ${carrier.name}`,
      remedy: `set the address ${addressOf(carrier, carriers, publicUrl)} at the carrier, with the secret of ${carrier.origin.place}, and let it through the proxy`,
      run: async () => {
        const period = { since: new Date(now - PERIOD), until: new Date(now - PATIENCE) };
        used ??= operations.recentProviders(period);
        const { name } = carrier;
        const sighting = await dataSource.manager.findOneBy(CallbackSighting, { carrier: name });
        const isUsed = (await used).includes(name);
        if (sighting && now - sighting.seenAt.getTime() < PERIOD) return 'seen within a day';
        if (!isUsed) return 'it took no message from a day to an hour ago';
        throw new CheckError(
          sighting
            ? `none since ${sighting.seenAt.toISOString()}, although it took messages`
            : 'none seen yet, although it took messages more than an hour ago',
        );
      },
    }));
}

/** Without the secret that some carriers have in its path. */
function addressOf({ role, name }: Carrier, { callbackPath }: Carriers, publicUrl: string): string {
  const path = role === 'main' ? callbackPath : `${callbackPath}/${name}`;
  return `${publicUrl.replace(/\/+$/, '')}/${path}`;
}
