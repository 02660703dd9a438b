import type { ListedMessage } from '@dundun/messaging';
import { csvOf } from '@dundun/messaging/values';
import { Inject, Injectable, StreamableFile } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Readable } from 'node:stream';
import type { MessageMoney } from './api.js';
import {
  type AuditEntry,
  type AuditManager,
  DASHBOARD_SETTINGS,
  type DashboardAccess,
  type DashboardRequest,
  type DashboardState,
  type SendCheck,
} from './dashboard.options.js';
import { DashboardError, forbidden, unknownId } from './dashboard.error.js';
import { MessagingParts } from './messaging-parts.js';
import { COMMON_HEADERS, reply } from './pages.controller.js';
import { SharedAnswers } from './shared-answers.js';

const HEADERS: Readonly<Record<string, string>> = {
  ...COMMON_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Cache-Control': 'no-store',
};

/** Milliseconds for which pages share an answer after the same change. */
const SHARED_FOR = 2_000;
const LONGEST_AFTER = 200;

/** Text beside JSON, with headers of its own. */
export class TextAnswer {
  constructor(
    readonly text: string,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/**
 * A piece of a CSV file.
 * @param lines the first one has the titles @param next where the next piece begins; none: the file ends
 */
export function csvPiece(
  what: string,
  lines: readonly (readonly (string | null)[])[],
  next: string | null | undefined,
): TextAnswer {
  const rows = String(lines.length - 1);
  return new TextAnswer(csvOf(lines), {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${what}.csv"`,
    'X-Rows': rows,
    ...(next && { 'X-Truncated': rows, 'X-Next-Cursor': next }),
  });
}

/** A long text beside JSON. */
export class StreamAnswer {
  constructor(
    readonly stream: Readable,
    readonly headers: Readonly<Record<string, string>>,
  ) {}
}

/** One request of a caller, with the caller's rights. */
export class ApiCall {
  readonly access: Required<DashboardAccess>;

  constructor(
    access: DashboardAccess,
    private readonly settings: DashboardState,
    private readonly request: DashboardRequest,
  ) {
    const { tenants, act, reveal, operate = tenants === 'all', by = 'dashboard' } = access;
    this.access = { tenants, act, reveal, operate, by };
  }

  /** @throws DashboardError 403 */
  require(right: 'act' | 'reveal' | 'operate'): void {
    if (this.access[right]) return;
    throw forbidden(RIGHTS[right]);
  }

  mayUse(tenant: string): boolean {
    const { tenants } = this.access;
    return tenants === 'all' || tenants.includes(tenant);
  }

  /** The tenants to read, at most one where the query names it. @throws DashboardError 404 */
  tenantsOf(tenant: string | undefined): readonly string[] | 'all' {
    if (tenant === undefined) return this.access.tenants;
    if (!this.mayUse(tenant)) throw unknownId('tenant');
    return [tenant];
  }

  /** The tenant to change. @throws DashboardError where several are possible */
  tenantOf(tenant: string | undefined): string {
    const { tenants } = this.access;
    if (tenant !== undefined) {
      if (!this.mayUse(tenant)) throw unknownId('tenant');
      return tenant;
    }
    if (tenants === 'all') return '';
    const [only, ...others] = tenants;
    if (only === undefined) throw unknownId('tenant');
    if (others.length > 0)
      throw new DashboardError(400, 'tenant_missing', 'Name the `tenant`: you may use several');
    return only;
  }

  /** Whether messages have prices apart from their costs. */
  get isPriced(): boolean {
    return this.settings.prices !== undefined;
  }

  /** What each message is charged, and its cost where the caller may see it. */
  async moneyOf(
    messages: readonly ListedMessage[],
  ): Promise<(message: Pick<ListedMessage, 'id' | 'cost' | 'currency'>) => MessageMoney> {
    const { prices } = this.settings;
    const charged = await prices?.(messages);
    const isShown = !this.isPriced || this.access.operate;
    return ({ id, cost, currency }) => {
      const price = charged?.get(id);
      return {
        price: price?.amount ?? null,
        priceCurrency: price?.currency ?? null,
        cost: isShown ? cost : null,
        currency: isShown ? currency : null,
      };
    };
  }

  async audit(entry: AuditEntry, manager?: AuditManager): Promise<void> {
    await this.settings.audit(entry, this.request, manager);
  }

  async checkSend(message: SendCheck): Promise<void> {
    await this.settings.checkSend(message, this.request);
  }
}

const RIGHTS = {
  act: 'send or change anything here',
  reveal: 'see whole addresses and content',
  operate: 'see lanes and providers, or settle messages',
} as const;

/** Runs the requests of the API and answers in JSON, whatever interceptors the app has. */
@Injectable()
export class ApiCalls {
  readonly #shared = new SharedAnswers(() => this.parts.clock);

  constructor(
    @Inject(DASHBOARD_SETTINGS) private readonly settings: DashboardState,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
    @Inject(MessagingParts) private readonly parts: MessagingParts,
  ) {}

  async answer(
    request: DashboardRequest,
    response: unknown,
    run: (call: ApiCall) => unknown,
    status = 200,
  ): Promise<void> {
    const access = await this.settings.access(request);
    const body = await run(new ApiCall(access, this.settings, request));
    const { content, headers } = contentOf(body);
    reply(this.host, response, content, { ...HEADERS, ...headers }, status);
  }

  /**
   * As {@link answer}, of what is the same for all callers with the same rights. Pages that were told
   * of one change name it in `x-after`, and share the answer: it was read after the change.
   */
  async answerShared(
    request: DashboardRequest,
    response: unknown,
    run: (call: ApiCall) => unknown,
  ): Promise<void> {
    const after = request.headers['x-after'];
    if (typeof after !== 'string' || after === '') return this.answer(request, response, run);
    const call = new ApiCall(await this.settings.access(request), this.settings, request);
    const url = String(request['originalUrl'] ?? request['url']);
    const key = JSON.stringify([after.slice(0, LONGEST_AFTER), url, call.access]);
    const read = async () => contentOf(await run(call));
    const { content, headers } = await this.#shared.get(key, read, SHARED_FOR);
    reply(this.host, response, content, { ...HEADERS, ...headers });
  }
}

interface Content {
  readonly content: string | StreamableFile;
  readonly headers: Readonly<Record<string, string>>;
}

function contentOf(body: unknown): Content {
  if (body instanceof TextAnswer) return { content: body.text, headers: body.headers };
  if (body instanceof StreamAnswer)
    return { content: new StreamableFile(body.stream), headers: body.headers };
  return {
    content: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
  };
}
