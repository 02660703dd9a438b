import {
  type Clock,
  MESSAGING_CLOCK,
  MessagingService,
  type PlatformTemplate,
  type TemplateListener,
  type TemplateStatusUpdate,
} from '@dundun/messaging';
import { MESSAGE_TRANSPORTS, type MessageTransport } from '@dundun/messaging/ports';
import {
  dueTask,
  type DueWork,
  type LaneTask,
  type LeasedLane,
  type WorkQueue,
  WorkQueues,
  timeLimit,
} from '@dundun/messaging/queue';
import type { WhatsAppCloudTransport } from '@dundun/messaging/whatsapp-cloud';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager, LessThanOrEqual } from 'typeorm';
import { Sender, TemplateEntity } from '../../accounts/accounts.tables.js';
import { TemplateRegistry } from '../../accounts/templates.js';
import { type Environment, ENVIRONMENT } from '../../config/environment.js';

/** Milliseconds between two reads of a list, and after one that failed. */
const EVERY = 900_000;
const AGAIN = 60_000;
const TIMEOUT = 20_000;

const MOST_ROWS = 500;

/**
 * Keeps the templates of the accounts whose numbers are bound to Meta as Meta has them: from its list,
 * each quarter of an hour and after each change, and from its webhooks at once. Each business account
 * is a lane, so one process reads its list.
 */
@Injectable()
export class WhatsAppTemplateSync implements WorkQueue, TemplateListener, OnModuleInit {
  readonly name = 'whatsapp-templates';
  readonly #logger = new Logger('WhatsAppTemplates');

  constructor(
    private readonly queues: WorkQueues,
    private readonly messaging: MessagingService,
    private readonly registry: TemplateRegistry,
    @InjectDataSource() private readonly source: DataSource,
    @Inject(MESSAGE_TRANSPORTS) private readonly transports: ReadonlyMap<string, MessageTransport>,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now'>,
    @Inject(ENVIRONMENT)
    private readonly environment: Pick<Environment, 'carriers'>,
  ) {}

  onModuleInit(): void {
    const ways = this.environment.carriers.of('whatsapp');
    if (ways.some(({ traits }) => traits.bindsNumbers)) this.queues.add(this);
  }

  async due(horizon: number): Promise<readonly DueWork[]> {
    const now = this.clock.now();
    const found = await this.source.manager.find(Sender, {
      where: { templatesDueAt: LessThanOrEqual(new Date(now + horizon)) },
      order: { templatesDueAt: 'ASC' },
      take: MOST_ROWS,
    });
    return found.flatMap(({ waba, templatesDueAt }) =>
      waba === null ? [] : [{ key: waba, dueIn: Number(templatesDueAt) - now }],
    );
  }

  start(leased: LeasedLane, waba: string): LaneTask {
    return dueTask(leased, {
      underWay: 'the list of its templates',
      dueIn: async () => Number((await this.#dueAt(waba)) ?? Infinity) - this.clock.now(),
      run: (stop) => this.#sync(waba, stop),
    });
  }

  /** The list is read at once: it has changes that webhooks leave out, such as a new template. */
  async onTemplatesChanged(updates: readonly TemplateStatusUpdate[]): Promise<void> {
    await this.messaging.transaction(async (manager) => {
      for (const { account: waba, name, language, status } of updates) {
        await manager.update(TemplateEntity, { waba, name, language }, { status });
        const templatesDueAt = new Date(this.clock.now());
        await manager.update(Sender, { waba }, { templatesDueAt });
      }
    });
    this.registry.forget();
  }

  async #dueAt(waba: string): Promise<Date | null | undefined> {
    const one = await this.source.manager.findOne(Sender, {
      where: { waba },
      order: { templatesDueAt: 'ASC' },
    });
    return one?.templatesDueAt;
  }

  async #sync(waba: string, stop: AbortSignal): Promise<void> {
    const dueAt = await this.#dueAt(waba);
    if (!dueAt) return;
    let wait = EVERY;
    try {
      const listed = await this.#read(waba, timeLimit(TIMEOUT, stop));
      await this.messaging.transaction((manager) => this.#store(manager, waba, listed));
      this.registry.forget();
    } catch (error) {
      if (stop.aborted) return;
      wait = AGAIN;
      this.#logger.warn({ message: `templates of ${waba} not read`, err: error });
    }
    // A change that came meanwhile is due already: its list is read, too.
    const templatesDueAt = new Date(this.clock.now() + wait);
    await this.messaging.transaction((manager) =>
      manager.update(Sender, { waba, templatesDueAt: LessThanOrEqual(dueAt) }, { templatesDueAt }),
    );
  }

  /** One of the carriers has the token of the business account. */
  #read(waba: string, signal: AbortSignal): Promise<readonly PlatformTemplate[]> {
    const carriers = [...this.transports.values()].filter(listsTemplates);
    return Promise.any(carriers.map((one) => one.templatesOf(waba, signal)));
  }

  /** Templates that Meta no longer lists go; those that an operator added stay. */
  async #store(
    manager: EntityManager,
    waba: string,
    listed: readonly PlatformTemplate[],
  ): Promise<void> {
    const numbers = await manager.findBy(Sender, { waba });
    const accounts = [...new Set(numbers.map(({ accountId }) => accountId))].toSorted();
    await manager.delete(TemplateEntity, { waba });
    const rows = accounts.flatMap((accountId) =>
      listed.flatMap(({ name, language, status, category, params, ...known }) =>
        category === null || category === 'service'
          ? []
          : [
              {
                accountId,
                name,
                language,
                category,
                status,
                waba,
                fixedLength: known.fixedLength ?? null,
                body: known.body ?? null,
                ...paramsOf(params),
              },
            ],
      ),
    );
    await manager.save(TemplateEntity, rows, { chunk: MOST_ROWS });
  }
}

function listsTemplates(transport: MessageTransport): transport is WhatsAppCloudTransport {
  return 'templatesOf' in transport;
}

function paramsOf(
  params: PlatformTemplate['params'],
): Pick<TemplateEntity, 'params_count' | 'paramNames'> {
  return typeof params === 'number'
    ? { params_count: params, paramNames: null }
    : { params_count: params.length, paramNames: params };
}
