import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Writes a page for each operation of the gateway into `docs/gateway-api`, from the OpenAPI document of the
 * built gateway, which it starts on an empty database.
 *
 *   node docs/.vitepress/gateway-api.js
 */

const root = resolve(import.meta.dirname, '../..');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Most levels of the fields of a body. */
const DEPTH = 4;

async function openApi() {
  const directory = await mkdtemp(join(tmpdir(), 'dundun-docs-api-'));
  const gateway = spawn(process.execPath, [join(root, 'dist/src/main.js')], {
    cwd: directory,
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: 'sqlite:docs.sqlite' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let seen = '';
    for await (const chunk of gateway.stdout) {
      seen += chunk;
      const [, url] = /"url":"([^"]+)"/.exec(seen) ?? [];
      if (url !== undefined) return await (await fetch(`${url}/openapi.json`)).json();
    }
    throw new Error(`the gateway did not start: ${seen}`);
  } finally {
    gateway.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Text in a cell of a table. */
const cell = (text = '') =>
  String(text)
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ');

function pageOf(document, path, method, operation) {
  const of = (one) => resolved(document, one);
  const parameters = (operation.parameters ?? []).map(of);
  const body = of(operation.requestBody ?? {}).content?.['application/json'];
  const answers = Object.entries(operation.responses ?? {}).map(([status, one]) => [
    status,
    of(one),
  ]);
  const lines = [
    `# ${operation.summary ?? `${method.toUpperCase()} ${path}`}`,
    `\`${method.toUpperCase()} ${path}\``,
    operation.description ?? '',
    securityOf(operation),
    ...section(
      'Parameters',
      ['Name', 'In', 'Type', 'Meaning'],
      parameters.map((one) => [
        `\`${one.name}\`${one.required ? ', required' : ''}`,
        one.in,
        typeOf(document, one.schema ?? {}),
        one.description ?? of(one.schema ?? {}).description,
      ]),
    ),
    ...section('Body', ['Field', 'Type', 'Meaning'], body ? fieldsOf(document, body.schema) : []),
    ...answers
      .filter(([status]) => Number(status) < 400)
      .flatMap(([status, answer]) => [
        `## Answer ${status}`,
        answer.description ?? '',
        table(['Field', 'Type', 'Meaning'], fieldsIn(document, answer)),
      ]),
    ...section(
      'Errors',
      ['Status', 'Meaning'],
      answers
        .filter(([status]) => !(Number(status) < 400))
        .map(([status, { description }]) => [`\`${status}\``, description]),
    ),
  ];
  return `${lines.filter(Boolean).join('\n\n')}\n`;
}

function fieldsIn(document, { content = {} }) {
  const schema = content['application/json']?.schema;
  return schema ? fieldsOf(document, schema) : [];
}

function securityOf({ security = [] }) {
  const ways = security.flatMap((one) => Object.entries(one));
  if (ways.length === 0) return '';
  const scopes = [...new Set(ways.flatMap(([, names]) => names))];
  const named =
    scopes.length > 0 ? `, with the scope ${scopes.map((one) => `\`${one}\``).join(' or ')}` : '';
  const words = { api_token: 'the API token', api_key: 'a key' };
  const keys = [...new Set(ways.map(([name]) => words[name] ?? name))];
  return `\`Authorization: Bearer\` with ${keys.join(' or ')}${named}.`;
}

function section(title, head, rows) {
  return rows.length === 0 ? [] : [`## ${title}`, table(head, rows)];
}

function table(head, rows) {
  if (rows.length === 0) return '';
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))];
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function resolved(document, one) {
  if (!one?.$ref) return one ?? {};
  return resolved(
    document,
    one.$ref
      .slice(2)
      .split('/')
      .reduce((found, key) => found?.[key], document),
  );
}

/** A row for each field of a schema, those of objects and lists in it by their paths. */
function fieldsOf(document, given, at = '', depth = 0) {
  const schema = merged(document, given);
  const inner = schema.type === 'array' ? merged(document, schema.items ?? {}) : schema;
  const place = schema.type === 'array' ? `${at}[]` : at;
  if (depth >= DEPTH) return [];
  return Object.entries(inner.properties ?? {}).flatMap(([name, field]) => {
    const path = place === '' ? name : `${place}.${name}`;
    const { description } = merged(document, field);
    const need = inner.required?.includes(name) ? '' : ', optional';
    const row = [`\`${path}\`${need}`, typeOf(document, field), description ?? ''];
    return [row, ...fieldsOf(document, field, path, depth + 1)];
  });
}

/** A schema with those of its \`allOf\`. */
function merged(document, given) {
  const schema = resolved(document, given);
  return (schema.allOf ?? []).reduce((whole, one) => {
    const part = merged(document, one);
    return {
      ...part,
      ...whole,
      properties: { ...part.properties, ...whole.properties },
      required: [...(part.required ?? []), ...(whole.required ?? [])],
    };
  }, schema);
}

function typeOf(document, given) {
  const schema = merged(document, given);
  const several = schema.oneOf ?? schema.anyOf;
  if (several) return [...new Set(several.map((one) => typeOf(document, one)))].join(' or ');
  if (schema.enum) return schema.enum.map((one) => `\`${one}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.type === 'array') return `list of ${typeOf(document, schema.items ?? {})}`;
  const types = [schema.type ?? 'any'].flat().map((one) => (one === 'null' ? 'null' : one));
  return `${types.join(' or ')}${schema.format ? ` (${schema.format})` : ''}`;
}

const document = await openApi();
const folder = join(root, 'docs/gateway-api');
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const listed = new Map();
for (const [path, operations] of Object.entries(document.paths))
  for (const method of METHODS) {
    const operation = operations[method];
    if (!operation) continue;
    const [tag = 'Other'] = operation.tags ?? [];
    const name = operation.operationId ?? `${method}${path.replaceAll(/\W+/g, '-')}`;
    const head = `---\ntag: ${JSON.stringify(tag)}\n---\n\n`;
    await writeFile(join(folder, `${name}.md`), head + pageOf(document, path, method, operation));
    const line = `- [${operation.summary ?? name}](${name}.md): \`${method.toUpperCase()} ${path}\``;
    listed.set(tag, [...(listed.get(tag) ?? []), line]);
  }
const groups = [...listed].map(([tag, lines]) => `## ${tag}\n\n${lines.join('\n')}`);
await writeFile(join(folder, 'index.md'), `# Requests of the gateway\n\n${groups.join('\n\n')}\n`);
