import { applyDecorators, Catch, Controller, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { ApiError } from '../http/api-error.js';
import { ApiExceptionFilter } from '../http/error-mapping.js';
import type { HttpRequest } from '../http/http-message.js';
import type { PortalError } from './portal-api.js';
import { isPortalRoute, PORTAL_PATH } from './portal-request.js';
import { PortalGuard } from './portal.guard.js';

/** A controller of the portal's API. Its routes need `@PortalAccess()`, and are in no OpenAPI document. */
export function PortalController(path: string): ClassDecorator {
  return applyDecorators(
    Controller(`${PORTAL_PATH}/api/${path}`),
    UseGuards(PortalGuard),
    ApiExcludeController(),
  );
}

/** As the filter of the gateway; errors of the portal's API are `{ "error": { code, message, fields? } }`. */
@Catch()
export class PortalErrorFilter extends ApiExceptionFilter {
  protected override bodyOf(error: ApiError, request: HttpRequest): object {
    if (!isPortalRoute(request.routeOptions.url, { api: true })) return error.body;
    const { code, message, details } = error;
    const body: PortalError = { error: { code, message, ...(details && { fields: details }) } };
    return body;
  }
}
