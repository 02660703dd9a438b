import { MessagingService } from '@dundun/messaging';
import type { OperatorCommand } from '../operator-command.js';

export function addCarriersCommand(carriers: OperatorCommand): void {
  carriers.runs(async (app) => {
    const providers = await app.get(MessagingService, { strict: false }).providers();
    const all = providers.reduce((sum, { rate }) => sum + rate, 0);
    return {
      carriers: providers.map((provider) => {
        const { name, channels, state, pauseReason, pauseDetail, pausedUntil } = provider;
        const { rateLimit, rate, inFlight, places } = provider;
        return {
          carrier: name,
          channels: channels ?? ['all'],
          health: state,
          reason: pauseReason,
          detail: pauseDetail,
          until: pausedUntil,
          limit: rateLimit && `${rateLimit.max} per ${rateLimit.per} ms`,
          rate: Math.round(rate * 10) / 10,
          share: all === 0 ? null : `${Math.round((100 * rate) / all)} %`,
          inFlight,
          binds: places && `${places.taken} of ${places.most}`,
        };
      }),
    };
  });
}
