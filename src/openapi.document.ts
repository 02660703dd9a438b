import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { GROUP_SCHEMAS } from './groups/group.schemas.js';
import { HEALTH_SCHEMAS } from './health/health.schemas.js';
import { OPERATION_KEY } from './http/documented.decorator.js';
import { ERROR_SCHEMAS, errorResponseComponents } from './http/error.schemas.js';
import type { JsonSchema } from './http/schema.js';
import { callbackOf, CALLBACKS } from './openapi.callbacks.js';
import { operationOf, type ScannedOperation } from './openapi.operations.js';
import { SMS_SCHEMAS } from './sms/sms.schemas.js';
import { WEBHOOK_SCHEMAS } from './webhooks/webhook.schemas.js';
import { WHATSAPP_SCHEMAS } from './whatsapp/whatsapp.schemas.js';

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
