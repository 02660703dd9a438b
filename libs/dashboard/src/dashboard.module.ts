import {
  Controller,
  type DynamicModule,
  Module,
  type Provider,
  type Type,
  UseFilters,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiController } from './api.controller.js';
import { ApiCalls } from './api-call.js';
import { BatchesApi } from './batches.api.js';
import { ContactsApi } from './contacts.api.js';
import { FactsReader } from './facts.js';
import { LanesApi } from './lanes.api.js';
import { MessagesApi } from './messages.api.js';
import { MessagingParts } from './messaging-parts.js';
import { PhonesApi } from './phones.api.js';
import { SendingApi } from './sending.api.js';
import { StatsApi } from './stats.api.js';
import { ContextReader } from './context.js';
import {
  checkedMount,
  DASHBOARD_MOUNT,
  DASHBOARD_SETTINGS,
  type DashboardAsyncOptions,
  type DashboardMount,
  type DashboardOptions,
  type DashboardSettings,
  settingsOf,
} from './dashboard.options.js';
import { DashboardErrorFilter } from './dashboard.error.js';
import { MountGuard, SameSiteGuard } from './guards.js';
import { PageFiles } from './page-files.js';
import { AssetsController, PagesController } from './pages.controller.js';

/**
 * Serves the dashboard at `path`: pages, their assets, and the JSON API below `api/`. The app needs
 * the messaging module, on Express or Fastify.
 * @example
 * MessagingDashboardModule.forRoot({ path: 'admin/messaging', guard: AdminGuard });
 */
@Module({})
export class MessagingDashboardModule {
  /** @throws MessagingConfigError naming the option and the remedy, such as for a missing guard */
  static forRoot({ path, guard, imports, publicPages, files, ...settings }: DashboardOptions) {
    return moduleOf(
      { path, guard, imports, publicPages, files },
      { provide: DASHBOARD_SETTINGS, useFactory: () => settingsOf(settings) },
    );
  }

  /** @throws MessagingConfigError as `forRoot()` */
  static forRootAsync({ inject = [], useFactory, ...mount }: DashboardAsyncOptions): DynamicModule {
    return moduleOf(mount, {
      provide: DASHBOARD_SETTINGS,
      useFactory: async (...dependencies: readonly unknown[]) =>
        settingsOf((await useFactory(...dependencies)) as DashboardSettings),
      inject,
    });
  }
}

function moduleOf(given: DashboardMount, settings: Provider): DynamicModule {
  const mount = checkedMount(given);
  const { path, imports = [], publicPages = false } = mount;
  return {
    module: MessagingDashboardModule,
    imports,
    // The routes of the pages take any name and come last.
    controllers: [
      mounted(AssetsController, path, publicPages),
      mounted(ApiController, path, false),
      mounted(PagesController, path, publicPages),
    ],
    providers: [
      settings,
      { provide: DASHBOARD_MOUNT, useValue: mount },
      { provide: PageFiles, useFactory: () => new PageFiles(mount.files) },
      ApiCalls,
      BatchesApi,
      ContactsApi,
      ContextReader,
      DashboardErrorFilter,
      FactsReader,
      LanesApi,
      MessagesApi,
      MessagingParts,
      MountGuard,
      PhonesApi,
      SameSiteGuard,
      SendingApi,
      StatsApi,
    ],
  };
}

/** The controller at this path; a class of its own, because an app may mount several dashboards. */
function mounted(controller: Type<object>, path: string, isPublic: boolean): Type<object> {
  const own = { [controller.name]: class extends controller {} }[controller.name] as Type<object>;
  Controller({ path, version: VERSION_NEUTRAL })(own);
  UseFilters(DashboardErrorFilter)(own);
  UseGuards(SameSiteGuard, ...(isPublic ? [] : [MountGuard]))(own);
  return own;
}
