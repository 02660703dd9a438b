import { Body, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiCalls } from './api-call.js';
import { BatchesApi } from './batches.api.js';
import { ContactsApi } from './contacts.api.js';
import { ContextReader } from './context.js';
import type { DashboardRequest } from './dashboard.options.js';
import { LanesApi } from './lanes.api.js';
import { MessagesApi } from './messages.api.js';
import { PhonesApi } from './phones.api.js';
import type { Given } from './query.js';
import { SendingApi } from './sending.api.js';
import { StatsApi } from './stats.api.js';

// Fixed names come before parameters. Answers are written at once, so that no interceptor of the
// app changes them.

export class OverviewController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(ContextReader) private readonly context: ContextReader,
    @Inject(StatsApi) private readonly counts: StatsApi,
  ) {}

  @Get('api/context')
  contextOf(@Req() request: DashboardRequest, @Res() response: unknown): Promise<void> {
    return this.calls.answer(request, response, (call) => this.context.answer(call));
  }

  @Get('api/stats')
  stats(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.counts.stats(call, query));
  }

  @Get('api/changes')
  changes(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.counts.changes(call, query));
  }
}

export class MessagesController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(MessagesApi) private readonly messages: MessagesApi,
    @Inject(SendingApi) private readonly sending: SendingApi,
  ) {}

  @Get('api/messages')
  list(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answerShared(request, response, (call) => this.messages.list(call, query));
  }

  @Get('api/messages/export')
  export(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.messages.export(call, query));
  }

  @Post('api/messages/estimate')
  estimate(
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.sending.estimate(call, body));
  }

  @Post('api/messages')
  send(
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.sending.send(call, body), 201);
  }

  @Get('api/messages/:id')
  detail(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.messages.detail(call, id));
  }

  @Get('api/messages/:id/html')
  html(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.messages.html(call, id));
  }

  @Post('api/messages/:id/reveal')
  reveal(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.messages.reveal(call, id));
  }

  @Post('api/messages/:id/resend')
  resend(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.sending.resend(call, id), 201);
  }
}

export class BatchesController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(BatchesApi) private readonly batches: BatchesApi,
  ) {}

  @Get('api/batches')
  list(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answerShared(request, response, (call) => this.batches.list(call, query));
  }

  @Get('api/batches/:id')
  detail(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.batches.detail(call, id));
  }

  @Post('api/batches/:id/cancel')
  cancel(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.batches.cancel(call, id));
  }

  @Post('api/batches/:id/reschedule')
  reschedule(
    @Param('id') id: string,
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.batches.reschedule(call, id, body));
  }
}

export class LanesController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(LanesApi) private readonly operation: LanesApi,
  ) {}

  @Get('api/lanes')
  lanes(@Req() request: DashboardRequest, @Res() response: unknown): Promise<void> {
    return this.calls.answerShared(request, response, (call) => this.operation.lanes(call));
  }

  @Post('api/lanes/:id/resume')
  resume(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.operation.resume(call, id));
  }

  @Get('api/providers')
  providers(@Req() request: DashboardRequest, @Res() response: unknown): Promise<void> {
    return this.calls.answerShared(request, response, (call) => this.operation.providers(call));
  }
}

export class ContactsController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(ContactsApi) private readonly contacts: ContactsApi,
  ) {}

  @Get('api/contacts')
  list(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.contacts.list(call, query));
  }

  @Get('api/contacts/export')
  export(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.contacts.export(call, query));
  }

  @Post('api/contacts/import')
  import(
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.contacts.import(call, body));
  }

  @Get('api/contacts/:id')
  detail(
    @Param('id') id: string,
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.contacts.detail(call, id, query));
  }

  @Get('api/contacts/:id/conversation')
  conversation(
    @Param('id') id: string,
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) =>
      this.contacts.conversation(call, id, query),
    );
  }
}

export class PhonesController {
  constructor(
    @Inject(ApiCalls) private readonly calls: ApiCalls,
    @Inject(PhonesApi) private readonly simulated: PhonesApi,
    @Inject(MessagesApi) private readonly messages: MessagesApi,
  ) {}

  @Get('api/phones')
  phones(
    @Query() query: Given,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.simulated.phones(call, query));
  }

  @Post('api/phones/reply')
  reply(
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.simulated.reply(call, body), 202);
  }

  @Post('api/phones/report')
  report(
    @Body() body: unknown,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.simulated.report(call, body), 202);
  }

  @Get('api/phones/:id/html')
  html(
    @Param('id') id: string,
    @Req() request: DashboardRequest,
    @Res() response: unknown,
  ): Promise<void> {
    return this.calls.answer(request, response, (call) => this.messages.html(call, id, true));
  }
}
