import { Get, Inject, Post, Req, Res, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type ApiCall, ApiCalls } from './api-call.js';
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

/** What a request gives to a route. */
interface Asked {
  readonly id: string;
  readonly query: Given;
  readonly body: unknown;
}

type ApiRequest = DashboardRequest & Omit<Asked, 'id'> & { readonly params: Pick<Asked, 'id'> };

interface Reply {
  /** @default 200 */
  readonly status?: number;
  /** Pages share the answer ({@link ApiCalls.answerShared}). @default false */
  readonly shared?: boolean;
}

/** The routes of the API. Answers are written at once, so that no interceptor of the app changes them. */
export class ApiController {
  constructor(
    @Inject(ApiCalls) readonly calls: ApiCalls,
    @Inject(ModuleRef) readonly modules: ModuleRef,
  ) {}
}

/** Adds a route below `api/` that answers with what `run` returns. */
function route<T extends object>(
  name: `${'GET' | 'POST'} ${string}`,
  api: Type<T>,
  run: (api: T, call: ApiCall, given: Asked) => unknown,
  { status = 200, shared = false }: Reply = {},
): void {
  const [method, path] = name.split(' ');
  const handler = {
    value(this: ApiController, request: ApiRequest, response: unknown): Promise<void> {
      const { query, body } = request;
      const given = { id: request.params.id, query, body };
      const answer = (call: ApiCall) => run(this.modules.get(api), call, given);
      if (shared) return this.calls.answerShared(request, response, answer);
      return this.calls.answer(request, response, answer, status);
    },
  };
  Object.defineProperty(ApiController.prototype, name, handler);
  Req()(ApiController.prototype, name, 0);
  Res()(ApiController.prototype, name, 1);
  (method === 'GET' ? Get : Post)(`api/${path}`)(ApiController.prototype, name, handler);
}

const SHARED = { shared: true };
const CREATED = { status: 201 };
const ACCEPTED = { status: 202 };

// Fixed names come before parameters.
route('GET context', ContextReader, (api, call) => api.answer(call));
route('GET stats', StatsApi, (api, call, { query }) => api.stats(call, query));
route('GET changes', StatsApi, (api, call, { query }) => api.changes(call, query));

route('GET messages', MessagesApi, (api, call, { query }) => api.list(call, query), SHARED);
route('GET messages/total', MessagesApi, (api, call, { query }) => api.total(call, query));
route('GET messages/export', MessagesApi, (api, call, { query }) => api.export(call, query));
route('POST messages/estimate', SendingApi, (api, call, { body }) => api.estimate(call, body));
route('POST messages/text', SendingApi, (api, call, { body }) => api.text(call, body));
route('POST messages', SendingApi, (api, call, { body }) => api.send(call, body), CREATED);
route('GET messages/:id', MessagesApi, (api, call, { id }) => api.detail(call, id));
route('GET messages/:id/html', MessagesApi, (api, call, { id }) => api.html(call, id));
route('POST messages/:id/reveal', MessagesApi, (api, call, { id }) => api.reveal(call, id));
route('GET messages/:id/resend', SendingApi, (api, call, { id }) => api.estimateResend(call, id));
route(
  'POST messages/:id/resend',
  SendingApi,
  (api, call, { id, body }) => api.resend(call, id, body),
  CREATED,
);
route('POST messages/:id/settle', SendingApi, (api, call, { id, body }) =>
  api.settle(call, id, body),
);

route('GET batches', BatchesApi, (api, call, { query }) => api.list(call, query), SHARED);
route('GET batches/export', BatchesApi, (api, call, { query }) => api.export(call, query));
route('GET batches/:id', BatchesApi, (api, call, { id }) => api.detail(call, id));
route('POST batches/:id/cancel', BatchesApi, (api, call, { id }) => api.cancel(call, id));
route('POST batches/:id/resend', BatchesApi, (api, call, { id, body }) =>
  api.resend(call, id, body),
);
route('POST batches/:id/reschedule', BatchesApi, (api, call, { id, body }) =>
  api.reschedule(call, id, body),
);

route('GET lanes', LanesApi, (api, call) => api.lanes(call), SHARED);
route('POST lanes/:id/resume', LanesApi, (api, call, { id }) => api.resume(call, id));
route('GET providers', LanesApi, (api, call) => api.providers(call), SHARED);

route('GET contacts', ContactsApi, (api, call, { query }) => api.list(call, query));
route('GET contacts/export', ContactsApi, (api, call, { query }) => api.export(call, query));
route('POST contacts/import', ContactsApi, (api, call, { body }) => api.importAll(call, body));
route('GET contacts/:id', ContactsApi, (api, call, { id, query }) => api.detail(call, id, query));
route('GET contacts/:id/conversation', ContactsApi, (api, call, { id, query }) =>
  api.conversation(call, id, query),
);
route('GET contacts/:id/media', ContactsApi, (api, call, { id, query }) =>
  api.media(call, id, query),
);

route('GET phones', PhonesApi, (api, call, { query }) => api.phones(call, query));
route('POST phones/reply', PhonesApi, (api, call, { body }) => api.reply(call, body), ACCEPTED);
route('POST phones/report', PhonesApi, (api, call, { body }) => api.report(call, body), ACCEPTED);
route('GET phones/:id/html', MessagesApi, (api, call, { id }) => api.html(call, id, true));
