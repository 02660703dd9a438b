import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthRequirement } from '../../../src/accounts/auth.guard.js';
import { API_ERRORS } from '../../../src/http/api-error.js';
import { declaredRoutes } from './declared-routes.js';
import { LINTERS } from './openapi-linters.js';
import type { ResponseContract } from './response-contract.js';
import { TestGateway } from './test-gateway.js';

interface Media {
  readonly schema: { readonly $ref: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-scope'?: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

describe('the OpenAPI document', () => {
  const gateway = new TestGateway();
  let contract: ResponseContract;
  let document: Record<string, unknown>;

  beforeAll(async () => {
    await gateway.start();
    contract = await gateway.contract();
    document = contract.document as unknown as Record<string, unknown>;
  });
  afterAll(() => gateway.destroy());

  const operations = (): [string, Operation][] =>
    Object.entries(contract.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path}`,
        operation as unknown as Operation,
      ]),
    );

  it('the document is OpenAPI 3.1 with JSON Schema 2020-12 and lists the callbacks as webhooks', () => {
    expect(document['openapi']).toBe('3.1.0');
    expect(document['jsonSchemaDialect']).toBe('https://spec.openapis.org/oas/3.1/dialect/base');
    expect(Object.keys(document['webhooks'] as object)).toEqual([
      'sms.delivery_report',
      'sms.message_received',
      'whatsapp.message_status',
      'whatsapp.message_received',
      ...[
        'sent',
        'expired',
        'failed',
        'rejected',
        'delivered',
        'read',
        'bounced',
        'complained',
      ].map((status) => `email.${status}`),
      'email.delayed',
      'email.unsubscribed',
      'email.received',
      'voice.call_status',
      'vas.order_status',
      'email.domain_verified',
      'email.domain_failed',
      'notification.fell_back',
      'notification.ended',
      'notification.doubled',
      'alert.raised',
      'alert.resolved',
      'account.balance_low',
      'account.balance_exhausted',
    ]);
    expect(JSON.stringify(document)).not.toMatch(/"nullable"|x-operation/);
    const ajv = new Ajv2020({ strict: false });
    for (const schema of Object.values(contract.document.components.schemas))
      expect([schema, ajv.validateSchema(schema as object)]).toEqual([schema, true]);
  });

  it('the document has every customer route with its credential and scope', () => {
    const documented = new Map(operations());
    expect(new Set([...documented.values()].map(({ operationId }) => operationId)).size).toBe(
      documented.size,
    );
    const declared = declaredRoutes(gateway.running.app).map(({ method, path, auth }) => ({
      name: `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
      ...accessOf(auth),
    }));
    expect(
      declared
        .map(({ name }) => name)
        .filter(
          (name) =>
            name !== 'GET /metrics' && !/ \/(?:email\/unsubscribe|portal|probes)\b/.test(name),
        )
        .toSorted(),
    ).toEqual([...documented.keys()].toSorted());
    for (const { name, security, scope } of declared) {
      const operation = documented.get(name);
      if (!operation) continue;
      expect([name, operation.security, operation['x-scope']]).toEqual([name, security, scope]);
      const { description = '' } = operation;
      expect([name, description]).toEqual([name, expect.stringContaining(scope ?? '')]);
    }
  });

  it('every documented operation has a tag and the common errors', () => {
    for (const [name, operation] of operations()) {
      expect([name, Object.keys(operation.responses)]).toEqual([
        name,
        expect.arrayContaining(['400', '408', '500', '503']),
      ]);
      expect([name, operation]).toEqual([
        name,
        expect.objectContaining({ tags: [expect.any(String)] }),
      ]);
    }
  });

  it('every example in the document matches its schema', () => {
    const media = [...mediaIn(document)];
    expect(media.length).toBeGreaterThan(20);
    for (const { schema, example, examples } of media) {
      const values: unknown[] = example === undefined ? [] : [example];
      for (const { value } of Object.values(examples ?? {})) values.push(value);
      expect([schema.$ref, values.length]).not.toEqual([schema.$ref, 0]);
      const name = schema.$ref.split('/').at(-1) ?? '';
      for (const value of values)
        expect([name, contract.validate(name, value)]).toEqual([name, undefined]);
    }
  });

  it('the document shows every error code of a documented operation', () => {
    const text = JSON.stringify(document['components']);
    const missing = Object.keys(API_ERRORS).filter((code) => !text.includes(`"code":"${code}"`));
    // Another method of a documented path is no operation.
    expect(missing).toEqual(['method_not_allowed']);
  });

  it('the documentation page loads nothing from another host', async () => {
    for (const path of ['/docs', '/docs/']) {
      const page = await fetch(`${gateway.url}${path}`);
      const html = await page.text();
      expect([page.status, page.headers.get('content-type')]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ]);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      const loaded = [...html.matchAll(/(?:src|href)="([^"#]*)"/g)].map(([, url]) => String(url));
      expect(loaded.length).toBeGreaterThan(3);
      for (const url of loaded) {
        const at = new URL(url, `${gateway.url}${path}`);
        expect(at.origin).toBe(gateway.url);
        const answer = await fetch(at);
        // An unread body keeps its connection open after the test.
        await answer.arrayBuffer();
        expect([at.pathname, answer.status]).toEqual([at.pathname, 200]);
      }
    }
  });

  it.each(LINTERS)(
    '%s finds nothing by its recommended rules',
    async (_name, linter) => {
      expect(await linter(document)).toEqual([]);
    },
    60_000,
  ); // starts a process that loads some hundred modules

  it('docs/requests.http has every documented operation', async () => {
    const requests = await readFile(
      join(import.meta.dirname, '../../../docs/requests.http'),
      'utf8',
    );
    for (const [name, { operationId }] of operations())
      expect([name, requests.includes(`### ${operationId}\n`)]).toEqual([name, true]);
  });
});

function accessOf(auth: AuthRequirement | undefined) {
  if (!auth) return { security: [], scope: undefined };
  const kinds = auth.kind === 'any' ? ['api_token', 'api_key'] : [auth.kind];
  return { security: kinds.map((kind) => ({ [kind]: [] })), scope: auth.scope };
}

/** Every `application/json` of the document. */
function* mediaIn(value: unknown): Generator<Media> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value))
    if (key === 'application/json') yield child as Media;
    else yield* mediaIn(child);
}
