type Schema = Record<string, unknown>;

interface Document {
  readonly components: { readonly schemas: Record<string, Schema> };
}

/**
 * The schemas of Meta's document as a validator needs them. The document is Meta's own text, and
 * differs from its service where its reference pages and examples say otherwise:
 *
 * - each kind of message joins common fields with an object that forbids all others (`allOf` with
 *   `additionalProperties: false`), which nothing satisfies;
 * - `to` is required, also of a message that names a `recipient` (business-scoped user ids);
 * - `biz_opaque_callback_data` is missing;
 * - the pattern of a button's `index` is a list of footnotes;
 * - buttons that copy a code (`copy_code`, `coupon_code`) are missing;
 * - components and parameters name their kind by a `discriminator` that points at a schema which
 *   extends the one with the discriminator.
 */
export function corrected({ components }: Document): Document {
  const schemas = structuredClone(components.schemas);
  const of = (name: string): Schema & { properties: Record<string, Schema>; required: string[] } =>
    schemas[name] as never;
  for (const schema of Object.values(schemas)) {
    const { allOf } = schema as { allOf?: Schema[] };
    if (!allOf?.some((part) => part['additionalProperties'] === false)) continue;
    for (const part of allOf) delete part['additionalProperties'];
    schema['unevaluatedProperties'] = false;
  }
  const base = of('BaseMessageProperties');
  base.required = base.required.filter((name) => name !== 'to');
  base['anyOf'] = [{ required: ['to'] }, { required: ['recipient'] }];
  base.properties['recipient'] = { type: 'string' };
  base.properties['biz_opaque_callback_data'] = { type: 'string', maxLength: 512 };
  of('TemplateComponent').properties['index'] = { type: 'string', pattern: '^[0-9]$' };
  allow(of('TemplateComponent').properties['sub_type'], 'copy_code');
  allow(of('ButtonParameterObject').properties['type'], 'coupon_code');
  schemas['ButtonCodeParameter'] = {
    allOf: [
      { $ref: '#/components/schemas/ButtonParameterObject' },
      {
        type: 'object',
        required: ['coupon_code'],
        properties: { type: { enum: ['coupon_code'] }, coupon_code: { type: 'string' } },
      },
    ],
  };
  const button = of('ButtonComponent')['allOf'] as (typeof base)[];
  button[1]!.properties['index'] = { type: 'string', pattern: '^[0-9]$' };
  allow(button[1]!.properties['sub_type'], 'copy_code');
  for (const name of ['TemplateComponent', 'ParameterObject', 'ButtonParameterObject']) {
    const { discriminator } = of(name) as { discriminator?: { mapping: Record<string, string> } };
    const kinds = Object.values(discriminator?.mapping ?? {});
    if (name === 'ButtonParameterObject') kinds.push('#/components/schemas/ButtonCodeParameter');
    schemas[`Any${name}`] = { anyOf: kinds.map(($ref) => ({ $ref })) };
    delete of(name)['discriminator'];
  }
  pointItems(schemas);
  return { components: { schemas } };
}

function allow(property: Schema | undefined, value: string): void {
  const { enum: values } = property as { readonly enum: string[] };
  values.push(value);
}

/** Lists take each kind of their entries; a kind itself extends the common fields. */
function pointItems(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { items } = value as { items?: { $ref?: string } };
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(items?.$ref ?? '') ?? [];
  if (
    items &&
    name &&
    ['TemplateComponent', 'ParameterObject', 'ButtonParameterObject'].includes(name)
  )
    items.$ref = `#/components/schemas/Any${name}`;
  for (const inner of Object.values(value)) pointItems(inner);
}
