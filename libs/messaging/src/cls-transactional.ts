import { TransactionHost } from '@nestjs-cls/transactional';
import type { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { type AmbientTransaction, openOf } from './ports/ambient-transaction.js';

/**
 * Sends join the transaction of `@Transactional()` and `TransactionHost.withTransaction()` of
 * `@nestjs-cls/transactional` with its adapter for TypeORM.
 * @param connectionName of the `ClsPluginTransactional` @default the one without a name
 * @example
 * MessagingModule.forRoot({ ambientTransaction: clsTransactional(), … })
 */
export function clsTransactional(connectionName?: string): AmbientTransaction {
  return {
    managerOf(dataSource) {
      const { tx } = TransactionHost.getInstance<TransactionalAdapterTypeOrm>(connectionName);
      return tx.dataSource === dataSource ? openOf(tx) : undefined;
    },
  };
}
