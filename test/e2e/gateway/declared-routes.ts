import type { INestApplicationContext } from '@nestjs/common';
import { RequestMethod } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { AuthRequired, type AuthRequirement } from '../../../src/accounts/auth.guard.js';
import { type Access, PortalAccess } from '../../../src/portal/portal.guard.js';

/** A route as its controller declares it. */
export interface DeclaredRoute {
  readonly method: string;
  /** With `:parameters`. */
  readonly path: string;
  readonly auth: AuthRequirement | undefined;
  /** Rights of the portal's own routes. */
  readonly access: Access | undefined;
}

/** Every route of every controller of the application, read from the decorators themselves. */
export function declaredRoutes(app: INestApplicationContext): DeclaredRoute[] {
  const reflector = new Reflector();
  const routes: DeclaredRoute[] = [];
  for (const module of app.get(ModulesContainer).values())
    for (const { metatype } of module.controllers.values()) {
      const prototype = metatype?.prototype as Record<string, unknown> | undefined;
      if (!metatype || !prototype) continue;
      const prefix = prefixOf(Reflect.getMetadata('path', metatype));
      for (const name of methodsOf(prototype)) {
        const handler = prototype[name];
        if (typeof handler !== 'function') continue;
        const path: unknown = Reflect.getMetadata('path', handler);
        if (typeof path !== 'string') continue;
        routes.push({
          method: RequestMethod[Number(Reflect.getMetadata('method', handler))] ?? '',
          path: `/${[prefix, path]
            .flatMap((part) => part.split('/'))
            .filter(Boolean)
            .join('/')}`,
          auth: reflector.getAllAndOverride(AuthRequired, [handler as () => void, metatype]),
          access: reflector.getAllAndOverride(PortalAccess, [handler as () => void, metatype]),
        });
      }
    }
  return routes;
}

/** Inherited ones too: the dashboard's controllers are made for each mount. */
function methodsOf(prototype: object): Set<string> {
  const names = new Set<string>();
  for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at) as object)
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') names.add(name);
  return names;
}

function prefixOf(path: unknown): string {
  return typeof path === 'string' ? path : '';
}
