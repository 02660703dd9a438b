import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type DataSource, IsNull, Not } from 'typeorm';
import { buildConnector } from 'undici';
import { guardedConnector, originOf } from '../webhooks/webhook-address.js';
import type { WebhookOptions } from '../webhooks/webhook-options.js';
import { WebhookEndpointEntity } from '../webhooks/webhooks.tables.js';
import { causeOf } from '../http/log-redaction.js';
import { type Check, CheckError, furtherLine } from './check.js';

/** Most webhooks that are connected to. */
const MOST = 500;

type Reach = (origin: string) => Promise<void>;

/**
 * A line for each webhook that its account has not disabled: whether its host takes a connection, with TLS. No
 * request is made: a receiver may take any for a callback.
 */
export async function webhookChecks(
  dataSource: DataSource,
  options: Pick<WebhookOptions, 'allowPrivate'>,
  now: number,
): Promise<Check[]> {
  const found = await dataSource.manager.find(WebhookEndpointEntity, {
    where: [{ disabledReason: IsNull() }, { disabledReason: Not('account') }],
    order: { id: 'ASC' },
    take: MOST + 1,
  });
  const reach = reachOf(options);
  const lines = found
    .slice(0, MOST)
    .map(({ id, accountId, url, disabledReason, disabledAt, failingSince }) => ({
      name: `webhook ${id}`,
      remedy: `ask its account ${accountId} to check the receiver`,
      run: async () => {
        const origin = originOf(url);
        if (disabledReason !== null)
          throw new CheckError(
            `${origin}: disabled ${ago(now, disabledAt)} (${disabledReason})`,
            `npx dundun webhook enable --account ${accountId} --webhook ${id}`,
          );
        await reach(origin);
        if (failingSince !== null)
          throw new CheckError(
            `${origin} takes a connection, and its answers have been errors since ${ago(now, failingSince)}`,
          );
        return `${origin} takes a connection`;
      },
    }));
  return [...lines, ...furtherLine('webhook', found.length, MOST)];
}

/** Webhooks of one host share a connection. @throws CheckError */
function reachOf({ allowPrivate }: Pick<WebhookOptions, 'allowPrivate'>): Reach {
  const connection = { timeout: 8_000 };
  const connect = allowPrivate ? buildConnector(connection) : guardedConnector(connection);
  const known = new Map<string, Promise<void>>();
  const open = async (origin: string): Promise<void> => {
    const { protocol, hostname, port, host } = new URL(origin);
    const socket = await new Promise<Socket>((resolve, reject) => {
      connect({ protocol, hostname, port, host }, (error, opened) => {
        if (error) reject(error);
        else resolve(opened as Socket);
      });
    }).catch((error: unknown) => {
      throw new CheckError(`${origin} takes no connection (${causeOf(error)})`, undefined, {
        cause: error,
      });
    });
    socket.on('error', () => undefined);
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
  };
  return (origin) => {
    const opened = known.get(origin) ?? open(origin);
    known.set(origin, opened);
    return opened;
  };
}

function ago(now: number, at: number | null): string {
  const minutes = Math.round((now - (at ?? now)) / 60_000);
  if (minutes < 120) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}
