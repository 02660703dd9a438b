import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Account } from '../accounts/accounts.tables.js';
import { DEMO_NAME } from '../accounts/demo-account.js';
import { type Fresh, RowCache, whenKnown } from '../accounts/row-cache.js';
import { type Environment, ENVIRONMENT } from '../config/environment.js';

/** Verified domain of the demo account on the simulated carrier. */
export const DEMO_DOMAIN = 'demo.test';

/** Domains from which accounts may send email. */
@Injectable()
export class SenderDomains {
  readonly #accounts: RowCache<Account>;

  constructor(
    @InjectDataSource() source: DataSource,
    @Inject(ENVIRONMENT) private readonly environment: Environment,
  ) {
    this.#accounts = new RowCache(source, Account, ['id']);
  }

  /** @param domain in lower case, with A-labels */
  isVerified(accountId: string, domain: string): Fresh<boolean> {
    if (domain !== DEMO_DOMAIN || this.environment.CARRIER !== 'simulator') return false;
    return whenKnown(
      this.#accounts.find({ id: accountId }),
      (account) => account?.name === DEMO_NAME,
    );
  }
}
