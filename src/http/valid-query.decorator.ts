import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { HttpRequest } from './http-message.js';
import { validated } from './validated.js';

/** The query as a DTO, its class-validator rules held: `@ValidQuery(ListQuery) query: ListQuery`. */
export const ValidQuery = createParamDecorator(
  (dto: new () => object, context: ExecutionContext): object =>
    validated(dto, context.switchToHttp().getRequest<HttpRequest>().query as object),
);
