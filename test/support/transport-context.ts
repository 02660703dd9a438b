import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { registryOf } from '../../libs/messaging/src/channels/built-in-channels.js';
import { systemClock } from '../../libs/messaging/src/ports/clock.js';
import type { TransportContext } from '../../libs/messaging/src/ports/message-transport.js';

export function transportContext(changes: Partial<TransportContext> = {}): TransportContext {
  return { channels: registryOf(), clock: systemClock, ...changes };
}

/** The ways of a request through the HTTP client of the providers. */
export const HTTP_WAYS: readonly [string, () => HttpService | undefined][] = [
  ['by undici', () => undefined],
  ['by the HttpService of the app', () => new HttpService(axios.create())],
];
