import fc from 'fast-check';
import type { OpenApi } from './response-contract.js';

export interface FuzzedRequest {
  /** Method and path of the document. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly authorized: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: string | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': JsonContent } };
}

interface JsonContent {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: object }>>;
}

/** In place of the webhooks of the document's examples; nothing listens there. */
export const NOWHERE = 'http://127.0.0.1:65535';

/** An object there is, by a path of the document and the name of its parameter. */
export type Known = (path: string, name: string) => string | undefined;

/**
 * Mostly right requests with something wrong in some of them.
 * @param known asked when a request is generated
 */
export function fuzzedRequests(document: OpenApi, known: Known): fc.Arbitrary<FuzzedRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      requestsTo(
        { document, known },
        method.toUpperCase(),
        path,
        operation as unknown as Operation,
      ),
    ),
  );
  return fc.oneof(...operations);
}

function requestsTo(
  { document, known }: { document: OpenApi; known: Known },
  method: string,
  path: string,
  { parameters = [], requestBody }: Operation,
): fc.Arbitrary<FuzzedRequest> {
  const named = (where: string): readonly Parameter[] =>
    parameters.filter((parameter) => parameter.in === where);
  const segments = fc.record(
    Object.fromEntries(
      named('path').map(({ name }) => [name, segment(() => known(path, name) ?? '-')]),
    ),
  ) as fc.Arbitrary<Record<string, string>>;
  const query = fc.record(
    Object.fromEntries(named('query').map(({ name, schema }) => [name, loose(document, schema)])),
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, unknown>>;
  const { schema, examples } = requestBody?.content['application/json'] ?? {};
  const wellFormed = schema
    ? fc
        .oneof(loose(document, schema), likeAnExample(document, schema, examples))
        .map((value) => (JSON.stringify(value) ?? '').replaceAll('https://example.com', NOWHERE))
    : fc.constant(undefined);
  const raw = fc.oneof(
    { weight: 9, arbitrary: wellFormed },
    { weight: schema ? 1 : 0, arbitrary: fc.oneof(fc.string(), fc.json()) },
  );
  return fc
    .record({
      segments,
      query: fc.oneof(fc.constant({}), query),
      raw,
      authorized: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
      key: fc.option(fc.string({ maxLength: 40 }), { nil: undefined }),
      type: fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/plain'),
    })
    .map(({ segments: values, query: asked, raw: sent, authorized, key, type }) => ({
      operation: `${method} ${path}`,
      method,
      path: pathOf(path, values) + queryOf(asked),
      authorized,
      raw: sent,
      headers: {
        ...(sent !== undefined && { 'content-type': type }),
        ...(key !== undefined && { 'idempotency-key': headerOf(key) }),
      },
    }));
}

function pathOf(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
}

function queryOf(asked: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(asked))
    for (const one of [value].flat())
      search.append(name, typeof one === 'string' ? one : JSON.stringify(one));
  return search.size > 0 ? `?${search.toString()}` : '';
}

/** Bytes that HTTP allows in a header. */
function headerOf(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '').trim();
}

/** An id that is one, is none, or cannot be one; never a dot, which ends the path. */
function segment(known: () => string): fc.Arbitrary<string> {
  return fc.oneof(
    fc.boolean().map((upper) => (upper ? known().toUpperCase() : known())),
    fc.uuid(),
    fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' }).filter((s) => !/^\.+$/.test(s)),
  );
}

/** An example of the document, in half of the cases with another value in one of its fields. */
function likeAnExample(
  document: OpenApi,
  schema: Schema,
  examples: JsonContent['examples'] = {},
): fc.Arbitrary<unknown> {
  const values = Object.values(examples).map(({ value }) => value);
  const properties = Object.entries(propertiesOf(document, schema));
  if (values.length === 0) return loose(document, schema);
  const example = fc.constantFrom(...values);
  if (properties.length === 0) return example;
  const field = fc.oneof(
    ...properties.map(([name, property]) =>
      loose(document, property).map((value) => ({ [name]: value })),
    ),
  );
  const changed = fc.tuple(example, field).map(([one, other]) => ({ ...one, ...other }));
  return fc.oneof(example, changed);
}

/** A value of the schema, and sometimes of none. */
function loose(document: OpenApi, schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: valueOf(document, schema) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
}

function valueOf(document: OpenApi, schema: Schema): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf, enum: choices, examples, type } = schema;
  if ($ref !== undefined) return valueOf(document, resolved(document, schema));
  const forms = (anyOf ?? oneOf) as readonly Schema[] | undefined;
  // Beside fields, forms only say which of them are required.
  if (forms && type === undefined) return fc.oneof(...forms.map((form) => valueOf(document, form)));
  if (Array.isArray(choices)) return fc.constantFrom(...(choices as unknown[]));
  const example = Array.isArray(examples)
    ? [{ weight: 4, arbitrary: fc.constantFrom(...(examples as unknown[])) }]
    : [];
  switch (type) {
    case 'object':
      return objectOf(document, schema);
    case 'array':
      return fc.array(loose(document, schema['items'] as Schema), { maxLength: 6 });
    case 'integer':
      return fc.integer({ min: -1, max: Number(schema['maximum'] ?? 10) + 1 });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.oneof(
        ...example,
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
        {
          weight: 1,
          arbitrary: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        },
      );
  }
}

function resolved(document: OpenApi, schema: Schema): Schema {
  const { $ref } = schema;
  if (typeof $ref !== 'string') return schema;
  return document.components.schemas[$ref.split('/').at(-1) ?? ''] as Schema;
}

function propertiesOf(document: OpenApi, schema: Schema): Readonly<Record<string, Schema>> {
  return (resolved(document, schema)['properties'] ?? {}) as Readonly<Record<string, Schema>>;
}

function objectOf(document: OpenApi, schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(propertiesOf(document, schema)).map(([name, property]) => [
      name,
      loose(document, property),
    ]),
  );
  const required = (schema['required'] ?? []) as string[];
  return fc.oneof(
    { weight: 8, arbitrary: fc.record(fields, { requiredKeys: required }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.record({ ...fields, [`x-${required.length}`]: fc.anything() }) },
  );
}
