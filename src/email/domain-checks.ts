import { type Clock, MESSAGING_CLOCK } from '@dundun/messaging';
import {
  type DueLane,
  type LaneTask,
  type LeasedLane,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainLookup } from './domain-lookup.js';
import { DomainsService } from './domains.service.js';

const NAME = 'email-domain';

/** Most domains in one look for due ones. */
const MOST_DUE = 100;

/** Checks domains again when they are due: each domain is a lane, so one process does it. */
@Injectable()
export class DomainChecks implements WorkQueue, OnModuleInit {
  readonly name = NAME;

  constructor(
    private readonly queues: WorkQueues,
    private readonly domains: DomainsService,
    private readonly lookup: DomainLookup,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onModuleInit(): void {
    this.queues.add(this);
  }

  async due(horizon: number): Promise<readonly DueLane[]> {
    const now = this.clock.now();
    const due = await this.domains.due(now + horizon, MOST_DUE);
    return due.flatMap(({ id, checkDueAt }) =>
      checkDueAt ? [{ lane: `${NAME}:${id}`, dueIn: checkDueAt.getTime() - now }] : [],
    );
  }

  open(leased: LeasedLane): LaneTask {
    const id = leased.lane.slice(NAME.length + 1);
    const dueIn = async () => ((await this.domains.dueAt(id)) ?? Infinity) - this.clock.now();
    let check: Promise<unknown> = Promise.resolve();
    return {
      underWay: 'a check of its records',
      nudge: () => undefined,
      pump: async () => {
        if (leased.stopping.aborted || !leased.valid || (await dueIn()) > 0) return;
        check = this.domains.check(id);
        await check;
      },
      settle: async () => void (await check.catch(() => undefined)),
      abort: () => this.lookup.cancel(),
      leave: () => Promise.resolve({ rateState: null, open: false }),
      nextDueIn: dueIn,
    };
  }
}
