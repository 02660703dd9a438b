import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type FindOptionsOrder } from 'typeorm';
import { Sender } from '../accounts/accounts.tables.js';
import { type Fresh, RowCache, whenKnown } from '../accounts/row-cache.js';
import { GatewayChannels } from '../channel.js';
import { ApiError } from '../http/api-error.js';

const ORDERS = {
  'by name': { sender: 'ASC' },
  oldest: { createdAt: 'ASC', sender: 'ASC' },
} as const satisfies Record<string, FindOptionsOrder<Sender>>;

/** Reads senders, those that are sent from by a cache. */
@Injectable()
export class AccountSenders {
  readonly #senders: RowCache<Sender>;
  readonly #exclusive: RowCache<Sender>;
  readonly #first: Readonly<Record<keyof typeof ORDERS, RowCache<Sender>>>;

  constructor(
    @InjectDataSource() private readonly source: DataSource,
    private readonly channels: GatewayChannels,
  ) {
    const cache = (columns: (keyof Sender)[], first?: keyof typeof ORDERS) =>
      new RowCache(source, Sender, columns, first && ORDERS[first]);
    this.#senders = cache(['accountId', 'channel', 'sender']);
    this.#exclusive = cache(['channel', 'exclusive']);
    const ofAccount: (keyof Sender)[] = ['accountId', 'channel', 'state'];
    this.#first = { 'by name': cache(ofAccount, 'by name'), oldest: cache(ofAccount, 'oldest') };
  }

  /** Whether the account may send from it. */
  isApproved(accountId: string, channel: string, sender: string): Fresh<boolean> {
    return whenKnown(
      this.#senders.find({ accountId, channel, sender }),
      (found) => found?.state === 'approved',
    );
  }

  /** What refuses a send from it; `undefined`: the account may send from it. */
  async refusalOf(
    accountId: string,
    channel: string,
    sender: string,
  ): Promise<ApiError | undefined> {
    if (await this.isApproved(accountId, channel, sender)) return undefined;
    const { error, noun } = this.channels.sendersOf(channel);
    return new ApiError(error, `The ${noun} ${sender} is not registered`, {
      details: [{ path: 'from', message: `must be a ${noun} registered for this account` }],
    });
  }

  /** The approved sender that the account sends from where it names none. */
  async firstOf(accountId: string, channel: string): Promise<string | undefined> {
    const cache = this.#first[this.channels.sendersOf(channel).first];
    return (await cache.find({ accountId, channel, state: 'approved' }))?.sender;
  }

  /** The account of a WhatsApp number. */
  async ownerOf(number: string): Promise<string | undefined> {
    return (await this.#numberOf(number))?.accountId;
  }

  /** Meta's id of a WhatsApp number; `undefined`: the number is not bound to Meta. */
  async phoneNumberIdOf(number: string): Promise<string | undefined> {
    return (await this.#numberOf(number))?.phoneNumberId ?? undefined;
  }

  /** Also those that wait for approval; in the order in which {@link firstOf} takes them. */
  list(accountId: string, channel: string): Promise<Sender[]> {
    const order = ORDERS[this.channels.sendersOf(channel).first];
    return this.source.manager.find(Sender, { where: { accountId, channel }, order });
  }

  /** The first senders of all accounts that wait for approval. */
  pending(channel: string, most: number): Promise<Sender[]> {
    const order = { accountId: 'ASC', sender: 'ASC' } as const;
    const where = { channel, state: 'pending' } as const;
    return this.source.manager.find(Sender, { where, order, take: most });
  }

  #numberOf(number: string): Fresh<Sender | undefined> {
    return this.#exclusive.find({ channel: 'whatsapp', exclusive: number });
  }

  /** Empties the caches, after a change of a sender in this process. */
  forget(): void {
    for (const cache of [this.#senders, this.#exclusive, ...Object.values(this.#first)])
      cache.clear();
  }
}
