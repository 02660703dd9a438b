import type { OutgoingHttpHeaders } from 'node:http';
import { Get, Req, Res } from '@nestjs/common';
import { AccountReads } from '../accounts/account-reads.js';
import type { HttpReply } from '../http/http-message.js';
import { LiveStreams } from './live-streams.js';
import { PortalController } from './portal-controller.js';
import { PortalAccess } from './portal.guard.js';
import { Current, type PortalRequest } from './portal-request.js';
import type { SignedIn } from './sessions.service.js';

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
