import type { DataSource } from 'typeorm';
import { MessagingConfigError } from '../message/errors.js';

const used = new WeakSet<DataSource>();

/**
 * Two modules on one data source would send each other's messages, each through its own providers.
 * @throws MessagingConfigError where another module of this process uses the data source
 */
export function useDataSource(dataSource: DataSource): void {
  if (used.has(dataSource))
    throw new MessagingConfigError(
      `dataSource: another MessagingModule of this process uses this data source; use one module with several providers and routes, or a data source with a database of its own`,
    );
  used.add(dataSource);
}

export function giveBackDataSource(dataSource: DataSource): void {
  used.delete(dataSource);
}
