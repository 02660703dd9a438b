import { MessageHistory } from '@dundun/messaging/operations';
import { Get, Injectable, Logger, type OnModuleDestroy, Req, Res } from '@nestjs/common';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { AccountReads } from '../accounts/account-reads.js';
import { ApiError } from '../http/api-error.js';
import type { HttpReply } from '../http/http-message.js';
import type { LiveChange } from './portal-api.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Current, type PortalRequest } from './portal-request.js';
import { tooManyPages } from './sign-in/paced.js';
import { type SignedIn, SessionsService } from './sign-in/sessions.service.js';

/** Milliseconds between two looks at the sessions: streams end within a second. */
const LOOK_EVERY = 500;

/** Looks at the messages in every second look at the sessions. */
const LOOKS_A_READ = 2;

/** Looks between two comments that keep connections open: 15 s. */
const LOOKS_A_HEARTBEAT = 30;

/** Streams of a process. */
const MOST_STREAMS = 1_000;

/** Streams of a process by what they have in common, so that no viewer takes those of others. */
const MOST = { sessionId: 10, userId: 20, accountId: 100 } as const;

const SHARED = ['sessionId', 'userId', 'accountId'] as const;

/** Bytes that wait for a client that does not read; above it the client polls. */
const MOST_UNREAD = 65_536;

interface Stream {
  readonly sessionId: string;
  readonly userId: string;
  /** `null`: of all accounts, for an operator. */
  readonly accountId: string | null;
  readonly response: ServerResponse;
  /** Until its first event: its page may have read the lists before the last change. */
  isNew: boolean;
}

/**
 * The event streams of open pages. While there are any, one loop reads for all of them: the sessions
 * in one read, and the changes once for each account that is watched.
 */
@Injectable()
export class LiveStreams implements OnModuleDestroy {
  readonly #logger = new Logger('Portal');
  readonly #streams = new Set<Stream>();
  readonly #cursors = new Map<string | null, string>();
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #isFailing = false;

  constructor(
    private readonly sessions: SessionsService,
    private readonly history: MessageHistory,
  ) {}

  /** Before the server closes: an open stream would delay its close. */
  onModuleDestroy(): void {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    for (const stream of this.#streams) this.#end(stream);
  }

  /** @param begin sends the headers of the answer @throws ApiError 429, 503 */
  open({ sessionId, user, account }: SignedIn, begin: () => ServerResponse): void {
    const place = { sessionId, userId: user.id, accountId: account?.id ?? null };
    for (const shared of SHARED) {
      // Operators without an account are bounded as users.
      const value = place[shared];
      const own = [...this.#streams].filter((stream) => stream[shared] === value);
      if (value !== null && own.length >= MOST[shared])
        throw new ApiError('rate_limited', 'Too many pages are open; this one polls');
    }
    if (this.#isStopping || this.#streams.size >= MOST_STREAMS) throw tooManyPages();
    const response = begin();
    const stream = { ...place, response, isNew: true };
    this.#streams.add(stream);
    // The server keeps half-open connections, so a client that leaves only ends its side.
    const { socket } = response;
    const left = (): void => this.#end(stream);
    socket?.once('end', left);
    response.once('close', () => {
      socket?.off('end', left);
      this.#forget(stream);
    });
    response.write('retry: 2000\n\n');
    if (this.#streams.size === 1) this.#schedule();
  }

  endOf(sessionId: string): void {
    for (const stream of this.#streams) if (stream.sessionId === sessionId) this.#end(stream);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#isStopping && this.#streams.size > 0)
      this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY).unref();
  }

  async #look(): Promise<void> {
    this.#looks++;
    try {
      await this.#endClosed();
      if (this.#looks % LOOKS_A_READ === 0) await this.#tell();
      this.#isFailing = false;
    } catch (error) {
      // One line for an outage, not two in a second.
      if (!this.#isFailing)
        this.#logger.warn({ message: 'changes for live pages not read', err: error });
      this.#isFailing = true;
    }
    if (this.#looks % LOOKS_A_HEARTBEAT === 0)
      for (const stream of this.#streams) this.#write(stream, ':\n\n');
    this.#schedule();
  }

  /** Closes streams of sessions that have ended or left the account, or whose account is suspended. */
  async #endClosed(): Promise<void> {
    const streams = [...this.#streams];
    const known = await this.sessions.present(
      streams.map(({ sessionId: id, accountId }) => ({ id, accountId })),
    );
    for (const [n, stream] of streams.entries()) {
      const { user, account, lacksSecondFactor } = known[n]?.signedIn ?? {};
      const isOpen =
        user !== undefined &&
        lacksSecondFactor === false &&
        (account?.id ?? null) === stream.accountId &&
        (user.isOperator || account?.suspended === false);
      if (!isOpen) this.#end(stream);
    }
  }

  async #tell(): Promise<void> {
    for (const accountId of new Set([...this.#streams].map((stream) => stream.accountId))) {
      const since = this.#cursors.get(accountId);
      const tenants = accountId === null ? 'all' : [accountId];
      const { cursor, changed } = await this.history.changes({ tenants, since });
      this.#cursors.set(accountId, cursor);
      const change: LiveChange = { cursor };
      for (const stream of this.#streams) {
        if (stream.accountId !== accountId || !(changed || stream.isNew)) continue;
        stream.isNew = false;
        this.#write(stream, `event: change\ndata: ${JSON.stringify(change)}\n\n`);
      }
    }
  }

  #write({ response }: Stream, text: string): void {
    if (response.writableLength > MOST_UNREAD) response.destroy();
    else response.write(text);
  }

  #end(stream: Stream): void {
    this.#forget(stream);
    stream.response.end('event: end\ndata: {}\n\n');
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream);
    const isWatched = [...this.#streams].some(({ accountId }) => accountId === stream.accountId);
    if (!isWatched) this.#cursors.delete(stream.accountId);
  }
}

const STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Proxies neither compress nor collect it.
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
};

@PortalController('live')
export class LiveController {
  constructor(
    private readonly streams: LiveStreams,
    private readonly reads: AccountReads,
  ) {}

  /** An event stream, see `LiveChange`. */
  @Get()
  @PortalAccess('viewer of any')
  live(
    @Req() { method }: PortalRequest,
    @Current() signedIn: SignedIn,
    @Res() reply: HttpReply,
  ): void {
    if (method === 'HEAD') return void reply.headers(STREAM).send();
    this.streams.open(signedIn, () => {
      // One loop reads for all streams.
      this.reads.answered(reply);
      reply.headers(STREAM).hijack();
      return reply.raw.writeHead(200, reply.getHeaders() as OutgoingHttpHeaders);
    });
  }
}
