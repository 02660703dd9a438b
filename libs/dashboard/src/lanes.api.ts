import type { LaneHealth } from '@dundun/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { LaneItem, LanesAnswer, ProvidersAnswer } from './api.js';
import type { ApiCall } from './api-call.js';
import type { AuditManager } from './dashboard.options.js';
import { unknownId } from './dashboard.error.js';
import { MessagingParts } from './messaging-parts.js';
import { iso } from './query.js';
import { holdOf, reasonOf } from './words.js';

/** Lanes and providers of the whole app. */
@Injectable()
export class LanesApi {
  constructor(@Inject(MessagingParts) private readonly parts: MessagingParts) {}

  async lanes(call: ApiCall): Promise<LanesAnswer> {
    call.require('operate');
    const now = new Date(this.parts.clock.now());
    return { data: (await this.parts.messaging.lanes()).map((lane) => itemOf(lane, now)) };
  }

  async resume(call: ApiCall, lane: string): Promise<LanesAnswer> {
    call.require('operate');
    call.require('act');
    const entry = { action: 'lane.resumed', tenant: null, subject: lane } as const;
    const also = (manager: AuditManager) => call.audit(entry, manager);
    if (lane.length > 255 || !(await this.parts.operations.resumeLane(lane, { also })))
      throw unknownId('lane');
    return this.lanes(call);
  }

  async providers(call: ApiCall): Promise<ProvidersAnswer> {
    call.require('operate');
    const { messaging, simulators } = this.parts;
    const paused = (await messaging.lanes()).filter(({ pauseReason }) => pauseReason !== null);
    return {
      data: (await messaging.providers()).map((provider) => {
        const lanes = paused.filter(({ pauseProvider }) => pauseProvider === provider.name);
        const reason = lanes[0]?.pauseReason ?? null;
        return {
          name: provider.name,
          simulator: simulators.has(provider.name),
          channels: provider.channels,
          rateAllowed: provider.rateLimit,
          rateNow: provider.rate,
          inFlight: provider.inFlight,
          connections: provider.connections,
          places: provider.places,
          pausedLanes: lanes.map(({ lane }) => lane),
          pause: reason === null ? null : reasonOf(reason, provider.name).title,
        };
      }),
    };
  }
}

function itemOf(health: LaneHealth, now: Date): LaneItem {
  const { lane, pauseProvider, pauseReason, pausedUntil, hold, doubt, waiting, leased } = health;
  const isPaused = pauseReason !== null && pausedUntil !== null && pausedUntil > now;
  const state = hold ? 'held' : isPaused ? 'paused' : leased ? 'working' : 'waiting';
  return {
    lane,
    state,
    waiting: Math.max(0, Math.round(waiting)),
    pause:
      pauseReason === null
        ? null
        : {
            provider: pauseProvider,
            reason: pauseReason,
            ...reasonOf(pauseReason, pauseProvider),
            until: iso(pausedUntil),
          },
    hold: hold && { reason: hold.reason, ...holdOf(hold.reason), since: iso(hold.since) },
    doubt: doubt && {
      submissions: doubt.submissions,
      since: iso(doubt.since),
      reason: doubt.errorCode,
      title: reasonOf(doubt.errorCode, doubt.provider).title,
    },
  };
}
