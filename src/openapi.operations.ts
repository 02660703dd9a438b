import { READY_EXAMPLE } from './health/health.schemas.js';
import { OPERATION_KEY, type OperationDocument } from './http/documented.decorator.js';
import { ERROR_RESPONSES, type ErrorResponseName } from './http/error.schemas.js';
import { type JsonSchema, refTo } from './http/schema.js';

/** An operation as Nest's scan yields it: its path parameters and security, and our document. */
export interface ScannedOperation {
  readonly [OPERATION_KEY]?: OperationDocument;
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

const NOT_READY = {
  description: 'It cannot accept messages; what is down is in the body.',
  content: { 'application/json': { schema: refTo('Readiness'), example: READY_EXAMPLE } },
};

/** An operation of the document: what was scanned of it, and what its controller declares. */
export function operationOf(scanned: ScannedOperation, document: OperationDocument): JsonSchema {
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

export function examplesOf(examples: Readonly<Record<string, unknown>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(examples).map(([name, value]) => [name.replaceAll(/[ ,]+/g, '-'), { value }]),
  );
}
