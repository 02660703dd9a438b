import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { ErrorResponseName } from './error.schemas.js';
import type { JsonSchema } from './schema.js';

/** What OpenAPI shall say of one route; security and the common errors are added from the code. */
export interface OperationDocument {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Query parameters by name; none is required. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /** Request headers by name; none is required. */
  readonly headers?: Readonly<Record<string, JsonSchema>>;
  readonly body?: {
    readonly schema: string;
    readonly optional?: true;
    readonly examples: Readonly<Record<string, unknown>>;
  };
  /** Success. */
  readonly answer: {
    readonly status: number;
    readonly description: string;
    /** Name of the component; without one there is no body. */
    readonly schema?: string;
    readonly example?: unknown;
    readonly headers?: Readonly<Record<string, JsonSchema>>;
  };
  /** Errors beyond the common ones, by status. */
  readonly errors?: readonly (ErrorResponseName | 'NotReady')[];
}

/** Under which an operation's document travels through the scan; it is not in the result. */
export const OPERATION_KEY = 'x-operation';

/**
 * Documents a route.
 *
 * @example
 * @Documented({ operationId: 'readSms', summary: 'Read a batch', tag: 'SMS', answer: {…} })
 */
export function Documented(operation: OperationDocument): MethodDecorator {
  return applyDecorators(ApiExtension(OPERATION_KEY, operation));
}
