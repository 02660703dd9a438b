import { Inject, Injectable, Logger } from '@nestjs/common';
import { addressIdentity } from '../message/phone-identity.js';
import { isDataError } from '../store/database/database-errors.js';
import { GroupCommit } from '../store/database/group-commit.js';
import type { Sql, Transaction } from '../store/database/store-database.js';
import type { LearntNumber } from '../store/rows/outcome.js';
import { StoreListeners } from '../store/store-listeners.js';
import { identityBy } from './contact-input.js';
import { ContactStore } from './contact-store.js';
import { groupedBy, type Row } from './contact-tables.js';
import { type LearntPerson, numberKey, type TenantNumber } from './learnt-numbers.js';

/**
 * Most numbers of one person. A platform that says more of one, such as a sandbox with one answer for
 * every number, is not believed: contacts cannot be parted again.
 */
const MOST_NUMBERS = 10;
/** Most pairs of a transaction. */
const MOST = 500;

/** Identities of the two numbers of an answer. */
interface Pair extends TenantNumber {
  readonly person: string;
  readonly learnt: LearntNumber;
}

/**
 * Makes one contact of the numbers of one person, many per commit. Of two consents a refusal stays.
 * The contact is written to by the number that the app wrote.
 */
@Injectable()
export class NumberLearner {
  readonly #logger = new Logger('MessagingContacts');
  readonly #group: GroupCommit<LearntNumber, void>;

  constructor(
    @Inject(ContactStore) private readonly store: ContactStore,
    @Inject(StoreListeners) listeners: StoreListeners,
  ) {
    listeners.add({ onLearnt: (numbers) => this.learn(numbers) });
    this.#group = new GroupCommit((take) => this.#flush(take()), {
      maxItems: MOST,
      isItemError: isDataError,
    });
  }

  /** Resolves after the commit. After an error the next answer about a number says it again. */
  async learn(numbers: readonly LearntNumber[]): Promise<void> {
    try {
      await Promise.all(numbers.map((one) => this.#group.add(one)));
    } catch (error) {
      this.#logger.warn(`Other numbers of recipients were not learnt: ${(error as Error).name}`);
    }
  }

  async #flush(all: readonly LearntNumber[]): Promise<void[]> {
    const pairs = new Map<string, Pair>();
    for (const learnt of all) {
      const { tenant, recipient, knownAs } = learnt;
      const address = addressIdentity(recipient);
      pairs.set(numberKey({ tenant, address }), {
        tenant,
        address,
        person: addressIdentity(knownAs),
        learnt,
      });
    }
    const known = await this.store.learnt.people([...pairs.values()]);
    const fresh = [...pairs.values()].filter(
      (pair) => !known.get(numberKey(pair))?.numbers.includes(pair.person),
    );
    if (fresh.length > 0)
      await this.store.write({}, async (tx) => {
        const byTenant = groupedBy(fresh, ({ tenant }) => tenant);
        for (const tenant of [...byTenant.keys()].sort())
          await this.#learn(tx, tenant, byTenant.get(tenant) ?? []);
      });
    return all.map(() => undefined);
  }

  async #learn(tx: Transaction, tenant: string, pairs: readonly Pair[]): Promise<void> {
    const { store } = this;
    const addresses = pairs.flatMap(({ address, person }) => [address, person]);
    const known = await store.learnt.sameAs(tx, tenant, addresses);
    // An erased person with a message in flight does not become a contact again.
    const erased = await store.erasures.unfinished(tx, tenant, addresses);
    const people = new Map<string, LearntPerson>();
    const numbersOf = (address: string) =>
      people.get(address)?.numbers ?? known.get(address) ?? [address];
    const taken = pairs.filter(({ address, person }) => {
      if (erased.has(address) || erased.has(person)) return false;
      const numbers = [...new Set([...numbersOf(address), ...numbersOf(person)])];
      if (numbers.length > MOST_NUMBERS) return false;
      for (const one of numbers) people.set(one, { person, numbers });
      return true;
    });
    const left = pairs.length - taken.length;
    if (left > 0)
      this.#logger.warn(
        `${left} other numbers of recipients were left out: of erased people, or a platform gave one number to more than ${MOST_NUMBERS}`,
      );
    if (taken.length === 0) return;
    const identities = taken.map(({ learnt }) => identityBy([learnt.recipient, learnt.knownAs]));
    const contacts = await store.resolve(tx, tenant, identities, {
      rewrite: false,
      keepsRefusals: true,
    });
    await this.#keepFirst(tx, taken, contacts);
    const rows = [...people].map(([address, { person }]) => ({ tenant, address, person }));
    const conflict = store.tables.dialect.onConflict('tenant, address', 'person = new.person');
    await store.tables.insert(tx, 'learnt_number', rows, conflict);
    const groups = new Set([...people.values()].map(({ numbers }) => numbers));
    await store.suppressions.shareErased(tx, tenant, [...groups]);
  }

  /** The number that the app wrote stays before the one of the platform. */
  async #keepFirst(tx: Sql, pairs: readonly Pair[], contacts: readonly string[]): Promise<void> {
    const { tables } = this.store;
    const rows = await tables.of(tx, 'contact_address', contacts);
    const byAddress = new Map(rows.map((row) => [row.address, row]));
    const later = new Map<string, Row<'contact_address'>>();
    for (const { address, person } of pairs) {
      const first = byAddress.get(address);
      const other = later.get(person) ?? byAddress.get(person);
      if (first && other && other.given_at >= first.given_at)
        later.set(person, { ...other, given_at: first.given_at - 0.001 });
    }
    const conflict = tables.dialect.onConflict('tenant, address', 'given_at = new.given_at');
    await tables.insert(tx, 'contact_address', [...later.values()], conflict);
  }
}
