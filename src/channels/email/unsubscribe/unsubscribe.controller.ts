import {
  ContactsService,
  EmailService,
  MessageNotFoundError,
  MessagingService,
} from '@dundun/messaging';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { networkOf, RequestLimits, RequestWindow } from '../../../accounts/limits.js';
import { UNSUBSCRIBED } from '../../../blocked/blocked.service.js';
import type { HttpReply, HttpRequest } from '../../../http/http-message.js';
import { type Subscription, UNSUBSCRIBE_PATH, UnsubscribeLinks } from './unsubscribe-links.js';

export const UNSUBSCRIBE_ROUTE = `/${UNSUBSCRIBE_PATH}/:token`;

/** Uses of one link. */
const USES = { max: 30, per: 60_000 };

/**
 * The page of a recipient. Only POST unsubscribes: scanners of mail open every link. Links that
 * this gateway did not make are limited per network, like invalid credentials.
 */
@Controller(UNSUBSCRIBE_PATH)
export class UnsubscribeController {
  readonly #uses = new RequestWindow(USES);

  constructor(
    private readonly links: UnsubscribeLinks,
    private readonly contacts: ContactsService,
    private readonly messaging: MessagingService,
    private readonly emails: EmailService,
    private readonly limits: RequestLimits,
  ) {}

  @Get(':token')
  showUnsubscribe(
    @Req() request: HttpRequest,
    @Res() reply: HttpReply,
    @Param('token') token: string,
  ): void {
    if (this.#subscriptionOf(request, reply, token)) answer(reply, 200, 'form');
  }

  @Post(':token')
  async unsubscribe(
    @Req() request: HttpRequest,
    @Res() reply: HttpReply,
    @Param('token') token: string,
  ): Promise<void> {
    const subscription = this.#subscriptionOf(request, reply, token);
    if (!subscription) return;
    await this.#unsubscribe(subscription);
    answer(reply, 200, 'done');
  }

  /** Ends marketing email to a recipient; repeatable. */
  async #unsubscribe({ tenant, recipient, id }: Subscription): Promise<void> {
    const scope = { tenant, channel: 'email', category: 'marketing' } as const;
    await this.messaging.transaction(async (manager) => {
      const { channel } = scope;
      const page = { tenant, manager, address: recipient, channel };
      const own = (await this.contacts.suppressions(page)).data.find(
        (entry) => entry.channel === channel && entry.category === scope.category,
      );
      if (own?.reason === UNSUBSCRIBED) return;
      await this.contacts.optOut(recipient, { ...scope, manager, source: 'unsubscribe link' });
      // An entry keeps its first reason.
      if (own) await this.contacts.unsuppress(recipient, { ...scope, manager });
      const reason = { reason: UNSUBSCRIBED, messageId: id };
      await this.contacts.suppress(recipient, { ...scope, ...reason, manager });
    });
    try {
      await this.emails.recordEvent(id, 'unsubscribed', { tenant });
    } catch (error) {
      // Links work longer than messages are kept.
      if (!(error instanceof MessageNotFoundError)) throw error;
    }
  }

  /** `undefined`: answered already. */
  #subscriptionOf({ ip }: HttpRequest, reply: HttpReply, token: string): Subscription | undefined {
    const subscription = this.links.read(token);
    const window = subscription ? this.#uses : this.limits.unknownLinks;
    const { remaining = 0, reset } = window?.take(subscription ? token : networkOf(ip)) ?? {};
    if (remaining < 0) answer(reply.header('retry-after', String(reset)), 429, 'busy');
    else if (!subscription) answer(reply, 404, 'unknown');
    return remaining < 0 ? undefined : subscription;
  }
}

function answer(reply: HttpReply, status: number, name: keyof typeof PAGES): void {
  void reply.code(status).headers(PAGE_HEADERS).send(PAGES[name]);
}

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:4rem auto;padding:0 1rem;color:#111;background:#fff}button{font:inherit;padding:.6rem 1.2rem;border:2px solid #111;border-radius:.3rem;background:#111;color:#fff;cursor:pointer}button:focus-visible{outline:3px solid #06c;outline-offset:3px}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Headers of every page: nothing is loaded, framed, stored or indexed, and the address stays here. */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

const PAGES = {
  form: page(
    'Unsubscribe',
    '<p>You will get no more marketing email from this sender.</p><form method="post"><button type="submit">Unsubscribe</button></form>',
  ),
  done: page(
    'You are unsubscribed',
    '<p>You will get no more marketing email from this sender.</p>',
  ),
  unknown: page(
    'This link does not work',
    '<p>Open the link in the email again, and make sure that it is whole.</p>',
  ),
  busy: page('Too many requests', '<p>Wait a minute, then open the link again.</p>'),
} as const;

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`;
}
