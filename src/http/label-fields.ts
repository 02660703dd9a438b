import { Field, type FieldOptions } from './fields.js';

const TAG = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$', examples: ['welcome'] } as const;

/** Tags of a send; the library checks them. */
export function TagsOfSend(): PropertyDecorator {
  return Field({
    type: 'array',
    items: TAG,
    maxItems: 10,
    optional: true,
    description: 'Callbacks give them back.',
    examples: [['welcome']],
  });
}

/** Metadata of a send; the library checks it. */
export function MetadataOfSend(): PropertyDecorator {
  return Field({
    type: 'object',
    additionalProperties: { type: 'string' },
    optional: true,
    maxProperties: 20,
    description: 'Names of at most 64 characters, texts of at most 512. Callbacks give it back.',
    examples: [{ order: '1001' }],
  });
}

/** Tags in an answer or a callback. */
export function Tags(options: FieldOptions = {}): PropertyDecorator {
  return Field({
    type: 'array',
    items: { type: 'string' },
    description: 'Tags of the send, as long as its content is kept.',
    examples: [['welcome']],
    ...options,
  });
}

/** Metadata in an answer or a callback. */
export function Metadata(options: FieldOptions = {}): PropertyDecorator {
  return Field({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Metadata of the send, as long as its content is kept.',
    examples: [{ order: '1001' }],
    ...options,
  });
}
