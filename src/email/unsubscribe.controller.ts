import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { networkOf, RequestLimits, RequestWindow } from '../accounts/limits.js';
import type { HttpReply, HttpRequest } from '../http/http-message.js';
import { type Subscription, UNSUBSCRIBE_PATH, UnsubscribeLinks } from './unsubscribe-links.js';
import { PAGE_HEADERS, PAGES } from './unsubscribe-page.js';
import { SuppressionsService } from './suppressions.service.js';

const ROUTE = `/${UNSUBSCRIBE_PATH}/:token`;

/** Uses of one link. */
const USES = { max: 30, per: 60_000 };

/** Mail clients post a form to the page (RFC 8058), whose content does not matter. */
export function isUnsubscribe(route: string | undefined): boolean {
  return route === ROUTE;
}

/**
 * The page of a recipient. Only POST unsubscribes: scanners of mail open every link. Links that
 * this gateway did not make are limited per network, like invalid credentials.
 */
@Controller(UNSUBSCRIBE_PATH)
export class UnsubscribeController {
  readonly #uses = new RequestWindow(USES);

  constructor(
    private readonly links: UnsubscribeLinks,
    private readonly suppressions: SuppressionsService,
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
    await this.suppressions.unsubscribe(subscription);
    answer(reply, 200, 'done');
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
