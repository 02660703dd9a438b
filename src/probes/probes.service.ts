import { type Clock, MESSAGING_CLOCK, MessagingService, SmsService } from '@dundun/messaging';
import { ChannelRegistry, type WitnessedReceipts } from '@dundun/messaging/ports';
import { countryOfNumber, partialAddress } from '@dundun/messaging/values';
import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In, IsNull, LessThan } from 'typeorm';
import type { Also } from '../accounts/accounts.service.js';
import type { Carrier } from '../carriers/carriers.js';
import { ENVIRONMENT, type Environment } from '../config/environment.js';
import { invalidField } from '../http/api-error.js';
import { ProbeEntity } from './probes.tables.js';

const HOUR = 3_600_000;

const CHANNEL = 'sms';

/** After so long, in milliseconds, no report of a probe is waited for. */
const REPORTED_WITHIN = 2 * HOUR;

/** Probes are kept for so long, in milliseconds. */
const KEPT = 30 * 24 * HOUR;

/** Most messages of one run. */
const MOST = 200;

/** Most open probes whose messages are read at once. */
const MOST_READ = 500;

type Settings = Pick<
  Environment,
  'carriers' | 'PROBE_NUMBERS' | 'PROBE_SECRET' | 'PROBE_FROM' | 'PROBE_WAIT'
>;

/** The tenant of the probes of a carrier: a rule of its own leads its messages to the carrier. */
function probeTenantOf(carrier: string): string {
  return `probe-${carrier}`;
}

/** Carriers that probes can leave by. */
function probedCarriers({ carriers }: Pick<Settings, 'carriers'>): readonly Carrier[] {
  return carriers.of(CHANNEL);
}

/** Rules that lead probes to the carrier that they try; to be the first ones. */
export function probeRoutes({ PROBE_NUMBERS, carriers }: Settings) {
  if (PROBE_NUMBERS === undefined) return [];
  return probedCarriers({ carriers }).map(({ name }) => {
    return { channel: CHANNEL, tenant: probeTenantOf(name), use: name };
  });
}

/**
 * What the test phones have got, for the library: of probes that were reported as delivered, those that called back
 * within the wait.
 */
export function witnessOf(
  dataSource: DataSource,
  { PROBE_WAIT: wait }: Pick<Settings, 'PROBE_WAIT'>,
): (since: Date) => Promise<readonly WitnessedReceipts[]> {
  return async (since) => {
    const rows = await dataSource.manager
      .createQueryBuilder(ProbeEntity, 'probe')
      .select('probe.carrier', 'provider')
      .addSelect('probe.country', 'country')
      .addSelect('COUNT(*)', 'reported')
      .addSelect(
        `SUM(CASE WHEN probe.seenAt <= probe.deliveredAt + ${wait} THEN 1 ELSE 0 END)`,
        'seen',
      )
      .where('probe.sentAt >= :since AND probe.deliveredAt IS NOT NULL', { since: since.getTime() })
      .andWhere('(probe.seenAt IS NOT NULL OR probe.deliveredAt <= :until)', {
        until: Date.now() - wait,
      })
      .groupBy('probe.carrier')
      .addGroupBy('probe.country')
      .getRawMany<Record<'provider' | 'country' | 'reported' | 'seen', string>>();
    return rows.map(({ provider, country, reported, seen }) => {
      return {
        provider,
        channel: CHANNEL,
        country,
        reported: Number(reported),
        seen: Number(seen),
      };
    });
  };
}

export interface SentProbe {
  readonly id: string;
  readonly carrier: string;
  readonly country: string;
  /** With most of its digits masked. */
  readonly number: string;
}

/**
 * `arrived`: the phone has called back. `failed`: the message ended without a delivery. `missing`: neither came within
 * the wait.
 */
export type ProbeState = 'waiting' | 'arrived' | 'failed' | 'missing';

export interface LookedProbe {
  readonly state: ProbeState;
  /** Status of the message, as the carrier reports it. */
  readonly status: string;
  /** Milliseconds from the send to the call of the phone. */
  readonly after: number | null;
}

/**
 * Sends messages to test phones of the operators, which call back what they get:
 *
 * ```
 * probe ─carrier─▶ phone ─signed request─▶ seen
 *          └──────report of delivery─────▶ delivered; not seen within the wait: doubted
 * ```
 */
@Injectable()
export class Probes {
  constructor(
    private readonly messaging: MessagingService,
    private readonly sms: SmsService,
    private readonly channels: ChannelRegistry,
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Settings,
    @Inject(MESSAGING_CLOCK) private readonly clock: Pick<Clock, 'now' | 'id'>,
  ) {}

  /** Milliseconds that a phone has to call back. */
  get wait(): number {
    return this.environment.PROBE_WAIT;
  }

  /**
   * Sends a probe to each number through a carrier, or through each.
   * @param slot of a scheduled run: what it has sent already is left out
   * @param also in a transaction before the first one is sent
   * @throws ApiError 422 on `carrier`, or without numbers
   */
  async send(carrier?: string, slot?: string, also?: Also): Promise<SentProbe[]> {
    const { PROBE_NUMBERS: numbers } = this.environment;
    if (!numbers)
      throw invalidField('PROBE_NUMBERS', 'is missing; set it to the numbers of your test phones');
    const all = probedCarriers(this.environment).map(({ name }) => name);
    const names = carrier === undefined ? all : all.filter((name) => name === carrier);
    if (names.length === 0)
      throw invalidField('carrier', `must carry SMS, as these: ${all.join(', ')}`);
    if (names.length * numbers.length > MOST)
      throw invalidField('carrier', `is needed: a run sends at most ${MOST} messages`);
    if (also) await this.messaging.transaction((manager) => also(manager));
    const sent: SentProbe[] = [];
    for (const name of names)
      for (const [index, number] of numbers.entries())
        sent.push(...(await this.#send(name, number, slot && `${slot} ${index} ${name}`)));
    return sent;
  }

  async #send(carrier: string, to: string, slot: string | undefined): Promise<SentProbe[]> {
    const id = this.clock.id();
    const country = countryOfNumber(to);
    const message = {
      from: this.environment.PROBE_FROM,
      to,
      body: `Probe ${id}`,
      deliveryReport: true,
    };
    return this.messaging.transaction(async (manager) => {
      if (slot !== undefined && (await manager.existsBy(ProbeEntity, { slot }))) return [];
      const tenant = probeTenantOf(carrier);
      const batch = await this.sms.send(message, { tenant, manager });
      await manager.insert(ProbeEntity, {
        id,
        carrier,
        country,
        messageId: `${batch.id}-0`,
        sentAt: new Date(this.clock.now()),
        status: 'queued',
        isOpen: 1,
        slot: slot ?? null,
      });
      return [{ id, carrier, country, number: partialAddress({ kind: 'phone', value: to }) }];
    });
  }

  /** A phone has got it; repeatable. @returns whether there is such a probe */
  async seen(id: string): Promise<boolean> {
    return this.messaging.transaction(async (manager) => {
      const seenAt = new Date(this.clock.now());
      await manager.update(ProbeEntity, { id, seenAt: IsNull() }, { seenAt });
      return manager.existsBy(ProbeEntity, { id });
    });
  }

  /** Reads the messages of open probes. @returns how many stay open */
  async follow(): Promise<number> {
    const open = await this.dataSource.manager.find(ProbeEntity, {
      where: { isOpen: 1 },
      order: { id: 'ASC' },
      take: MOST_READ,
    });
    let left = 0;
    for (const probe of open) if (await this.#follow(probe)) left++;
    return left;
  }

  /** @returns whether its message may still change */
  async #follow(probe: ProbeEntity): Promise<boolean> {
    const { id, carrier, messageId, sentAt, seenAt } = probe;
    const tenant = probeTenantOf(carrier);
    const { status, reports } = await this.sms.timeline(messageId, { tenant });
    const { terminal, failed } = this.channels
      .statusesOf(CHANNEL)
      .find(([name]) => name === status)![1];
    const delivered = reports.find((report) => report.status === 'delivered');
    const now = this.clock.now();
    const isSettled = delivered
      ? seenAt !== null || now > delivered.receivedAt.getTime() + this.wait
      : terminal === true && failed === true;
    const isOpen = !isSettled && now - sentAt.getTime() < REPORTED_WITHIN;
    const isSame = probe.deliveredAt !== null || !delivered;
    if (isOpen && isSame && probe.status === status) return true;
    await this.messaging.transaction((manager) =>
      manager.update(
        ProbeEntity,
        { id },
        { status, deliveredAt: delivered?.receivedAt ?? null, isOpen: Number(isOpen) },
      ),
    );
    return isOpen;
  }

  async look(ids: readonly string[]): Promise<ReadonlyMap<string, LookedProbe>> {
    const probes = await this.dataSource.manager.findBy(ProbeEntity, { id: In([...ids]) });
    const now = this.clock.now();
    return new Map(
      probes.map(({ id, status, sentAt, seenAt, deliveredAt, isOpen }) => {
        const isOver = now > sentAt.getTime() + this.wait;
        const after = seenAt && seenAt.getTime() - sentAt.getTime();
        const hasFailed = isOpen === 0 && deliveredAt === null;
        const state = seenAt ? 'arrived' : hasFailed ? 'failed' : isOver ? 'missing' : 'waiting';
        return [id, { state, status, after }];
      }),
    );
  }

  /** Whether all probes of the slot were sent: they are sent in one order. */
  async hasSlot(slot: string): Promise<boolean> {
    const last = probedCarriers(this.environment).at(-1)?.name ?? '';
    const index = (this.environment.PROBE_NUMBERS?.length ?? 0) - 1;
    return this.dataSource.manager.existsBy(ProbeEntity, { slot: `${slot} ${index} ${last}` });
  }

  async purge(): Promise<void> {
    const before = new Date(this.clock.now() - KEPT);
    await this.messaging.transaction((manager) =>
      manager.delete(ProbeEntity, { sentAt: LessThan(before) }),
    );
  }
}
