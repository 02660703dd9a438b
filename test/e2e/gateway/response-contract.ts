import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A gateway's answer. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // Any JSON; tests use matchers.
  readonly body: Record<string, unknown>;
}

interface MediaTypes {
  readonly 'application/json'?: unknown;
  readonly 'text/csv'?: unknown;
}

interface DocumentedResponse {
  readonly $ref?: string;
  readonly content?: MediaTypes;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface DocumentedOperation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
  };
}

const ERROR = '#/components/schemas/Error';
/** Paths the document leaves out; their errors have the one form all the same. */
const UNDOCUMENTED = ['/messaging/delivery-reports', '/openapi.json', '/metrics'];

/** Holds answers to an OpenAPI document: the status is one of the operation's, the body is its schema. */
export class ResponseContract {
  readonly document: OpenApi;
  readonly #ajv = new Ajv2020({
    strict: true,
    strictRequired: false,
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
  });
  readonly #paths: readonly (readonly [RegExp, string])[];

  constructor(json: string) {
    this.document = JSON.parse(json) as OpenApi;
    formats.default(this.#ajv);
    this.#ajv.addVocabulary(['components']);
    this.#ajv.addSchema(
      { components: { schemas: this.document.components.schemas } },
      'openapi',
      true,
      false,
    );
    this.#paths = Object.keys(this.document.paths)
      // A literal path goes before one with a parameter in the same place.
      .toSorted((a, b) => a.split('{').length - b.split('{').length || a.localeCompare(b))
      .map((path) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), path] as const);
  }

  /** @throws Error naming the undocumented part */
  check(method: string, url: string, answered: Answered, text: string): void {
    const path = url.split('?')[0] ?? '';
    const [, template] = this.#paths.find(([pattern]) => pattern.test(path)) ?? [];
    const operation =
      template === undefined ? undefined : this.document.paths[template]?.[method.toLowerCase()];
    const { status } = answered;
    if (!operation) {
      if (status >= 400) this.#hold(ERROR, answered.body, `${method} ${path} ${status}`);
      else if (!UNDOCUMENTED.includes(path))
        throw new Error(`${method} ${path} answered ${status} and is not documented`);
      return;
    }
    const where = `${method} ${String(template)} ${status}`;
    const response = this.#responseOf(operation, status);
    if (!response) {
      // A path that no parameter can match ends before its operation.
      if (status === 404 && answered.body['error']) return this.#hold(ERROR, answered.body, where);
      throw new Error(`${where}: the document has no such response`);
    }
    this.#checkHeaders(response, answered.headers, where);
    const schema = (response.content?.['application/json'] as { schema?: { $ref: string } })
      ?.schema;
    if (!schema) {
      const isFile = answered.headers.get('content-type')?.startsWith('text/csv') ?? false;
      if (isFile && response.content?.['text/csv']) return;
      if (text !== '') throw new Error(`${where}: the document has no body`);
      return;
    }
    this.#hold(schema.$ref, answered.body, where);
  }

  /** Validates `value` against the component's schema. */
  validate(schema: string, value: unknown): string | undefined {
    const valid = this.#compiled(`#/components/schemas/${schema}`);
    return valid(value) ? undefined : this.#ajv.errorsText(valid.errors);
  }

  #responseOf({ responses }: DocumentedOperation, status: number): DocumentedResponse | undefined {
    const response = responses[status];
    if (response?.$ref === undefined) return response;
    return this.document.components.responses[response.$ref.split('/').at(-1) ?? ''];
  }

  #checkHeaders({ headers = {} }: DocumentedResponse, found: Headers, where: string): void {
    for (const required of ['x-request-id', 'retry-after'])
      if (required in headers && !found.has(required))
        throw new Error(`${where}: the header ${required} is missing`);
  }

  #hold(ref: string, body: unknown, where: string): void {
    const valid = this.#compiled(ref);
    if (valid(body)) return;
    const wrong = (valid.errors ?? []).map(({ instancePath, message, data }) =>
      [instancePath, message, JSON.stringify(data)?.slice(0, 200)].join(' '),
    );
    throw new Error(`${where}: ${wrong.join('; ')}\n${JSON.stringify(body).slice(0, 1_000)}`);
  }

  #compiled(ref: string): ValidateFunction {
    const valid = this.#ajv.getSchema(`openapi${ref}`);
    if (!valid) throw new Error(`the document has no ${ref}`);
    return valid;
  }
}
