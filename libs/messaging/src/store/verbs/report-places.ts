import { setImmediate as turn } from 'node:timers/promises';
import { keepNewest } from '../../message/keep-newest.js';
import { submissionPlaceOf } from '../../message/ids.js';
import { addressIdentity, formsOf } from '../../message/phone-identity.js';
import type { Dialect } from '../database/dialect.js';
import { EXACTNESS, LONGEST_START } from '../rows/listed-messages.js';
import type { MessagePlace, ReceivedReport } from '../rows/received-report.js';
import { SUBMISSION_OUTCOME } from '../rows/outcome.js';
import { IN_SPAN, membersOf, slicesOf, type Span, SPANS } from '../rows/span.js';
import type { Sql, StoreDatabase } from '../database/store-database.js';

/** Number of cached references, each with up to a request's recipients. */
const CAPACITY = 100;

type Reader = Pick<Sql, 'all'>;
type Reports = readonly ReceivedReport[];
export type Places = Map<ReceivedReport, MessagePlace>;

interface PlaceRow {
  readonly v_index: number;
  readonly batch: string;
  readonly position: number;
  readonly submission: number;
}

/** The messages of a submission. */
interface MemberSpan extends Span {
  readonly members: string | null;
}

interface SubmissionRow extends MemberSpan {
  readonly v_index: number;
}

/** A submission with the reference; its message, where it has one recipient and that is left. */
interface ReferenceRow extends MemberSpan {
  readonly provider: string;
  readonly reference: string;
  readonly n: number;
  readonly position: number | null;
  readonly recipient: string | null;
}

interface MemberRow {
  readonly v_index: number;
  readonly position: number;
  readonly recipient: string;
}

type Positions = ReadonlyMap<string | null, number>;

/** The messages of the submissions with one reference of a provider. */
interface Reference {
  readonly batch: string;
  readonly n: number;
  /** The position of the only message. */
  only: number | undefined;
  readonly byRecipient: Map<string | null, MessagePlace>;
}

/** A reference or message id of a provider; reports of many recipients may have the same one. */
interface Named {
  readonly index: number;
  readonly provider: string;
  readonly name: string;
  readonly reports: ReceivedReport[];
}

interface Submission {
  readonly index: number;
  readonly batch: string;
  readonly n: number;
  readonly reports: ReceivedReport[];
}

/** A report by an id that no answer gave, of a message whose answer may have been lost. */
interface LostAnswer {
  readonly index: number;
  readonly report: ReceivedReport;
  readonly recipient: string;
  readonly sender: string;
  /** Milliseconds. */
  readonly at: number;
}

/**
 * Finds messages within the report's provider: by the submission that the report names, and the
 * recipient where it has several; by reference and recipient; by message id; by the reference, or
 * an id that was the whole submit response, of a submission with one recipient; else by the submit
 * that the report names, where one `unknown` message alone fits. Positions never change: they are
 * read before the transaction, in slices between which other work has a turn. Those of wide references are cached, as a campaign's thousand reports read them once.
 */
export class ReportPlaces {
  readonly #sql: ReturnType<typeof statementsFor>;
  readonly #cache = new Map<string, Reference>();

  constructor(database: StoreDatabase) {
    this.#sql = statementsFor(database.dialect);
  }

  async find(sql: Reader, reports: Reports): Promise<Places> {
    const places: Places = new Map();
    await this.#bySubmission(sql, reports, places);
    await this.#byReference(sql, reports, places, 'reference');
    await this.#byMessageId(sql, reports, places);
    await this.#byReference(sql, reports, places, 'messageId');
    await this.#byLostAnswer(sql, reports, places);
    return places;
  }

  forget(): void {
    this.#cache.clear();
  }

  async #bySubmission(sql: Reader, reports: Reports, places: Places): Promise<void> {
    const asked = new Map<string, Submission>();
    for (const report of reports) {
      const { submissionId } = report;
      const submission = submissionId ? submissionPlaceOf(submissionId) : undefined;
      if (!submissionId || !submission) continue;
      places.set(report, { batch: submission.batch, position: undefined });
      const same = asked.get(submissionId);
      if (same) same.reports.push(report);
      else asked.set(submissionId, { index: asked.size, ...submission, reports: [report] });
    }
    if (asked.size === 0) return;
    const submissions = [...asked.values()];
    const { bySubmission, submissions: source } = this.#sql;
    const found = await sql.all<SubmissionRow>(bySubmission, source.bind(submissions));
    const positions = await this.#positionsIn(sql, found);
    for (const [index, { v_index, batch, first, last }] of found.entries()) {
      const own = positions[index]!;
      const [only] = first === last ? own.values() : [];
      for (const report of submissions[v_index]!.reports) {
        const position = only ?? inForm(own, report.recipient);
        const submission = submissions[v_index]!.n;
        const isOnly = only !== undefined;
        if (position !== undefined) places.set(report, { batch, position, submission, isOnly });
      }
    }
  }

  async #byReference(
    sql: Reader,
    reports: Reports,
    places: Places,
    column: 'reference' | 'messageId',
  ): Promise<void> {
    const asked = named(reports, places, ({ [column]: name }) => name);
    const known = new Map([...asked.keys()].map((key) => [key, this.#cache.get(key)]));
    const unknown = [...asked].flatMap(([key, one]) => {
      const members = known.get(key)?.byRecipient;
      const isKnown = one.reports.every(
        ({ recipient }) => members && inForm(members, recipient) !== undefined,
      );
      return isKnown ? [] : [one];
    });
    for (const [key, reference] of await this.#load(sql, unknown)) known.set(key, reference);
    for (const [key, { reports: own }] of asked) {
      const found = known.get(key);
      if (!found) continue;
      for (const report of own) {
        const { batch, n, only, byRecipient } = found;
        const whole = { batch, position: only, submission: n };
        const place = inForm(byRecipient, report.recipient) ?? whole;
        if (place.position !== undefined || !places.has(report)) places.set(report, place);
      }
    }
  }

  async #byMessageId(sql: Reader, reports: Reports, places: Places): Promise<void> {
    const asked = [
      ...named(reports, places, ({ messageId, reference }) => messageId ?? reference).values(),
    ];
    if (asked.length === 0) return;
    const rows = await sql.all<PlaceRow>(this.#sql.byMessageId, this.#sql.names.bind(asked));
    for (const { v_index, ...place } of rows)
      for (const report of asked[v_index]!.reports) places.set(report, place);
  }

  async #byLostAnswer(sql: Reader, reports: Reports, places: Places): Promise<void> {
    const asked: LostAnswer[] = [];
    for (const report of reports)
      if (report.submit && report.recipient !== null && !places.has(report)) {
        const { sender, at } = report.submit;
        const { recipient } = report;
        asked.push({ index: asked.length, report, recipient, sender, at: at.getTime() });
      }
    if (asked.length === 0) return;
    const bound = this.#sql.lostAnswers.bind(asked.flatMap(inEveryForm));
    const rows = await sql.all<PlaceRow & { readonly unanswered: number }>(this.#sql.byLostAnswer, [
      ...bound,
      ...bound,
    ]);
    for (const { index, report } of asked) {
      const [only, ...others] = rows.filter(({ v_index }) => Number(v_index) === index);
      // The answer to an unanswered one may still come, with this id.
      if (!only || others.length > 0 || Number(only.unanswered) === 1) continue;
      const { batch, position, submission } = only;
      places.set(report, { batch, position, submission });
    }
  }

  async #load(sql: Reader, asked: readonly Named[]): Promise<Map<string, Reference>> {
    const loaded = new Map<string, Reference>();
    if (asked.length === 0) return loaded;
    const rows = await sql.all<ReferenceRow>(this.#sql.byReference, this.#sql.names.bind(asked));
    const wide = rows.filter(({ first, last }) => first < last);
    const positions = await this.#positionsIn(sql, wide);
    const positionsOf = new Map(wide.map((row, index) => [row, positions[index]!]));
    for (const row of rows) {
      const { provider, reference, batch, n, position, recipient } = row;
      const own: Positions =
        positionsOf.get(row) ?? new Map(position === null ? [] : [[recipient, position]]);
      const key = keyOf(provider, reference);
      let found = loaded.get(key);
      if (found) found.only = undefined;
      else
        loaded.set(
          key,
          (found = { batch, n, only: position ?? undefined, byRecipient: new Map() }),
        );
      for (const [to, at] of own)
        if (!found.byRecipient.has(to))
          found.byRecipient.set(to, { batch, position: at, submission: n });
    }
    for (const [key, reference] of loaded) this.#remember(key, reference);
    return loaded;
  }

  /** The positions by recipient of each of the submissions. */
  async #positionsIn(sql: Reader, spans: readonly MemberSpan[]): Promise<Positions[]> {
    const positions: Map<string | null, number>[] = [];
    const { members: statement, spans: source } = this.#sql;
    for (const slice of slicesOf(spans)) {
      if (positions.length > 0) await turn();
      const found = slice.map(() => new Map<string | null, number>());
      const members = slice.map((one) => membersOf(one.members));
      const rows = await sql.all<MemberRow>(statement, source.bind([...slice.entries()]));
      for (const { v_index, position, recipient } of rows)
        if (members[v_index]!.has(position)) found[v_index]!.set(recipient, position);
      positions.push(...found);
    }
    return positions;
  }

  #remember(key: string, reference: Reference): void {
    this.#cache.delete(key);
    if (reference.byRecipient.size > 1) this.#cache.set(key, reference);
    keepNewest(this.#cache, CAPACITY);
  }
}

/** One question for each form of the recipient's number. */
function inEveryForm(asked: LostAnswer): LostAnswer[] {
  return formsOf(addressIdentity(asked.recipient)).map((recipient) => ({ ...asked, recipient }));
}

/** By the recipient as it is, or by another form of its number. */
function inForm<T>(byRecipient: ReadonlyMap<string | null, T>, recipient: string | null) {
  const exact = byRecipient.get(recipient);
  if (exact !== undefined || recipient === null) return exact;
  for (const form of formsOf(addressIdentity(recipient))) {
    const found = byRecipient.get(form);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The reports without a message, by their name. */
function named(
  reports: Reports,
  places: Places,
  nameOf: (report: ReceivedReport) => string | null,
): Map<string, Named> {
  const byKey = new Map<string, Named>();
  for (const report of reports) {
    const name = nameOf(report);
    if (name === null || places.get(report)?.position !== undefined) continue;
    const { provider } = report;
    const key = keyOf(provider, name);
    const same = byKey.get(key);
    if (same) same.reports.push(report);
    else byKey.set(key, { index: byKey.size, provider, name, reports: [report] });
  }
  return byKey;
}

function keyOf(provider: string, name: string): string {
  return `${provider}\n${name}`;
}

function statementsFor(dialect: Dialect) {
  const names = dialect.rows<Named>({
    v_index: ['int', ({ index }) => index],
    v_provider: ['key', ({ provider }) => provider],
    v_name: ['key', ({ name }) => name],
  });
  const submissions = dialect.rows<Submission>({
    v_index: ['int', ({ index }) => index],
    v_batch: ['uuid', ({ batch }) => batch],
    v_n: ['int', ({ n }) => n],
  });
  const spans = dialect.rows(SPANS);
  const lostAnswers = dialect.rows<LostAnswer>({
    v_index: ['int', ({ index }) => index],
    v_provider: ['key', ({ report }) => report.provider],
    v_recipient: ['key', ({ recipient }) => recipient],
    v_sender: ['key', ({ sender }) => sender],
    v_with_plus: ['key', ({ sender }) => `+${sender}`],
    v_from: ['bigint', ({ at }) => (at - EXACTNESS - LONGEST_START) * 1_000],
    v_until: ['bigint', ({ at }) => (at + EXACTNESS) * 1_000],
  });
  const fitting = (
    outcome: string,
    unanswered: 0 | 1,
  ) => `SELECT v_index, m.batch, m.position, s.n AS submission, ${unanswered} AS unanswered
    FROM ${lostAnswers.keyed}
    ${dialect.join} messaging_submission s ON s.outcome ${outcome}
      AND s.provider = v_provider AND s.first_sent_at BETWEEN v_from AND v_until
      AND s.reference IS NULL AND s.last_position = s.first_position
    JOIN messaging_message m ON m.batch = s.batch AND m.position = s.first_position
      AND m.submission = s.n AND m.recipient = v_recipient
    JOIN messaging_batch b ON b.id = s.batch AND b.parts = 1 AND b.sender IN (v_sender, v_with_plus)`;
  const span = 's.batch, s.first_position AS first, s.last_position AS last, s.members';
  return {
    names,
    submissions,
    spans,
    lostAnswers,
    // The parts of a long message have an id each.
    byLostAnswer: `${fitting(`= ${SUBMISSION_OUTCOME.unknown}`, 0)} UNION ALL ${fitting('IS NULL', 1)}`,
    byReference: `SELECT s.provider, s.reference, s.n, ${span}, m.position, m.recipient
      FROM ${names.keyed} ${dialect.join} messaging_submission s
        ON s.reference = v_name AND s.provider = v_provider
      LEFT JOIN messaging_message m ON m.batch = s.batch AND m.position = s.first_position
        AND s.last_position = s.first_position
      ORDER BY s.batch, s.n`,
    bySubmission: `SELECT v_index, ${span} FROM ${submissions.keyed}
      ${dialect.join} messaging_submission s ON s.batch = v_batch AND s.n = v_n`,
    members: `SELECT v_index, m.position, m.recipient FROM ${spans.keyed}
      ${dialect.join} messaging_message m ON ${IN_SPAN}`,
    byMessageId: `SELECT v_index, m.batch, m.position, s.n AS submission FROM ${names.keyed}
      ${dialect.join} messaging_message m ${dialect.forceIndex('messaging_message_reference')} ON m.reference = v_name
      JOIN messaging_submission s ON s.batch = m.batch AND s.n = m.submission
        AND ${dialect.residual('s.provider = v_provider')}`,
  };
}
