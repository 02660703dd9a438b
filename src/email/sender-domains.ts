import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, IsNull, Not } from 'typeorm';
import type { AccountDomains } from '../accounts/senders.js';
import { type Fresh, RowCache, whenKnown } from '../accounts/row-cache.js';
import { EmailDomain } from './domains.tables.js';

/** Verified domains, from which accounts send email and to which they receive it. */
@Injectable()
export class SenderDomains implements AccountDomains {
  readonly #verified: RowCache<EmailDomain>;
  readonly #names: RowCache<EmailDomain>;

  constructor(@InjectDataSource() private readonly source: DataSource) {
    this.#verified = new RowCache(source, EmailDomain, ['accountId', 'verifiedName']);
    this.#names = new RowCache(source, EmailDomain, ['verifiedName']);
  }

  /** @param domain in lower case, with A-labels */
  isVerified(accountId: string, domain: string): Fresh<boolean> {
    const wanted = { accountId, verifiedName: domain };
    return whenKnown(this.#verified.find(wanted), (found) => found !== undefined);
  }

  async firstOf(accountId: string): Promise<string | undefined> {
    const [first] = await this.source.manager.find(EmailDomain, {
      where: { accountId, verifiedName: Not(IsNull()) },
      order: { verifiedName: 'ASC' },
      take: 1,
    });
    return first?.verifiedName ?? undefined;
  }

  /** The account of a verified domain. @param domain as for {@link isVerified} */
  async ownerOf(domain: string): Promise<string | undefined> {
    return (await this.#names.find({ verifiedName: domain }))?.accountId;
  }

  /** Empties the caches, after a change of a domain in this process. */
  forget(): void {
    this.#verified.clear();
    this.#names.clear();
  }
}
