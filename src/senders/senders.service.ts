import { MessagingService } from '@dundun/messaging';
import { Global, Injectable, Module } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type Also, lockAccount } from '../accounts/accounts.service.js';
import { Sender, type SenderState } from '../accounts/accounts.tables.js';
import { GatewayChannels } from '../channel.js';
import { ApiError, invalidField } from '../http/api-error.js';
import { AccountSenders } from './account-senders.js';

export type SenderOfAccount = Pick<Sender, 'accountId' | 'channel' | 'sender'>;

/** The ids of a WhatsApp number at Meta: both, or none. */
export interface MetaNumber {
  readonly phoneNumberId?: string | undefined;
  /** Its business account. */
  readonly waba?: string | undefined;
}

/** Most senders of an account on one channel. */
const MOST_SENDERS = 1_000;

const META_ID = /^\d{5,32}$/;

/**
 * The senders of accounts. Only an approved one is sent from.
 * ```
 * none ──request()──► pending ──approve(), add()──► approved
 * none ──────────────────add()────────────────────► approved
 * pending, approved ──remove()──► none
 * ```
 */
@Injectable()
export class SendersService {
  constructor(
    private readonly messaging: MessagingService,
    private readonly senders: AccountSenders,
    private readonly channels: GatewayChannels,
  ) {}

  /** Adds a sender, or approves one that waits. Repeatable. @throws ApiError 404, 422 */
  async add(of: SenderOfAccount, also?: Also): Promise<void> {
    this.#checkForm(of);
    await this.#in(of.accountId, (manager) => this.#put(manager, of, 'approved', also));
  }

  /** Adds a sender that waits for approval. @returns its state: it may be approved already */
  async request(of: SenderOfAccount, also?: Also): Promise<SenderState> {
    this.#checkForm(of);
    return this.#in(of.accountId, (manager) => this.#put(manager, of, 'pending', also));
  }

  /** @throws ApiError 404 where none waits for approval */
  async approve(of: SenderOfAccount, also?: Also): Promise<void> {
    await this.#in(of.accountId, async (manager) => {
      await this.#check(manager, { ...of, state: 'pending' });
      await manager.update(Sender, of, { state: 'approved' });
      await also?.(manager);
    });
  }

  /** What is queued with it is still sent. @param only in this state @throws ApiError 404 */
  async remove(of: SenderOfAccount, also?: Also, only?: SenderState): Promise<void> {
    await this.#in(of.accountId, async (manager) => {
      await this.#check(manager, { ...of, ...(only && { state: only }) });
      await manager.delete(Sender, of);
      await also?.(manager);
    });
  }

  /** Adds a WhatsApp number, or binds a known one to Meta. @throws ApiError 404, 422 */
  async addNumber(
    accountId: string,
    number: string,
    meta: MetaNumber = {},
    also?: Also,
  ): Promise<void> {
    const of = { accountId, channel: 'whatsapp', sender: number } as const;
    this.#checkForm(of);
    await this.#in(accountId, async (manager) => {
      const isBound = meta.phoneNumberId !== undefined || meta.waba !== undefined;
      await this.#put(manager, of, 'approved', isBound ? undefined : also);
      if (!isBound) return;
      const { phoneNumberId = '', waba = '' } = meta;
      for (const [field, id] of Object.entries({ 'phone-number-id': phoneNumberId, waba }))
        if (!META_ID.test(id))
          throw invalidField(field, 'must be the id that Meta shows, only digits');
      const other = await manager.findOneBy(Sender, { phoneNumberId });
      if (other && other.sender !== number)
        throw invalidField('phone-number-id', 'belongs to another number');
      await manager.update(Sender, of, { phoneNumberId, waba, templatesDueAt: new Date() });
      await also?.(manager);
    });
  }

  /** Adds a sender that is approved, to an account that the transaction makes. */
  async addTo(manager: EntityManager, of: SenderOfAccount): Promise<void> {
    await this.#put(manager, of, 'approved');
  }

  /** Locks the account, and empties the caches of this process afterwards. @throws ApiError 404 */
  async #in<T>(accountId: string, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.messaging.transaction(async (manager) => {
      await lockAccount(manager, accountId);
      return work(manager);
    });
    this.senders.forget();
    return result;
  }

  /** @throws ApiError 422 */
  #checkForm({ channel, sender }: SenderOfAccount): void {
    const { field, remedy } = this.channels.sendersOf(channel);
    const wrong = remedy(sender);
    if (wrong !== undefined) throw invalidField(field, wrong);
  }

  /** @throws ApiError 404 where the account has no such sender */
  async #check(
    manager: EntityManager,
    where: SenderOfAccount & { readonly state?: SenderState },
  ): Promise<void> {
    if (await manager.existsBy(Sender, where)) return;
    const { noun } = this.channels.sendersOf(where.channel);
    throw new ApiError('not_found', `There is no such ${noun}`);
  }

  /** @returns its state: an approved one stays as it is @throws ApiError 422 */
  async #put(
    manager: EntityManager,
    of: SenderOfAccount,
    state: SenderState,
    also?: Also,
  ): Promise<SenderState> {
    const { accountId, channel, sender } = of;
    const { field, drop, isExclusive } = this.channels.sendersOf(channel);
    const known = await manager.findOneBy(Sender, of);
    if (known?.state === 'approved') return known.state;
    if (known) await manager.update(Sender, of, { state });
    else {
      if ((await manager.countBy(Sender, { accountId, channel })) >= MOST_SENDERS)
        throw invalidField(
          field,
          `is one too many: an account has at most ${MOST_SENDERS}; ${drop} one first`,
        );
      if (isExclusive && (await manager.existsBy(Sender, { channel, exclusive: sender })))
        throw invalidField(field, 'belongs to another account');
      const exclusive = isExclusive ? sender : null;
      await manager.insert(Sender, { ...of, state, exclusive, createdAt: new Date() });
    }
    await also?.(manager);
    return state;
  }
}

const SERVICES = [AccountSenders, SendersService];

/** Also for the command line. */
@Global()
@Module({ providers: SERVICES, exports: SERVICES })
export class SendersModule {}
