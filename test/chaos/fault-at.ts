import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from './app.js';
import type { Cluster } from './cluster.js';
import type { Arming } from './processes/protocol.js';
import { until } from './until.js';

export interface InjectedFault {
  /** Resolves when every send was accepted, including those of a frozen process. */
  readonly sending: Promise<unknown>;
  /** The frozen process, if the fault was a freeze. */
  readonly frozen: App | undefined;
}

/**
 * Sends a burst with a fault at the `nth` passage of a point: a kill hits every process that passes it,
 * another fault the first process alone. Where a burst passes the point too seldom, the next passage of
 * a further burst gets the fault.
 */
export async function faultAt(
  cluster: Cluster,
  arming: Arming,
  burst: () => Promise<void>,
): Promise<InjectedFault> {
  const { kills, blocks } = cluster;
  const directory = await mkdtemp(join(tmpdir(), 'dundun-fault-'));
  const claim = arming.fault === 'SIGKILL' ? undefined : { claim: join(directory, 'first') };
  const sending: Promise<void>[] = [];
  for (let { nth } = arming; ; nth = 1) {
    await cluster.arm({ ...arming, ...claim, nth });
    let sent = false;
    const one = burst();
    const end = (): void => void (sent = true);
    one.then(end, end);
    sending.push(one);
    let frozen: App | undefined;
    const hasHit = async (): Promise<boolean> => {
      frozen = await cluster.frozen();
      return frozen !== undefined || cluster.kills > kills || cluster.blocks > blocks;
    };
    const over = async (): Promise<boolean> => sent && cluster.idle();
    await until(async () => (await hasHit()) || over(), 60_000, cluster.replay);
    if (await hasHit()) {
      await rm(directory, { recursive: true });
      return { sending: Promise.all(sending), frozen };
    }
    await one;
  }
}
