import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  DASHBOARD_MOUNT,
  type DashboardMount,
  type DashboardRequest,
} from './dashboard.options.js';
import { DashboardError } from './dashboard.error.js';

/** The app's guard. */
@Injectable()
export class MountGuard implements CanActivate, OnModuleInit {
  #guard: CanActivate | undefined;

  constructor(
    @Inject(DASHBOARD_MOUNT) private readonly mount: DashboardMount,
    @Inject(ModuleRef) private readonly modules: ModuleRef,
  ) {}

  async onModuleInit(): Promise<void> {
    const { guard } = this.mount;
    if (typeof guard !== 'function') this.#guard = guard;
    else
      this.#guard = isProvided(this.modules, guard)
        ? this.modules.get<CanActivate>(guard, { strict: false })
        : await this.modules.create(guard);
  }

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    return this.#guard?.canActivate(context) ?? false;
  }
}

function isProvided(modules: ModuleRef, guard: Exclude<DashboardMount['guard'], CanActivate>) {
  try {
    modules.get(guard, { strict: false });
    return true;
  } catch {
    return false;
  }
}

/** Refuses changes that another site's page may have sent. */
@Injectable()
export class SameSiteGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context.getArgByIndex<DashboardRequest>(0);
    if (method === 'GET' || method === 'HEAD') return true;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new DashboardError(403, 'foreign_origin', 'Changes are accepted from these pages only');
    // A form of another site cannot send JSON.
    if (!/^application\/json\b/i.test(String(headers['content-type'] ?? '')))
      throw new DashboardError(415, 'unsupported_media_type', 'Send the body as application/json');
    return true;
  }
}
