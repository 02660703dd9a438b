import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { registryOf } from '../../libs/messaging/src/channels/built-in-channels.js';
import { systemClock } from '../../libs/messaging/src/ports/clock.js';
import type { TransportContext } from '../../libs/messaging/src/ports/message-transport.js';

export function transportContext(changes: Partial<TransportContext> = {}): TransportContext {
  const http = new HttpService(axios.create());
  return { channels: registryOf(), http, clock: systemClock, ...changes };
}

function interceptedHttpService(): HttpService {
  const httpService = new HttpService(axios.create());
  httpService.axiosRef.interceptors.request.use((config) => config);
  return httpService;
}

/** The ways of a request through the HTTP client of the providers. */
export const HTTP_WAYS: readonly [string, () => HttpService][] = [
  ['straight to undici', () => new HttpService(axios.create())],
  ['through the interceptors', interceptedHttpService],
];
