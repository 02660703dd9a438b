import type { DataSource, EntityManager } from 'typeorm';
import { MessagingConfigError } from '../message/errors.js';

/** Finds the transaction of the present flow, where a package keeps it in the flow's context. */
export interface AmbientTransaction {
  /** Manager of the flow's open transaction on the data source; `undefined` outside of one. */
  managerOf(dataSource: DataSource): EntityManager | undefined;
}

/** The property that `addTransactionalDataSource()` of `typeorm-transactional` sets. */
const MARK = '@transactional/data-source';

/**
 * Sends join the transaction of `@Transactional()` and `runInTransaction()` of the package
 * `typeorm-transactional`, to which the data source is added by `addTransactionalDataSource()`.
 * @example
 * MessagingModule.forRoot({ ambientTransaction: typeOrmTransactional(), … })
 */
export function typeOrmTransactional(): AmbientTransaction {
  // The package answers the property `manager` with that of the flow's transaction.
  return { managerOf: ({ manager }) => openOf(manager) };
}

/** The manager where it is that of an open transaction. */
export function openOf(manager: EntityManager): EntityManager | undefined {
  return manager.queryRunner?.isTransactionActive ? manager : undefined;
}

/**
 * Without the option, sends of a flow within `@Transactional()` would be committed by themselves.
 * @throws MessagingConfigError for a data source of `typeorm-transactional` whose transactions are not joined
 */
export function requireAmbient(dataSource: DataSource, ambient?: AmbientTransaction): void {
  if (!(MARK in dataSource)) return;
  if (!ambient)
    throw new MessagingConfigError(
      'ambientTransaction: the data source is one of typeorm-transactional; set it to typeOrmTransactional(), so that what is sent within @Transactional() joins its transaction',
    );
  if (!Object.getOwnPropertyDescriptor(dataSource, 'manager')?.get)
    throw new MessagingConfigError(
      'ambientTransaction: the data source was added with patch: false, which hides the transactions of @Transactional(); add it with patch: true',
    );
}
