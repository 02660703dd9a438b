import { ConsoleLogger, Logger } from '@nestjs/common';
import 'reflect-metadata';

// Suites of a worker share Nest: each begins with its logger as Nest loads it.
Logger.overrideLogger(new ConsoleLogger());
Logger.overrideLogger(['log', 'error', 'warn', 'debug', 'verbose', 'fatal']);
