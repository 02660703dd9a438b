import 'reflect-metadata';
import { CARRIERS_OF_CHANNELS } from './channels/index.js';
import { EnvironmentError, loadEnvironmentFile, readEnvironment } from './config/environment.js';
import { demoBanner, pagesOf } from './accounts/demo-account.js';
import { type Gateway, startGateway } from './gateway.js';
import { isReadByPerson, logDestination } from './http/development-log.js';
import { PinoLogger } from './http/pino.logger.js';
import { StalledStartError } from './start-progress.js';

/** Longest duration of a stop, in milliseconds; afterwards the process exits. */
const STOP_WITHIN = 20_000;

let logger: PinoLogger | undefined;

/** Logs errors, rejections included, without their own properties. */
process.on('uncaughtException', (error) => {
  if (error instanceof EnvironmentError || error instanceof StalledStartError)
    process.stderr.write(`${error.message}\n`);
  else if (!logger) process.stderr.write(`${String(error)}\n`);
  else logger.fatal({ message: 'could not go on', err: error });
  process.exit(1);
});

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
    void starting.then((gateway) => gateway.stop()).then(() => process.exit(0));
  });
}

loadEnvironmentFile();
const environment = readEnvironment(process.env, CARRIERS_OF_CHANNELS);
logger = new PinoLogger(environment.LOG_LEVEL, await logDestination(environment));
const starting = startGateway(environment, logger);
for (const signal of ['SIGTERM', 'SIGINT'] as const) stopOn(signal, starting, logger);
const { demo, url } = await starting;
const pages = pagesOf(url, environment);
if (demo) process.stdout.write(demoBanner(demo, url, pages));
else if (isReadByPerson(environment) && environment.ROLE !== 'worker')
  process.stdout.write(`\n${pages}\n`);
