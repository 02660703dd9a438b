import { ApiSchema } from '@nestjs/swagger';
import {
  API_ERRORS,
  ApiError,
  type ApiErrorCode,
  type ErrorBody,
  ERROR_RESPONSES,
  type ErrorResponse,
  isApiErrorCode,
} from './api-error.js';
import { Field, type JsonSchema } from './fields.js';

@ApiSchema({ name: 'FieldError' })
export class FieldErrorDetail {
  @Field({ type: 'string', description: 'The field, such as `to[3]`.', examples: ['to[3]'] })
  readonly path!: string;

  @Field({ type: 'string', minLength: 1, examples: ['must be 7 to 15 digits'] })
  readonly message!: string;
}

export class ErrorDetail {
  @Field({
    type: 'string',
    enum: [...new Set(Object.values(ERROR_RESPONSES).map(([, type]) => type)), 'policy_error'],
    description: 'Class of the error, one per status.',
  })
  readonly type!: string;

  @Field({
    type: 'string',
    enum: Object.keys(API_ERRORS),
    description: 'The code that programs act on.',
  })
  readonly code!: ApiErrorCode;

  @Field({ type: 'string', minLength: 1, description: 'A text for people, with the remedy.' })
  readonly message!: string;

  @Field({
    type: [FieldErrorDetail],
    optional: true,
    description: 'The wrong fields, where there are any.',
  })
  readonly details?: readonly FieldErrorDetail[];
}

@ApiSchema({ name: 'Error' })
export class ErrorAnswer implements ErrorBody {
  @Field({ type: ErrorDetail })
  readonly error!: ErrorDetail;
}

export function errorResponseComponents(): Record<string, JsonSchema> {
  const codes = Object.keys(API_ERRORS).filter(isApiErrorCode);
  const component = ([name, [, , description, retryAfter]]: [string, ErrorResponse]) => {
    const own = codes.filter((code) => API_ERRORS[code][0] === name);
    const examples = own.map((code) => [code, { value: new ApiError(code).body }]);
    const content = {
      schema: { $ref: '#/components/schemas/Error' },
      examples: Object.fromEntries(examples) as Record<string, unknown>,
    };
    const headers = {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      ...(retryAfter && { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }),
    };
    return [name, { description, headers, content: { 'application/json': content } }];
  };
  // Another method of a documented path is no operation.
  const { MethodNotAllowed: _, ...responses } = ERROR_RESPONSES;
  return Object.fromEntries(Object.entries(responses).map(component)) as Record<string, JsonSchema>;
}
