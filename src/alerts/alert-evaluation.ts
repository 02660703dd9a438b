import { type Clock, MESSAGING_CLOCK, MessagingService } from '@dundun/messaging';
import {
  dueTask,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type MessagingJob,
  type WorkQueue,
  WorkQueues,
} from '@dundun/messaging/queue';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { type EntityManager, In, IsNull, LessThan } from 'typeorm';
import { type AlertKind, kindOf } from './alert-kinds.js';
import { type AlertRule, AlertRules } from './alert-rules.js';
import { AlertWatches, MOST_FINDINGS, type Observed } from './alert-watches.js';
import { Alerts, type Finding } from './alerts.js';
import { AlertEntity, AlertNoticeEntity, LONGEST_SUBJECT } from './alerts.tables.js';
import { EvaluationState } from './evaluation-state.js';
import { FailureCounts } from './failure-counts.js';

const HOUR = 3_600_000;

/** Resolved alerts, and their notices, are kept for so long, in milliseconds. */
const KEPT = 90 * 24 * HOUR;

/** Alerts that one transaction deletes. */
const SLICE = 500;

/** Alerts that one transaction raises or resolves, of about eight statements each. */
const CHANGED = 50;

/** The only lane of the evaluation, so that one process at a time has it. */
const KEY = 'all';

/** Evaluates the rules once in `ALERTS_EVERY`: one process of all that run. */
@Injectable()
export class AlertEvaluation implements WorkQueue, OnModuleInit {
  readonly name = 'alert-rules';
  readonly jobs: readonly MessagingJob[] = [
    { name: 'purge alerts', every: HOUR, run: (signal) => this.purge(signal) },
  ];
  readonly #logger = new Logger('Alerts');

  constructor(
    private readonly queues: WorkQueues,
    private readonly messaging: MessagingService,
    private readonly rules: AlertRules,
    private readonly alerts: Alerts,
    private readonly watches: AlertWatches,
    private readonly counts: FailureCounts,
    private readonly state: EvaluationState,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
  ) {}

  onModuleInit(): void {
    this.queues.add(this);
  }

  async due(): Promise<readonly DueWork[]> {
    return [{ key: KEY, dueIn: await this.state.dueIn() }];
  }

  start(leased: LeasedLane): LaneTask {
    return dueTask(leased, {
      underWay: 'an evaluation of the rules of alerts',
      dueIn: () => this.state.dueIn(),
      run: () => this.evaluate(() => leased.valid && !leased.stopping.aborted),
    });
  }

  /** Never rejects for a rule that cannot be evaluated: its alerts stay as they are. */
  async evaluate(mayGoOn: () => boolean = () => true): Promise<void> {
    // A rule that ends the process is not evaluated again at once.
    const mayRaise = await this.state.begin();
    const rules = await this.rules.list();
    for (const rule of rules) {
      if (!mayGoOn()) return;
      try {
        await this.#evaluate(rule, rules, mayRaise, mayGoOn);
      } catch (error) {
        this.#logger.warn({
          message: 'a rule of alerts is not evaluated',
          rule: rule.id,
          err: error,
        });
      }
    }
    await this.#endThoseOfRemoved(rules, mayGoOn);
  }

  async #evaluate(
    rule: AlertRule,
    all: readonly AlertRule[],
    mayRaise: boolean,
    mayGoOn: () => boolean,
  ): Promise<void> {
    const observed = rule.enabled ? await this.watches.observe(rule) : { findings: [] };
    const lapsed = kindOf(rule.kind).lapses ?? Infinity;
    const now = this.clock.now();
    const {
      findings,
      stays = () => false,
      isCut = false,
    }: Observed = observed ?? {
      findings: [],
      stays: ({ seenAt }) => now - seenAt.getTime() < lapsed,
    };
    const found = findings.filter((one) => isOf(rule, one, all));
    const own = new Map(found.slice(0, MOST_FINDINGS).map((one) => [placeOf(one), one]));
    const isWhole = !isCut && found.length <= MOST_FINDINGS;
    if (!isWhole)
      this.#logger.warn({
        message: `a rule of alerts finds more than ${MOST_FINDINGS}: the others are not raised, and none is resolved`,
        rule: rule.id,
      });
    const raised = await this.alerts.raisedBy(rule.id);
    const places = new Set(raised.map(placeOf));
    if (isWhole) {
      const isOver = (alert: AlertEntity) => !own.has(placeOf(alert)) && !stays(alert);
      const over = raised.filter(isOver).map(({ id }) => id);
      await this.#inSlices(over, mayGoOn, async (manager, ids) => {
        // One that a module has raised again meanwhile was seen since.
        const present = await manager.findBy(AlertEntity, {
          id: In([...ids]),
          resolvedAt: IsNull(),
        });
        const told: string[] = [];
        for (const alert of present.filter(isOver))
          told.push(...(await this.alerts.end(manager, rule, alert)));
        return told;
      });
    }
    const held = [...own].flatMap(([place, one]) => (mayRaise || places.has(place) ? one : []));
    await this.#inSlices(held, mayGoOn, async (manager, slice) => {
      const told: string[] = [];
      for (const one of slice) told.push(...(await this.alerts.put(manager, rule, one)));
      return told;
    });
  }

  /** Each slice in a transaction of its own, so that none keeps the write lock of SQLite for long. */
  async #inSlices<T>(
    all: readonly T[],
    mayGoOn: () => boolean,
    work: (manager: EntityManager, slice: readonly T[]) => Promise<readonly string[]>,
  ): Promise<void> {
    for (let from = 0; from < all.length && mayGoOn(); from += CHANGED) {
      const slice = all.slice(from, from + CHANGED);
      this.alerts.wake(await this.messaging.transaction((manager) => work(manager, slice)));
    }
  }

  /** Alerts of rules that an operator has removed since. */
  async #endThoseOfRemoved(rules: readonly AlertRule[], mayGoOn: () => boolean): Promise<void> {
    const ids = await this.alerts.raisedByOthers(rules);
    await this.#inSlices(ids, mayGoOn, async (manager, slice) => {
      const where = { id: In([...slice]), resolvedAt: IsNull() };
      const alerts = await manager.findBy(AlertEntity, where);
      // A rule may have been added after `rules` were read, and raised by the process that evaluates now.
      const present = await this.rules.list(manager);
      const told: string[] = [];
      for (const alert of alerts) {
        if (present.some(({ id }) => id === alert.rule)) continue;
        const rule = present.find(({ id }) => id === alert.kind);
        if (rule) told.push(...(await this.alerts.end(manager, rule, alert)));
      }
      return told;
    });
  }

  async purge(signal: AbortSignal): Promise<void> {
    await this.counts.purge();
    const before = new Date(this.clock.now() - KEPT);
    while (!signal.aborted) {
      const removed = await this.messaging.transaction((manager) => removeOld(manager, before));
      if (removed < SLICE) return;
    }
  }
}

async function removeOld(manager: EntityManager, before: Date): Promise<number> {
  const old = await manager.find(AlertEntity, {
    select: { id: true },
    where: { resolvedAt: LessThan(before) },
    take: SLICE,
  });
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) {
    await manager.delete(AlertNoticeEntity, { alertId: In(ids) });
    await manager.delete(AlertEntity, { id: In(ids) });
  }
  await manager.delete(AlertNoticeEntity, { state: 'test', createdAt: LessThan(before) });
  return ids.length;
}

/** Account and subject: an alert and its finding have the same. */
function placeOf({
  subject,
  account = null,
  accountId = account,
}: Pick<Finding, 'subject' | 'account'> & Partial<Pick<AlertEntity, 'accountId'>>): string {
  return JSON.stringify([accountId, subject.slice(0, LONGEST_SUBJECT)]);
}

/** An account with a rule of its own of the kind is left out of the rule of all accounts. */
function isOf(
  { id, kind, accountId }: Pick<AlertRule<AlertKind>, 'id' | 'kind' | 'accountId'>,
  { account = null }: Finding,
  all: readonly AlertRule[],
): boolean {
  if (accountId !== null) return account === accountId;
  return (
    account === null ||
    !isThereByDefault(id, kind) ||
    !all.some((rule) => rule.kind === kind && rule.accountId === account)
  );
}

function isThereByDefault(id: string, kind: AlertKind): boolean {
  return id === kind;
}
