import { Logger } from '@nestjs/common';
import type { Logger as TypeOrmLoggerPort } from 'typeorm';

/** TypeORM's words in the application's log; never a query's parameters, which are people's messages. */
export class TypeOrmLogger implements TypeOrmLoggerPort {
  readonly #logger = new Logger('Database');

  logQuery(): void {}

  /** The error is thrown as well, and told by whoever cannot go on. */
  logQueryError(): void {}

  logQuerySlow(time: number, query: string): void {
    this.#logger.warn({ message: 'slow query', ms: time, query });
  }

  logSchemaBuild(message: string): void {
    this.#logger.debug(message);
  }

  logMigration(message: string): void {
    this.#logger.debug(message);
  }

  log(level: 'log' | 'info' | 'warn', message: unknown): void {
    if (level === 'warn') this.#logger.warn(message);
    else this.#logger.debug(message);
  }
}
