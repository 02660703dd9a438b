import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Fresh, RowCache, whenKnown } from '../accounts/row-cache.js';
import { EmailDomain } from './domains.tables.js';

/** Domains from which accounts may send email. */
@Injectable()
export class SenderDomains {
  readonly #verified: RowCache<EmailDomain>;

  constructor(@InjectDataSource() source: DataSource) {
    this.#verified = new RowCache(source, EmailDomain, ['accountId', 'verifiedName']);
  }

  /** @param domain in lower case, with A-labels */
  isVerified(accountId: string, domain: string): Fresh<boolean> {
    const wanted = { accountId, verifiedName: domain };
    return whenKnown(this.#verified.find(wanted), (found) => found !== undefined);
  }

  /** Empties the cache, after a change of a domain in this process. */
  forget(): void {
    this.#verified.clear();
  }
}
