import 'reflect-metadata';
import { pino } from 'pino';
import {
  type Environment,
  EnvironmentError,
  loadEnvironmentFile,
  readEnvironment,
} from './config/environment.js';
import { demoBanner } from './accounts/demo-account.js';
import { type Gateway, startGateway } from './gateway.js';
import { PinoLogger } from './http/pino.logger.js';

/** Longest duration of a stop, in milliseconds; afterwards the process exits. */
const STOP_WITHIN = 20_000;

function environmentOrExit(): Environment {
  try {
    loadEnvironmentFile();
    return readEnvironment(process.env);
  } catch (error) {
    return fail(error);
  }
}

/** Prints wrong settings to stderr; logs other errors without their own properties. */
function fail(error: unknown, logger?: PinoLogger): never {
  if (error instanceof EnvironmentError) process.stderr.write(`${error.message}\n`);
  else if (!logger) process.stderr.write(`${String(error)}\n`);
  else logger.fatal({ message: 'could not go on', err: error });
  process.exit(1);
}

/** Stops the gateway on the first signal, also during its start. */
function stopOn(signal: NodeJS.Signals, starting: Promise<Gateway>, logger: PinoLogger): void {
  process.once(signal, () => {
    logger.log({ message: 'stopping', signal });
    // A second signal, or a stop that exceeds its time, ends the process at once.
    process.once(signal, () => process.exit(1));
    setTimeout(() => {
      logger.fatal({ message: 'did not stop in time', ms: STOP_WITHIN });
      process.exit(1);
    }, STOP_WITHIN).unref();
    starting
      .then((gateway) => gateway.stop())
      .then(
        () => process.exit(0),
        (error: unknown) => fail(error, logger),
      );
  });
}

const environment = environmentOrExit();
const logger = new PinoLogger(environment.LOG_LEVEL, pino.destination({ fd: 1, sync: true }));
process.on('uncaughtException', (error) => fail(error, logger));
process.on('unhandledRejection', (error) => fail(error, logger));
const starting = startGateway(environment, logger);
for (const signal of ['SIGTERM', 'SIGINT'] as const) stopOn(signal, starting, logger);
try {
  const { demo, url } = await starting;
  if (demo) process.stdout.write(demoBanner(demo, url));
} catch (error) {
  fail(error, logger);
}
