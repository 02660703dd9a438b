import { ApiSchema } from '@nestjs/swagger';
import {
  API_ERRORS,
  ApiError,
  type ApiErrorCode,
  ERROR_RESPONSES,
  type ErrorResponse,
} from './api-error.js';
import { Choice, Field, Text } from './fields.js';
import type { JsonSchema } from './validation.js';

@ApiSchema({ name: 'FieldError' })
class FieldErrorDetail {
  @Text({ description: 'The field, such as `to[3]`.', examples: ['to[3]'] })
  readonly path!: string;

  @Text({ minLength: 1, examples: ['must be 7 to 15 digits'] }) readonly message!: string;
}

const TYPES = new Set(Object.values(ERROR_RESPONSES).map(([, type]): string => type));

class ErrorDetail {
  @Choice([...TYPES, 'policy_error'], { description: 'Class of the error, one per status.' })
  readonly type!: string;

  @Choice(Object.keys(API_ERRORS), {
    description:
      'The code that programs act on. docs/errors.md has the reason and the remedy of each.',
  })
  readonly code!: ApiErrorCode;

  @Text({ minLength: 1, description: 'A text for people, with the remedy.' })
  readonly message!: string;

  @Field({
    type: [FieldErrorDetail],
    optional: true,
    description: 'The wrong fields, where there are any.',
  })
  readonly details?: readonly FieldErrorDetail[];
}

@ApiSchema({ name: 'Error' })
export class ErrorAnswer {
  @Field({ type: ErrorDetail }) readonly error!: ErrorDetail;
}

/** The error responses as components of the OpenAPI document, each with an example of its codes. */
export function errorResponseComponents(): Record<string, JsonSchema> {
  // Another method of a documented path is no operation.
  const { MethodNotAllowed: _, ...responses } = ERROR_RESPONSES;
  return Object.fromEntries(
    Object.entries<ErrorResponse>(responses).map(([name, [, , description, retryAfter]]) => [
      name,
      {
        description,
        headers: {
          'x-request-id': { $ref: '#/components/headers/RequestId' },
          ...(retryAfter && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
        },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            examples: examplesOf(name),
          },
        },
      },
    ]),
  );
}

function examplesOf(response: string): Record<string, unknown> {
  const codes = (Object.keys(API_ERRORS) as ApiErrorCode[]).filter(
    (code) => API_ERRORS[code][0] === response,
  );
  return Object.fromEntries(codes.map((code) => [code, { value: new ApiError(code).body }]));
}
