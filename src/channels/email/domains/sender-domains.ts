import { parseMailbox } from '@dundun/messaging/values';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, IsNull, Not } from 'typeorm';
import { type Fresh, RowCache, whenKnown } from '../../../accounts/row-cache.js';
import type { CodeSenders } from '../../../channel.js';
import { ApiError } from '../../../http/api-error.js';
import { EmailDomain } from './domains.tables.js';
import { SigningKeys } from './domain-keys.js';

/** Verified domains, from which accounts send email and to which they receive it. */
@Injectable()
export class SenderDomains {
  readonly #verified: RowCache<EmailDomain>;
  readonly #names: RowCache<EmailDomain>;

  constructor(
    @InjectDataSource() private readonly source: DataSource,
    private readonly signing: SigningKeys,
  ) {
    this.#verified = new RowCache(source, EmailDomain, ['accountId', 'verifiedName']);
    this.#names = new RowCache(source, EmailDomain, ['verifiedName']);
  }

  /** @param domain in lower case, with A-labels */
  isVerified(accountId: string, domain: string): Fresh<boolean> {
    const wanted = { accountId, verifiedName: domain };
    return whenKnown(this.#verified.find(wanted), (found) => found !== undefined);
  }

  /**
   * What refuses an email from the address; `undefined`: the account may send it. A wrong address is
   * left to the library, which names it.
   */
  async refusalOf(accountId: string, from: unknown): Promise<ApiError | undefined> {
    const { email } = parseMailbox(from) ?? {};
    if (email === undefined) return undefined;
    const domain = email.slice(email.lastIndexOf('@') + 1);
    if (await this.isVerified(accountId, domain)) return undefined;
    return new ApiError(
      'domain_not_verified',
      `The domain ${domain} is not verified for this account; add it at /email/ng/v1/domains and verify it`,
      { details: [{ path: 'from', message: 'must have a verified domain of this account' }] },
    );
  }

  /** The first one by name. */
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

  /** Empties the caches, those of the keys too, after a change of a domain in this process. */
  forget(): void {
    this.signing.forget();
    this.#verified.clear();
    this.#names.clear();
  }
}

/** Local part of the address that codes come from. */
const MAILBOX = 'codes';

/** Codes come from the first verified domain of the account. */
@Injectable()
export class EmailCodes implements CodeSenders {
  constructor(private readonly domains: SenderDomains) {}

  async of(accountId: string): Promise<{ from: string }> {
    const domain = await this.domains.firstOf(accountId);
    if (domain === undefined)
      throw new ApiError('domain_not_verified', 'This account has no verified domain');
    return { from: `${MAILBOX}@${domain}` };
  }
}
