import type { InboundMessage } from '@dundun/messaging';
import { type DataSource, In } from 'typeorm';
import { FreshCache } from './fresh-cache.js';
import { WhatsAppNumber } from './whatsapp-number.entity.js';

/** Which account a message is for that came in from the carrier: the one whose number was written to. */
export function numberOwners(
  dataSource: DataSource,
): (message: InboundMessage) => Promise<string | undefined> {
  const owners = new FreshCache<string>({
    load: async (numbers) => {
      const where = { number: In([...numbers]) };
      const found = await dataSource.manager.find(WhatsAppNumber, { where });
      return new Map(found.map(({ number, accountId }) => [number, accountId]));
    },
    keep: () => true,
  });
  return async ({ channel, to }) => (channel === 'whatsapp' ? owners.get(to) : undefined);
}
