import { setImmediate as turn } from 'node:timers/promises';
import { showsDigits } from '../../../message/partial-address.js';
import { storedFormsOf } from '../../../message/phone-identity.js';
import type { ListedMessage, MessageTotal, MessageView, Page } from '../../../message/views.js';
import type { RowSource } from '../../database/dialect.js';
import type { StoreDatabase } from '../../database/store-database.js';
import { stateOf } from '../../rows/batch-state.js';
import {
  encodePlace,
  inListOrder,
  type ListScope,
  type Place,
  placeOf,
} from '../../rows/cursor.js';
import { CHUNK_SIZE } from '../../schema/tables.js';
import { countryOf, isNumber, ListedMessages, type Located } from './listed-messages.js';
import {
  boundsOf,
  endOf,
  type Filter,
  type Head,
  HEAD,
  matches,
  mayNotMatch,
  type Range,
  rangesOf,
} from './message-window.js';
import { newestBatches } from '../newest-batches.js';

/** Batches, and recipients, that one page looks at in search of those that match its filter. */
const BATCHES = 1_000;
const WINDOW = 10_000;

/** Messages to one address that a page looks at. */
const PLACES = 1_000;

/** Recipients that have not started, among whom a page looks for an address. */
const WAITING = 200_000;

/**
 * Reads the messages of tenants, one row for each recipient: the newest batch first, in a batch by
 * position. A page looks at a window of batches and recipients, so that it costs the same however
 * few of them match.
 */
export class MessageList {
  readonly #chunks: RowSource;
  readonly #ids: RowSource;
  readonly #listed: ListedMessages;

  constructor(
    private readonly database: StoreDatabase,
    /** There is an index of messages by recipient. */
    private readonly byRecipient: boolean,
  ) {
    const { dialect } = database;
    this.#chunks = dialect.rows({ v_batch: 'uuid', v_first: 'int', v_last: 'int' });
    this.#ids = dialect.rows({ v_id: 'uuid' });
    this.#listed = new ListedMessages(database);
  }

  async page(scope: ListScope, filter: Filter): Promise<Page<ListedMessage>> {
    const { provider, limit } = filter;
    const after = filter.cursor === undefined ? undefined : placeOf(filter.cursor);
    const { found, reached } = await this.#found(scope, filter, after);
    const page = found.slice(0, limit);
    const data = await this.#listed.described(
      provider === undefined ? await this.#listed.withProviders(page) : page,
    );
    const next = found.length > limit ? lastOf(page) : reached;
    return { data, nextCursor: next ? encodePlace(next) : null };
  }

  /**
   * How many messages match, as far as a few windows reach: 10,000 batches, or with a filter of messages
   * 30,000 recipients.
   * @param most ends the count
   */
  async total(scope: ListScope, filter: Filter, most: number): Promise<MessageTotal> {
    const isOfBatches = isWhole(filter) && filter.position === undefined;
    let after: Place | undefined;
    let messages = 0;
    for (let windows = 0; windows < (isOfBatches ? 10 : 3); windows++) {
      const { count, reached } = isOfBatches
        ? await this.#countBatches(scope, filter, after)
        : await this.#countMessages(scope, filter, after);
      messages += count;
      if (messages >= most) return { messages: most, more: true };
      if (!reached) return { messages, more: false };
      after = reached;
      // On SQLite nothing else here waits.
      await turn();
    }
    return { messages, more: true };
  }

  async #countBatches(scope: ListScope, filter: Filter, after: Place | undefined) {
    const heads = await this.#heads(scope, filter, after);
    const counted = heads.filter((head) => head.id !== after?.[0] && matches(head, scope, filter));
    const last = heads.at(-1);
    return {
      count: counted.reduce((sum, { recipients }) => sum + recipients, 0),
      reached: last && heads.length === BATCHES ? endOf(last) : undefined,
    };
  }

  async #countMessages(scope: ListScope, filter: Filter, after: Place | undefined) {
    const { found, reached } = await this.#found(scope, filter, after);
    return { count: found.length, reached };
  }

  /** The messages of the next window that match the filter, before they are described. */
  async #found(scope: ListScope, filter: Filter, after: Place | undefined) {
    const { to, status, provider, errorCode } = filter;
    const { located, reached } =
      to !== undefined && this.byRecipient && filter.batchId === undefined
        ? await this.#toRecipient(scope, filter, storedFormsOf(to), after)
        : await this.#inWindow(scope, filter, after);
    const searched = await this.#withSubject(located.filter(isSearched(filter)), filter.subject);
    let found = (await this.#listed.withStatus(searched)).filter(
      (message) =>
        (status === undefined || message.status === status) &&
        (errorCode === undefined || message.errorCode === errorCode),
    );
    if (provider !== undefined)
      found = (await this.#listed.withProviders(found)).filter(
        (message) => message.provider === provider,
      );
    return { found, reached };
  }

  /** Messages whose subject has the text; the server takes subjects from the contents. */
  async #withSubject(
    located: readonly Located[],
    subject: string | undefined,
  ): Promise<readonly Located[]> {
    if (subject === undefined || located.length === 0) return located;
    const ids = [...new Set(located.map(({ head }) => head.id))];
    const wanted = subject.toLocaleLowerCase('en');
    const found = new Set(
      [...(await this.#listed.outlines(ids))].flatMap(([id, { subject: own }]) =>
        own?.toLocaleLowerCase('en').includes(wanted) ? [id] : [],
      ),
    );
    return located.filter(({ head }) => found.has(head.id));
  }

  /** The recipients of the next batches; with a status or provider, those that may have it. */
  async #inWindow(scope: ListScope, filter: Filter, after: Place | undefined) {
    const { to, status, provider, errorCode, position, limit } = filter;
    const isFiltered = !isWhole(filter);
    // Each batch has a recipient, and the first may have been listed.
    const most = isFiltered || mayNotMatch(scope, filter) ? BATCHES : Math.min(BATCHES, limit + 2);
    const heads = await this.#heads(scope, filter, after, most);
    const { ranges, end } = rangesOf(
      heads.filter((head) => matches(head, scope, filter)),
      after,
      isFiltered ? WINDOW : limit,
      position,
    );
    const last = heads.at(-1);
    const hasStarted =
      provider !== undefined ||
      errorCode !== undefined ||
      (status !== undefined && status !== 'queued' && status !== 'cancelled');
    const located = await (hasStarted ? this.#started(ranges, filter) : this.#located(ranges));
    const forms = to === undefined ? undefined : storedFormsOf(to);
    return {
      located: located.filter(({ recipient }) => !forms || forms.includes(recipient)),
      reached: end ?? (last && heads.length === most ? endOf(last) : undefined),
    };
  }

  /** Started messages that match the filter; the server selects them. */
  async #started(
    ranges: readonly Range[],
    { status, provider, errorCode }: Filter,
  ): Promise<Located[]> {
    if (ranges.length === 0) return [];
    const { dialect, channels } = this.database;
    const wanted = [
      ...(status === undefined
        ? []
        : [{ sql: dialect.residual('abs(m.status) = ?'), param: channels.rankOf(status) ?? -1 }]),
      ...(errorCode === undefined
        ? []
        : [{ sql: dialect.residual('m.error_code = ?'), param: errorCode }]),
      ...(provider === undefined
        ? []
        : [{ sql: dialect.residual('s.provider = ?'), param: provider }]),
    ];
    const submissions =
      provider === undefined
        ? ''
        : `${dialect.join} messaging_submission s ON s.batch = m.batch AND s.n = m.submission`;
    const rows = await this.database.all<{ batch: string; position: number; recipient: string }>(
      `SELECT m.batch, m.position, m.recipient FROM ${this.#chunks.keyed}
       ${dialect.join} messaging_message m
         ON m.batch = v_batch AND m.position >= v_first AND m.position <= v_last ${submissions}
       WHERE ${wanted.map(({ sql }) => sql).join(' AND ')}`,
      [
        ...this.#chunks.bind(ranges.map(({ head, from, to }) => [head.id, from, to - 1])),
        ...wanted.map(({ param }) => param),
      ],
    );
    const places = new Map(ranges.map(({ head }, place) => [head.id, { head, place }]));
    return rows
      .flatMap(({ batch, position, recipient }) => {
        const found = places.get(batch);
        return found ? [{ ...found, position, recipient }] : [];
      })
      .toSorted((one, other) => one.place - other.place || one.position - other.position);
  }

  /** Newest first. */
  #heads(
    { tenants, channel }: ListScope,
    { tag, ...filter }: Filter,
    after: Place | undefined,
    limit = BATCHES,
  ): Promise<Head[]> {
    const range = { tenants, channel, ...boundsOf(filter, after), tag, limit };
    return newestBatches<Head>(this.database, HEAD, range);
  }

  /**
   * Messages to the forms of one address, by the index of recipients. A message that has not started has no row
   * there: it is looked for in the newest batches of the page's range.
   */
  async #toRecipient(
    scope: ListScope,
    filter: Filter,
    forms: readonly string[],
    after: Place | undefined,
  ) {
    const { dialect } = this.database;
    const { latest, earliest } = boundsOf(filter, after);
    // First: a message that starts meanwhile is in both lists, not in neither.
    const waiting = await this.#waiting(scope, filter, forms, after);
    const ofForms = await Promise.all(
      forms.map((form) =>
        this.database.all<{ batch: string; position: number; recipient: string }>(
          `SELECT m.batch, m.position, m.recipient
           FROM messaging_message m ${dialect.forceIndex('messaging_message_recipient')}
           WHERE m.recipient = ? AND m.batch <= ? AND m.batch >= ?
           ORDER BY m.recipient DESC, m.batch DESC LIMIT ?`,
          [form, latest, earliest, PLACES],
        ),
      ),
    );
    const places = ofForms
      .flat()
      .toSorted((one, other) =>
        inListOrder([one.batch, one.position], [other.batch, other.position]),
      )
      .slice(0, PLACES);
    const batches = await this.#byId([...new Set(places.map(({ batch }) => batch))]);
    const started = places.flatMap(({ batch, position, recipient }): Located | [] => {
      const head = batches.get(batch);
      return head ? { head, position, recipient } : [];
    });
    const located = new Map(
      [...started, ...waiting].map((one) => [`${one.head.id} ${one.position}`, one]),
    );
    const last = places.length === PLACES ? places.at(-1) : undefined;
    const reached = last && ([last.batch, last.position] as const);
    const isOfPage = (place: Place) =>
      (!after || inListOrder(place, after) > 0) && (!reached || inListOrder(place, reached) <= 0);
    const placed = ({ head, position }: Located): Place => [head.id, position];
    return {
      located: [...located.values()]
        .filter((one) => isOfPage(placed(one)) && matches(one.head, scope, filter))
        .toSorted((one, other) => inListOrder(placed(one), placed(other))),
      reached,
    };
  }

  async #byId(ids: readonly string[]): Promise<Map<string, Head>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.all<Head>(
      `SELECT ${HEAD} FROM ${this.#ids.keyed} ${this.database.dialect.join} messaging_batch b ON b.id = v_id`,
      this.#ids.bind(ids.map((id) => [id])),
    );
    return new Map(rows.map((head) => [head.id, head]));
  }

  /** Messages to the address in batches with recipients that have not started. */
  async #waiting(
    scope: ListScope,
    filter: Filter,
    forms: readonly string[],
    after: Place | undefined,
  ) {
    const heads = (await this.#heads(scope, filter, after)).filter((head) => {
      const state = stateOf(head);
      return state !== 'draining' && state !== 'completed';
    });
    const { ranges } = rangesOf(heads, undefined, WAITING);
    if (ranges.length === 0) return [];
    const { dialect } = this.database;
    const lines = forms.flatMap((form) => {
      const line = form.replaceAll(/[!%_]/g, '!$&');
      return [line, `${line}\n%`, `%\n${line}\n%`, `%\n${line}`];
    });
    const isIn = lines.map(() => "c.recipients LIKE ? ESCAPE '!'");
    const rows = await this.database.all<{ batch: string; n: number; recipients: string }>(
      `SELECT c.batch, c.n, c.recipients FROM ${this.#chunks.keyed} ${dialect.join}
         messaging_batch_chunk c ON c.batch = v_batch AND c.n >= v_first AND c.n <= v_last
       WHERE ${isIn.join(' OR ')}`,
      [
        ...this.#chunks.bind(
          ranges.map(({ head, from, to: end }) => [head.id, chunkOf(from), chunkOf(end - 1)]),
        ),
        ...lines,
      ],
    );
    const byId = new Map(heads.map((head) => [head.id, head]));
    return rows.flatMap(({ batch, n, recipients }) => {
      const head = byId.get(batch);
      return recipients
        .split('\n')
        .flatMap((recipient, line): Located | [] =>
          head && forms.includes(recipient)
            ? { head, position: n * CHUNK_SIZE + line, recipient }
            : [],
        );
    });
  }

  /** The recipients, also of messages that have not started. */
  async #located(ranges: readonly Range[]): Promise<Located[]> {
    if (ranges.length === 0) return [];
    const { dialect } = this.database;
    const rows = await this.database.all<{ batch: string; n: number; recipients: string }>(
      `SELECT c.batch, c.n, c.recipients FROM ${this.#chunks.keyed} ${dialect.join}
         messaging_batch_chunk c ON c.batch = v_batch AND c.n >= v_first AND c.n <= v_last`,
      this.#chunks.bind(
        ranges.map(({ head, from, to }) => [head.id, chunkOf(from), chunkOf(to - 1)]),
      ),
    );
    const chunks = new Map(
      rows.map(({ batch, n, recipients }) => [`${batch} ${n}`, recipients.split('\n')]),
    );
    return ranges.flatMap(({ head, from, to }) =>
      Array.from({ length: to - from }, (_, index) => {
        const position = from + index;
        const lines = chunks.get(`${head.id} ${chunkOf(position)}`);
        return { head, position, recipient: lines?.[position % CHUNK_SIZE] ?? '' };
      }),
    );
  }
}

/** Whether every message of a batch matches that the batch matches. */
function isWhole({ to, status, provider, errorCode, toPart, country, subject }: Filter): boolean {
  return [to, status, provider, errorCode, toPart, country, subject].every(
    (one) => one === undefined,
  );
}

function isSearched({ toPart, toPartOf, country }: Filter): (one: Located) => boolean {
  const hasPart = (number: string, part: string) =>
    toPartOf === 'shown' ? showsDigits(number, part) : number.includes(part);
  return ({ recipient }) =>
    (toPart === undefined || (isNumber(recipient) && hasPart(recipient, toPart))) &&
    (country === undefined || countryOf(recipient) === country);
}

function chunkOf(position: number): number {
  return Math.floor(position / CHUNK_SIZE);
}

function lastOf(page: readonly Pick<MessageView, 'batchId' | 'position'>[]): Place | undefined {
  const last = page.at(-1);
  return last && [last.batchId, last.position];
}
