import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { GROUP_SCHEMAS } from './groups/group.schemas.js';
import { HEALTH_SCHEMAS, READY_EXAMPLE } from './health/health.schemas.js';
import { OPERATION_KEY, type OperationDocument } from './http/documented.decorator.js';
import {
  ERROR_RESPONSES,
  ERROR_SCHEMAS,
  errorResponseComponents,
  type ErrorResponseName,
} from './http/error.schemas.js';
import { type JsonSchema, refTo } from './http/schema.js';
import { SMS_EXAMPLES } from './sms/sms.examples.js';
import { SMS_SCHEMAS } from './sms/sms.schemas.js';
import { WEBHOOK_SCHEMAS } from './webhooks/webhook.schemas.js';
import { WHATSAPP_EXAMPLES } from './whatsapp/whatsapp.examples.js';
import { WHATSAPP_SCHEMAS } from './whatsapp/whatsapp.schemas.js';

/** An operation as Nest's scan yields it: its path parameters and security, and our document. */
interface ScannedOperation {
  readonly [OPERATION_KEY]?: OperationDocument;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

const HEADERS = {
  RateLimit: {
    description: 'What is left of the credential’s limit (draft-ietf-httpapi-ratelimit-headers).',
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
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'string', pattern: '^\\d+$' } },
} as const;

const NOT_READY = {
  description: 'It cannot accept messages; what is down is in the body.',
  content: { 'application/json': { schema: refTo('Readiness'), example: READY_EXAMPLE } },
};

/**
 * The OpenAPI 3.1 document: routes, credentials and scopes as the controllers declare them, bodies
 * as JSON Schema 2020-12, errors as the one table of them says.
 */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Dundun')
    .setDescription(
      'SMS batches, WhatsApp messages, contacts and groups, delivery reports and webhooks.',
    )
    .setVersion('1')
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .addServer('/')
    .build();
  const scanned = SwaggerModule.createDocument(app, config) as unknown as {
    paths: Record<string, Record<string, ScannedOperation>>;
  } & Record<string, unknown>;
  const document = {
    ...scanned,
    jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
    tags: [
      { name: 'SMS' },
      { name: 'Groups' },
      { name: 'WhatsApp' },
      { name: 'Webhooks' },
      { name: 'Health' },
    ],
    paths: pathsOf(scanned.paths),
    webhooks: Object.fromEntries(CALLBACKS.map((one) => [one.type, { post: callbackOf(one) }])),
    components: {
      schemas: {
        ...ERROR_SCHEMAS,
        ...HEALTH_SCHEMAS,
        ...SMS_SCHEMAS,
        ...GROUP_SCHEMAS,
        ...WHATSAPP_SCHEMAS,
        ...WEBHOOK_SCHEMAS,
      },
      responses: errorResponseComponents(),
      headers: HEADERS,
      securitySchemes: {
        api_token: { type: 'http', scheme: 'bearer', description: 'API token, `tok_…`.' },
        api_key: { type: 'http', scheme: 'bearer', description: 'Scoped key, `svk_…`.' },
      },
    },
  };
  return document as unknown as OpenAPIObject;
}

/** Routes without a document are not the customers': the carrier's callbacks, and this page. */
function pathsOf(
  scanned: Readonly<Record<string, Readonly<Record<string, ScannedOperation>>>>,
): Record<string, Record<string, JsonSchema>> {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [path, operations] of Object.entries(scanned))
    for (const [method, operation] of Object.entries(operations)) {
      const document = operation[OPERATION_KEY];
      if (document) (paths[path] ??= {})[method] = operationOf(operation, document);
    }
  return paths;
}

function operationOf(scanned: ScannedOperation, document: OperationDocument): JsonSchema {
  const { operationId, summary, description, tag, query = {}, headers = {}, body } = document;
  const inPath = (scanned.parameters ?? []).filter((parameter) => parameter.in === 'path');
  const parameters = [
    ...inPath.map(({ name }) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
    ...Object.entries(headers).map(([name, schema]) => ({ name, in: 'header', schema })),
  ];
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    security: scanned.security ?? [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: {
          'application/json': { schema: refTo(body.schema), examples: examplesOf(body.examples) },
        },
      },
    }),
    responses: {
      [document.answer.status]: answerOf(document, scanned.security !== undefined),
      ...errorsOf(document, {
        secured: scanned.security !== undefined,
        named: inPath.length > 0,
      }),
    },
  };
}

function answerOf({ answer }: OperationDocument, secured: boolean): JsonSchema {
  const own = Object.entries(answer.headers ?? {}).map(([name, schema]) => [name, { schema }]);
  return {
    description: answer.description,
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(secured && {
        ratelimit: { $ref: '#/components/headers/RateLimit' },
        'ratelimit-policy': { $ref: '#/components/headers/RateLimitPolicy' },
      }),
      ...(Object.fromEntries(own) as Record<string, unknown>),
    },
    ...(answer.schema !== undefined && {
      content: { 'application/json': { schema: refTo(answer.schema), example: answer.example } },
    }),
  };
}

/** What every operation of its kind can answer, and its own. */
function errorsOf(
  { body, query, errors = [] }: OperationDocument,
  { secured, named }: { readonly secured: boolean; readonly named: boolean },
): Record<string, JsonSchema> {
  const names: ErrorResponseName[] = ['BadRequest', 'RequestTimeout', 'InternalError'];
  if (secured) names.push('Unauthorized', 'Forbidden', 'TooManyRequests');
  if (named) names.push('NotFound');
  if (body) names.push('PayloadTooLarge', 'UnsupportedMediaType');
  if (body || query) names.push('Unprocessable');
  names.push('Unavailable');
  const found: Record<string, JsonSchema> = {};
  for (const name of [...names, ...errors])
    if (name === 'NotReady') found[503] = NOT_READY;
    else found[ERROR_RESPONSES[name].status] = { $ref: `#/components/responses/${name}` };
  return found;
}

/** What is posted to an account's webhooks. */
interface Callback {
  readonly type: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly schema: string;
  readonly examples: Readonly<Record<string, unknown>>;
}

const CALLBACKS: readonly Callback[] = [
  {
    type: 'sms.delivery_report',
    operationId: 'deliveryReportCallback',
    summary: 'An SMS’s status changed',
    description: 'For batches with `delivery_report: yes`.',
    schema: 'DeliveryReportEvent',
    examples: { delivered: SMS_EXAMPLES.event },
  },
  {
    type: 'whatsapp.message_status',
    operationId: 'whatsAppStatusCallback',
    summary: 'A WhatsApp message’s status changed',
    description: 'From `sent` on, for every message.',
    schema: 'WhatsAppStatusEvent',
    examples: { read: WHATSAPP_EXAMPLES.statusEvent },
  },
  {
    type: 'whatsapp.message_received',
    operationId: 'whatsAppReceivedCallback',
    summary: 'Somebody wrote to the account’s WhatsApp number',
    description: 'Their window is open from then on, for 24 hours.',
    schema: 'WhatsAppReceivedEvent',
    examples: { 'a text': WHATSAPP_EXAMPLES.receivedEvent },
  },
];

function callbackOf(callback: Callback): JsonSchema {
  const header = (name: string, description: string): JsonSchema => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  return {
    operationId: callback.operationId,
    summary: callback.summary,
    description: `${callback.description} Sent to the account’s webhooks, signed as Standard Webhooks. Any 2xx within 15 seconds is success.`,
    tags: ['Webhooks'],
    parameters: [
      header('webhook-id', 'The same on every try.'),
      header('webhook-timestamp', 'Epoch seconds of this try.'),
      header('webhook-signature', '`v1,` and the signature in base64; several during a rotation.'),
    ],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: refTo(callback.schema),
          examples: examplesOf(callback.examples),
        },
      },
    },
    responses: {
      204: { description: 'Received.' },
      410: { description: 'Send no more: the webhook is disabled.' },
    },
  };
}

function examplesOf(examples: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(examples).map(([name, value]) => [name.replaceAll(/[ ,]+/g, '-'), { value }]),
  );
}
