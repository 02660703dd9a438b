import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, In } from 'typeorm';
import { Account } from './account.entity.js';
import { Credential } from './credential.entity.js';
import { type CredentialKind, fingerprint, SECRET_LENGTH } from './credential-secret.js';
import { FreshCache } from './fresh-cache.js';
import type { Scope } from './scope.js';

/** As nearly everybody writes it. */
const SCHEME = 'Bearer ';

/** What a credential proves: whose it is and what it opens. */
export interface Principal {
  readonly credentialId: string;
  readonly accountId: string;
  readonly kind: CredentialKind;
  readonly scopes: readonly Scope[];
  readonly revoked: boolean;
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null;
  readonly suspended: boolean;
}

/**
 * Says whose a secret is. A credential in use costs no database read; its revocation, rotation and
 * its account's suspension are seen at once in the process that did it and within a second in others.
 */
@Injectable()
export class CredentialVerifier {
  readonly #cache: FreshCache<Principal>;

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {
    this.#cache = new FreshCache({
      load: (fingerprints) => this.#load(fingerprints),
      keep: ({ revoked, suspended }) => !revoked && !suspended,
    });
  }

  /**
   * Whose the credential in an `Authorization` header is, where it is in use: then its form and checksum
   * are right. `undefined` says nothing; what else it could be is told by `presentedSecret` and {@link verify}.
   */
  known(header: string | string[] | undefined, kind: CredentialKind): Principal | undefined {
    if (typeof header !== 'string' || header.length !== SCHEME.length + SECRET_LENGTH)
      return undefined;
    if (!header.startsWith(SCHEME)) return undefined;
    const principal = this.#cache.peek(fingerprint(header.slice(SCHEME.length)));
    return principal?.kind === kind ? principal : undefined;
  }

  /** At once where the credential is in use, else a promise; `undefined`: nobody has it. */
  verify(secret: string): Principal | Promise<Principal | undefined> {
    const key = fingerprint(secret);
    return this.#cache.peek(key) ?? this.#cache.get(key);
  }

  /** After a write: nothing read before it counts. */
  forget(): void {
    this.#cache.clear();
  }

  async #load(fingerprints: readonly string[]): Promise<Map<string, Principal>> {
    const credentials = await this.dataSource.manager.findBy(Credential, {
      fingerprint: In(fingerprints),
    });
    if (credentials.length === 0) return new Map();
    const accounts = await this.dataSource.manager.findBy(Account, {
      id: In([...new Set(credentials.map(({ accountId }) => accountId))]),
    });
    const suspended = new Set(accounts.filter((one) => one.suspendedAt).map(({ id }) => id));
    return new Map(
      credentials.map((credential) => [
        credential.fingerprint,
        {
          credentialId: credential.id,
          accountId: credential.accountId,
          kind: credential.kind,
          scopes: credential.scopes,
          revoked: credential.revokedAt !== null,
          expiresAt: credential.expiresAt?.getTime() ?? null,
          suspended: suspended.has(credential.accountId),
        },
      ]),
    );
  }
}
