import { duration, rateOrOff, required, size, wholeNumber } from './variable.js';

/** How much the gateway takes, from one request, one credential, one address and in all. */
export const LIMIT_VARIABLES = {
  MAX_RECIPIENTS: required({
    default: '100000',
    parse: wholeNumber(1, 1_000_000),
    description: 'Recipients one request may name.',
  }),
  MAX_PARTS: required({
    default: '10',
    parse: wholeNumber(1, 255),
    description: 'Parts one text may take.',
  }),
  BODY_LIMIT: required({
    default: '4MiB',
    parse: size(1 << 10, 64 << 20),
    description:
      'Size of one request’s body; without a credential in use 64 KiB, at the carrier’s callbacks 1 MiB at most. Forms `512KiB`, `4MiB`; `1KiB` to `64MiB`.',
  }),
  REQUEST_LIMIT: required({
    default: '10000/s',
    parse: rateOrOff,
    description:
      'Requests per credential and process, counted in fixed windows. Forms `400/s`, `600/m`, `10000/h`, or `off`.',
  }),
  MAX_PENDING_SENDS: required({
    default: '5000',
    parse: wholeNumber(1, 1_000_000),
    description:
      'Sends one process may hold that its database has not taken yet, a thousand recipients counted as one more; others are answered 503.',
  }),
  REQUEST_TIMEOUT: required({
    default: '30s',
    parse: duration(1_000, 600_000),
    description:
      'Most time a whole request may take to arrive; its headers a third of it. A connection on which nothing moves for four times as long is closed.',
  }),
  MAX_CONNECTIONS: required({
    default: '10000',
    parse: wholeNumber(1, 1_000_000),
    description: 'Connections one process holds; more are closed at once.',
  }),
  AUTH_FAILURE_LIMIT: required({
    default: '60/m',
    parse: rateOrOff,
    description:
      'Requests without a valid credential per address and process, in the same forms; more are answered 429. A valid credential always passes.',
  }),
} as const;
