import {
  type ChannelDefinition,
  ChannelRegistry,
  MESSAGE_TRANSPORTS,
} from '@dundun/messaging/ports';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { ChannelInfo, ContextAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import { DASHBOARD_SETTINGS, type DashboardState } from './dashboard.options.js';

/** Most recipients of a send, where the channel does not say. */
export const MAX_RECIPIENTS = 100_000;

/** The parts of the app's messaging module, which need not be global. */
@Injectable()
export class ContextReader implements OnModuleInit {
  #channels: readonly ChannelInfo[] = [];
  #simulator = false;

  constructor(
    @Inject(ModuleRef) private readonly modules: ModuleRef,
    @Inject(DASHBOARD_SETTINGS) private readonly settings: DashboardState,
  ) {}

  onModuleInit(): void {
    const registry = this.modules.get(ChannelRegistry, { strict: false });
    this.#channels = registry.all.map((definition) => channelInfo(registry, definition));
    const transports = this.modules.get(MESSAGE_TRANSPORTS, { strict: false });
    this.#simulator = [...transports.values()].some(({ name }) => name === 'simulator');
  }

  get simulator(): boolean {
    return this.#simulator;
  }

  answer({ access: { by: _by, ...access } }: ApiCall): ContextAnswer {
    const { title, environment, live, pollInterval } = this.settings;
    return {
      title,
      environment,
      ...access,
      channels: this.#channels,
      simulator: this.#simulator,
      live,
      pollInterval,
    };
  }
}

function channelInfo(registry: ChannelRegistry, definition: ChannelDefinition): ChannelInfo {
  const { name, title = name, addressKinds, events = [], content, maxRecipients } = definition;
  return {
    name,
    title,
    statuses: registry.statusesOf(name).map(([status, { rank, terminal, failed, reported }]) => ({
      name: status,
      rank,
      terminal: terminal ?? false,
      failed: failed ?? false,
      reported: reported ?? false,
    })),
    events,
    addressKinds,
    contentKinds: Object.keys(content),
    maxRecipients: maxRecipients ?? MAX_RECIPIENTS,
    groups: definition.groups !== undefined,
    serviceWindow: definition.consent?.serviceWindow ?? false,
    sendable: definition.irrevocable === undefined,
  };
}
