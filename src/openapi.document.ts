import { type ChannelDefinition, ChannelRegistry } from '@dundun/messaging';
import type { INestApplication, Type } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERROR_RESPONSES, type ErrorResponseName } from './http/api-error.js';
import { ErrorAnswer, errorResponseComponents } from './http/error-responses.js';
import type { JsonSchema } from './http/fields.js';
import { ERRORS_KEY } from './http/operation.decorator.js';
import { QUERY_KEY } from './http/request.decorators.js';
import { ReceivedEvent, StatusEvent } from './webhooks/webhook-event.js';

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

/** An operation from Nest's scan. */
interface ScannedOperation {
  readonly [ERRORS_KEY]?: readonly ErrorResponseName[];
  readonly [QUERY_KEY]?: string;
  readonly parameters?: readonly { readonly in: string }[];
  readonly requestBody?: JsonSchema;
  readonly responses: Readonly<Record<string, ScannedResponse>>;
  readonly security?: readonly JsonSchema[];
}

interface ScannedResponse {
  readonly content?: { readonly 'application/json'?: { readonly schema: JsonSchema } };
  readonly headers?: JsonSchema;
}

/**
 * The OpenAPI 3.1 document. Nest's swagger scans routes and DTOs. This function adds the errors and
 * headers that all operations share, examples from those of the fields, closed objects, nullable
 * types of JSON Schema 2020-12, and the callbacks.
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
  const scanned = SwaggerModule.createDocument(app, config, {
    extraModels: [ErrorAnswer, StatusEvent, ReceivedEvent],
  });
  const scannedPaths = scanned.paths as unknown as Readonly<
    Record<string, Readonly<Record<string, ScannedOperation>>>
  >;
  const schemas = new Schemas(scanned.components?.schemas as Record<string, JsonSchema>);
  const paths = pathsOf(scannedPaths, schemas);
  const callbacks = app.get(ChannelRegistry, { strict: false }).all.flatMap(callbacksOf);
  const document = {
    ...scanned,
    jsonSchemaDialect: 'https://spec.openapis.org/oas/3.1/dialect/base',
    tags: ['SMS', 'Groups', 'WhatsApp', 'Webhooks', 'Health'].map((name) => ({ name })),
    paths,
    webhooks: Object.fromEntries(
      callbacks.map((callback) => [callback.type, { post: callbackOf(callback, schemas) }]),
    ),
    components: {
      schemas: schemas.components,
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

/**
 * Paths of the operations for customers; the carrier's callbacks and the metrics have no
 * `@Operation()`.
 */
function pathsOf(
  scanned: Readonly<Record<string, Readonly<Record<string, ScannedOperation>>>>,
  schemas: Schemas,
): Record<string, Record<string, JsonSchema>> {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const [path, operations] of Object.entries(scanned))
    for (const [method, operation] of Object.entries(operations))
      if (operation[ERRORS_KEY]) (paths[path] ??= {})[method] = operationOf(operation, schemas);
  return paths;
}

function operationOf(scanned: ScannedOperation, schemas: Schemas): JsonSchema {
  const { [ERRORS_KEY]: errors = [], [QUERY_KEY]: query, ...operation } = scanned;
  const parameters = [
    ...(operation.parameters ?? []),
    ...(query === undefined ? [] : schemas.takeParameters(query)),
  ];
  const responses: Record<string, unknown> = {};
  for (const name of [...commonErrors(scanned), ...errors])
    responses[ERROR_RESPONSES[name].status] = { $ref: `#/components/responses/${name}` };
  for (const [status, response] of Object.entries(operation.responses))
    responses[status] = responseOf(response, operation.security !== undefined, schemas);
  return {
    ...operation,
    security: operation.security ?? [],
    ...(parameters.length > 0 && { parameters }),
    responses,
  };
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
      content: { 'application/json': { ...media, example: schemas.exampleOf(media.schema) } },
    }),
  };
}

/** The errors that all operations of this kind may return. */
function commonErrors(operation: ScannedOperation): ErrorResponseName[] {
  const { security, parameters = [], requestBody, [QUERY_KEY]: query } = operation;
  const names: ErrorResponseName[] = ['BadRequest', 'RequestTimeout', 'InternalError'];
  if (security) names.push('Unauthorized', 'Forbidden', 'TooManyRequests');
  if (parameters.some((parameter) => parameter.in === 'path')) names.push('NotFound');
  if (requestBody) names.push('PayloadTooLarge', 'UnsupportedMediaType');
  if (requestBody || query !== undefined) names.push('Unprocessable');
  return [...names, 'Unavailable'];
}

/** An event that the gateway posts to the webhooks of an account. */
interface Callback {
  readonly type: string;
  readonly event: Type;
  /** Values of `data.status`. */
  readonly statuses?: readonly string[];
  readonly summary: string;
  readonly description: string;
}

function callbacksOf(channel: ChannelDefinition): Callback[] {
  const { name, title = name, statuses, wire, consent, deliveryReport = 'yes' } = channel;
  if (!wire) return [];
  const status = {
    type: wire.statusEvent,
    event: StatusEvent,
    statuses: Object.keys(statuses).filter((one) => statuses[one]?.reported),
    summary: `The status of a message on ${title} changed`,
    description:
      deliveryReport === 'yes'
        ? 'From `sent` on, for every message.'
        : 'From `sent` on, for messages with `delivery_report: yes`.',
  };
  if (wire.receivedEvent === undefined) return [status];
  const received = {
    type: wire.receivedEvent,
    event: ReceivedEvent,
    summary: `The account’s number on ${title} received a message`,
    description: consent?.serviceWindow
      ? 'The account may send free texts to the writer for 24 hours from then on.'
      : 'From any number.',
  };
  return [status, received];
}

function callbackOf(callback: Callback, schemas: Schemas): JsonSchema {
  const { type, summary, description } = callback;
  const header = (name: string, text: string): JsonSchema => ({
    name,
    in: 'header',
    required: true,
    description: text,
    schema: { type: 'string' },
  });
  const schema = schemas.addEvent(callback);
  return {
    operationId: `${type.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase())}Callback`,
    summary,
    description: `${description} Sent to the account’s webhooks, signed as Standard Webhooks. Any 2xx within 15 seconds is a success.`,
    tags: ['Webhooks'],
    parameters: [
      header('webhook-id', 'The same on every attempt.'),
      header('webhook-timestamp', 'Epoch seconds of this attempt.'),
      header('webhook-signature', '`v1,` and the signature in base64; several during a rotation.'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: schemas.exampleOf(schema) } },
    },
    responses: {
      204: { description: 'Received.' },
      410: { description: 'The gateway disables the webhook and sends no more.' },
    },
  };
}

type ObjectSchema = JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };

/** The component schemas, in the JSON Schema of OpenAPI 3.1. */
class Schemas {
  readonly components: Record<string, JsonSchema> = {};
  /** Schemas that are copied into others and are not components. */
  readonly #copied = new Map<string, JsonSchema>();

  constructor(scanned: Readonly<Record<string, JsonSchema>>) {
    for (const [name, schema] of Object.entries(scanned)) {
      const converted = nullableTypes(schema) as JsonSchema;
      const isOpen = 'additionalProperties' in converted || 'oneOf' in converted;
      this.components[name] = isOpen ? converted : { ...converted, additionalProperties: false };
    }
  }

  /** Query parameters, from the fields of a query DTO. */
  takeParameters(name: string): JsonSchema[] {
    const { properties } = this.#copy(name);
    return Object.entries(properties).map(([parameter, schema]) => ({
      name: parameter,
      in: 'query',
      schema,
    }));
  }

  /** Adds a component for the event of one channel, with its `type` and its statuses. */
  addEvent({ type, event, statuses }: Callback): JsonSchema {
    const form = this.#copy(event.name);
    const data = this.#copy(`${event.name}Data`);
    const { status } = data.properties;
    const name = `${type.replaceAll(/(?:^|[._])(.)/g, (_, letter: string) => letter.toUpperCase())}Event`;
    this.components[name] = {
      ...form,
      properties: {
        ...form.properties,
        type: { ...form.properties['type'], const: type },
        data: {
          ...data,
          properties: {
            ...data.properties,
            ...(statuses && { status: { ...status, enum: statuses } }),
          },
        },
      },
    };
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Moves a schema out of the components on first use. */
  #copy(name: string): ObjectSchema {
    const schema = this.#copied.get(name) ?? this.components[name] ?? {};
    this.#copied.set(name, schema);
    delete this.components[name];
    return schema as ObjectSchema;
  }

  /** Builds a value from the examples of the fields. */
  exampleOf(schema: JsonSchema): unknown {
    const { $ref, examples, allOf, enum: choices, properties, items, type } = schema;
    if (typeof $ref === 'string')
      return this.exampleOf(this.components[$ref.split('/').at(-1) ?? ''] ?? {});
    if (Array.isArray(examples)) return examples[0];
    if ('const' in schema) return schema['const'];
    if (Array.isArray(allOf)) return this.exampleOf(allOf[0] as JsonSchema);
    if (Array.isArray(choices)) return choices[0];
    switch (type) {
      case 'object':
        return Object.fromEntries(
          Object.entries((properties ?? {}) as Record<string, JsonSchema>).map(([name, field]) => [
            name,
            this.exampleOf(field),
          ]),
        );
      case 'array':
        return [this.exampleOf(items as JsonSchema)];
      case 'integer':
        return schema['minimum'] ?? 0;
      case 'string':
        return 'text';
      default:
        return null;
    }
  }
}

/** Converts `nullable` of Nest's swagger to the type `null` of JSON Schema. */
function nullableTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(nullableTypes);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, nullableTypes(value)]);
  const { nullable, ...converted } = Object.fromEntries(entries) as Record<string, unknown>;
  if (nullable !== true) return converted;
  const { type, enum: choices } = converted;
  return {
    ...converted,
    type: [type, 'null'],
    ...(Array.isArray(choices) && { enum: [...(choices as unknown[]), null] }),
  };
}
