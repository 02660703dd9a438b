import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { requestOf } from './http-message.js';
import { validated } from './validated.js';

/** The query as a DTO, its class-validator rules held: `@ValidQuery(ListQuery) query: ListQuery`. */
export const ValidQuery = createParamDecorator(
  (dto: new () => object, context: ExecutionContext): object =>
    validated(dto, requestOf(context).query as object, (known) =>
      plainToInstance(dto, known, { exposeDefaultValues: true }),
    ),
);
