import { type ChannelDefinition, ChannelRegistry } from '@dundun/messaging/ports';
import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { GatewayChannels, type ChannelCallback, type OtherCallback } from './channel.js';
import { ReceivedEvent, StatusEvent } from './http/callback.dto.js';
import { ERROR_RESPONSES, type ErrorResponseName } from './http/api-error.js';
import { ErrorAnswer, errorResponseComponents } from './http/error-responses.js';
import { ERRORS_KEY } from './http/operation.decorator.js';
import type { JsonSchema } from './http/validation.js';
import { ALERT_CALLBACKS } from './webhooks/alert-callbacks.js';
import { CallbackCatalogue, type CallbackDocument } from './webhooks/callback-catalogue.js';
import { BALANCE_CALLBACKS } from './billing/thresholds/balance-events.js';
import { NOTIFICATION_CALLBACKS } from './webhooks/notification-callbacks.js';

const DOCUMENT = {
  openapi: '3.1.0',
  jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
  info: {
    title: 'Dundun',
    description:
      'SMS batches, WhatsApp messages, email, calls, notifications over several channels, orders of airtime and data, balances, contacts and groups, delivery reports and webhooks.',
    version: '1',
    contact: { name: 'The operator of this gateway' },
    license: { name: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
  },
  servers: [{ url: '/' }],
  components: {
    securitySchemes: {
      api_token: { type: 'http', scheme: 'bearer', description: 'API token, `tok_…`.' },
      api_key: { type: 'http', scheme: 'bearer', description: 'Scoped key, `svk_…`.' },
    },
    responses: errorResponseComponents(),
    headers: {
      RateLimit: {
        description:
          'What is left of the credential’s limit (draft-ietf-httpapi-ratelimit-headers).',
        schema: { type: 'string', examples: ['"credential";r=9999;t=1'] },
      },
      RateLimitPolicy: {
        description: 'Requests (`q`) in seconds (`w`) per credential.',
        schema: { type: 'string', examples: ['"credential";q=10000;w=1'] },
      },
      RequestId: {
        description: 'Names this request in the service’s log.',
        schema: { type: 'string', pattern: '^req-[0-9a-z-]+$' },
      },
      RetryAfter: {
        description: 'Seconds to wait.',
        schema: { type: 'string', pattern: '^\\d+$' },
      },
    },
  },
} as const;

/** Of the surfaces beside the channels. */
const TAGS: Readonly<Record<string, string>> = {
  Notifications:
    'One message to one person over several channels, each the fallback of the one before.',
  Billing: 'The balance of the account and the entries of its ledger.',
  Groups: 'Contacts under one id, which a send may name as a recipient.',
  Inbound: 'Messages that people sent to the account, and their files.',
  Webhooks: 'Addresses that get the callbacks of the account, and the attempts to call them.',
  Health: 'Probes for the supervisor of the process and for load balancers; public.',
};

/** An operation from Nest's scan. */
interface ScannedOperation {
  readonly [ERRORS_KEY]?: readonly ErrorResponseName[];
  readonly description?: string;
  readonly parameters?: readonly { readonly in: string }[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, ScannedResponse>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

interface ScannedResponse {
  readonly content?: { readonly 'application/json'?: { readonly schema: JsonSchema } };
  readonly headers?: JsonSchema;
}

type Operations = Readonly<Record<string, ScannedOperation>>;
type Schemas = Record<string, JsonSchema>;

/** The documentation page loads nothing from another host. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'";

/**
 * Serves `/openapi.json`, and with `page` an interactive one at `/docs`. The first request makes the
 * document. Call it before `init()`.
 */
export function serveOpenApi(app: NestFastifyApplication, { page }: { page: boolean }): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith('/docs')) reply.header('content-security-policy', POLICY);
    done();
  });
  let made: OpenAPIObject | undefined;
  const document = () => (made ??= openApiDocument(app));
  app
    .get(CallbackCatalogue, { strict: false })
    .readFrom(() => document() as unknown as CallbackDocument);
  SwaggerModule.setup('docs', app, document, {
    ui: page,
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Dundun',
    swaggerOptions: { validatorUrl: null, persistAuthorization: false },
  });
}

/** Completes Nest's scan of routes and DTOs: common errors and headers, examples, callbacks. */
function openApiDocument(app: INestApplication): OpenAPIObject {
  const gateway = app.get(GatewayChannels, { strict: false });
  const registry = app.get(ChannelRegistry, { strict: false });
  const callbacks = gateway.all.flatMap(({ name, callback }) =>
    callback ? callbacksOf(callback, registry.get(name)) : [],
  );
  callbacks.push(...gateway.all.flatMap(({ callback }) => callback?.others ?? []));
  callbacks.push(...NOTIFICATION_CALLBACKS, ...ALERT_CALLBACKS, ...BALANCE_CALLBACKS);
  const tags = [
    ...gateway.all.map(({ tag, tagDescription }) => ({ name: tag, description: tagDescription })),
    ...Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  ];
  const document = SwaggerModule.createDocument(
    app,
    { ...DOCUMENT, tags } as unknown as OpenAPIObject,
    {
      extraModels: [ErrorAnswer, StatusEvent, ...callbacks.map(({ event }) => event)],
      operationIdFactory: (_controller, method) => method,
    },
  );
  const schemas = document.components?.schemas as Schemas;
  for (const [name, schema] of Object.entries(schemas))
    if (!('additionalProperties' in schema || 'oneOf' in schema))
      schemas[name] = { ...schema, additionalProperties: false };
  const paths = pathsOf(document.paths as unknown as Record<string, Operations>, schemas);
  const webhooks = Object.fromEntries(
    callbacks.map((callback) => [callback.type, { post: callbackOf(callback, schemas) }]),
  );
  return withPlainRefs({ ...document, paths, webhooks }) as OpenAPIObject;
}

/** Without the carrier's callbacks and the metrics, which have no `@Operation()`. */
function pathsOf(
  scanned: Readonly<Record<string, Operations>>,
  schemas: Schemas,
): Record<string, Record<string, JsonSchema>> {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [path, operations] of Object.entries(scanned))
    for (const [method, { [ERRORS_KEY]: errors, ...operation }] of Object.entries(operations)) {
      if (!errors) continue;
      const responses: Record<string, unknown> = {};
      for (const name of [...commonErrors(operation), ...errors])
        responses[ERROR_RESPONSES[name][0]] = { $ref: `#/components/responses/${name}` };
      for (const [status, response] of Object.entries(operation.responses))
        responses[status] = responseOf(response, operation.security !== undefined, schemas);
      (paths[path] ??= {})[method] = { ...operation, ...accessOf(operation), responses };
    }
  return paths;
}

/**
 * The credentials of an operation, an empty list where it is public. OpenAPI lets only OAuth 2 list its
 * scopes in `security`, so the scope of a key is in `x-scope` and in words.
 */
function accessOf({ security = [], description }: ScannedOperation): JsonSchema {
  const [scope] = security.flatMap((credential) => Object.values(credential).flat());
  return {
    security: security.map((credential) =>
      Object.fromEntries(Object.keys(credential).map((name) => [name, []])),
    ),
    ...(scope !== undefined && {
      'x-scope': scope,
      description: [description, `A key needs the scope \`${scope}\`.`].filter(Boolean).join(' '),
    }),
  };
}

/** Nest wraps a reference with siblings in an `allOf` of one, which OpenAPI 3.1 does not need. */
function withPlainRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPlainRefs);
  if (typeof value !== 'object' || value === null) return value;
  const { allOf, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, withPlainRefs(child)]),
  );
  if (allOf === undefined) return rest;
  return Array.isArray(allOf) && allOf.length === 1
    ? { ...(allOf[0] as object), ...rest }
    : { allOf, ...rest };
}

function responseOf(response: ScannedResponse, secured: boolean, schemas: Schemas): JsonSchema {
  const media = response.content?.['application/json'];
  return {
    ...response,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(secured && {
        ratelimit: { $ref: '#/components/headers/RateLimit' },
        'ratelimit-policy': { $ref: '#/components/headers/RateLimitPolicy' },
      }),
      ...response.headers,
    },
    ...(media && {
      content: { 'application/json': { ...media, example: exampleOf(media.schema, schemas) } },
    }),
  };
}

function commonErrors(operation: ScannedOperation): ErrorResponseName[] {
  const { security, parameters = [], requestBody } = operation;
  const takes = (place: string): boolean => parameters.some((parameter) => parameter.in === place);
  const names: ErrorResponseName[] = [
    'BadRequest',
    'RequestTimeout',
    'InternalError',
    'Unavailable',
  ];
  if (security) names.push('Unauthorized', 'Forbidden', 'TooManyRequests');
  if (takes('path')) names.push('NotFound');
  if (requestBody) names.push('PayloadTooLarge', 'UnsupportedMediaType');
  if (requestBody || takes('query')) names.push('Unprocessable');
  return names;
}

/** A callback that the gateway posts to the webhooks of an account. */
interface Callback extends OtherCallback {
  readonly statuses?: readonly string[];
}

function callbacksOf(callback: ChannelCallback, channel: ChannelDefinition): Callback[] {
  const { name, title = name, statuses, events = [], consent } = channel;
  const { statusEvent, receivedEvent, event } = callback;
  const { deliveryReport = true, accepted } = channel;
  const reported = Object.keys(statuses).filter((one) => statuses[one]?.reported);
  const description = deliveryReport
    ? `From \`${accepted}\` on, for every message.`
    : `From \`${accepted}\` on, for messages with \`delivery_report: yes\`.`;
  const typeOf = (name: string) => statusEvent.replace('*', name);
  const changed: Callback[] = statusEvent.includes('*')
    ? [
        ...reported.map((one) => ({
          type: typeOf(one),
          event,
          statuses: [one],
          summary: `A message on ${title} is ${one}`,
          description: 'For every message.',
        })),
        ...events.map((one) => ({
          type: typeOf(one),
          event,
          summary: `A message on ${title} was ${one}`,
          description: 'The status stays as it is.',
        })),
      ]
    : [
        {
          type: statusEvent,
          event,
          statuses: reported,
          summary: `The status of a message on ${title} changed`,
          description,
        },
      ];
  if (receivedEvent === undefined) return changed;
  const received = {
    type: receivedEvent,
    event: ReceivedEvent,
    summary: `The account’s number on ${title} received a message`,
    description: consent?.serviceWindow
      ? 'The account may send free texts to the writer for 24 hours from then on.'
      : 'From any number or address.',
  };
  return [...changed, received];
}

/** The operation of a callback; adds a component for its body. */
function callbackOf(
  { type, event, statuses, summary, description }: Callback,
  schemas: Schemas,
): JsonSchema {
  const text = { type: 'string' };
  const header = { in: 'header', required: true, schema: text };
  const camelCase = type.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase());
  const component = `${camelCase[0]?.toUpperCase()}${camelCase.slice(1)}Event`;
  const form = { $ref: `#/components/schemas/${event.name}` };
  const open = { type: 'object', additionalProperties: true } as const;
  const data = { ...open, properties: { status: { ...text, enum: statuses } } };
  const own = { type: { ...text, const: type }, ...(statuses && { data }) };
  const example = exampleOf(form, schemas) as { readonly data: { readonly status?: string } };
  const isShown = !statuses || statuses.includes(example.data.status ?? '');
  const shown = isShown ? {} : { status: statuses[0] };
  schemas[component] = {
    allOf: [form, { ...open, properties: own }],
    examples: [{ ...example, type, data: { ...example.data, ...shown } }],
  };
  const schema = { $ref: `#/components/schemas/${component}` };
  return {
    operationId: `${camelCase}Callback`,
    summary,
    description: `${description} Sent to the account’s webhooks, signed as Standard Webhooks. Any 2xx within 15 seconds is a success.`,
    tags: ['Webhooks'],
    security: [],
    parameters: [
      { ...header, name: 'webhook-id', description: 'The same on every attempt.' },
      { ...header, name: 'webhook-timestamp', description: 'Epoch seconds of this attempt.' },
      {
        ...header,
        name: 'webhook-signature',
        description: '`v1,` and the signature in base64; several during a rotation.',
      },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: exampleOf(schema, schemas) } },
    },
    responses: {
      204: { description: 'Received.' },
      410: { description: 'The gateway disables the webhook and sends no more.' },
    },
  };
}

function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const { $ref, examples, allOf, oneOf, enum: choices, properties, items, type } = schema;
  const of = (other: unknown): unknown => exampleOf((other ?? {}) as JsonSchema, schemas);
  if (typeof $ref === 'string') return of(schemas[$ref.split('/').at(-1) ?? '']);
  if (Array.isArray(examples)) return examples[0];
  if ('const' in schema) return schema['const'];
  if (Array.isArray(allOf)) return of(allOf[0]);
  if (Array.isArray(oneOf)) return of(oneOf[0]);
  if (Array.isArray(choices)) return choices[0];
  if (type === 'object') {
    const fields = Object.entries((properties ?? {}) as Schemas);
    return Object.fromEntries(fields.map(([name, field]) => [name, of(field)]));
  }
  if (type === 'array') return [of(items)];
  if (type === 'integer') return schema['minimum'] ?? 0;
  return type === 'string' ? 'text' : null;
}
