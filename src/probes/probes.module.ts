import { Module } from '@nestjs/common';
import { ProbeRunner } from './probe-runner.js';
import { ProbesController } from './probes.controller.js';
import { Probes } from './probes.service.js';

/** Sends and reads probes, without following them; also used by the command line. */
@Module({ providers: [Probes], exports: [Probes] })
export class ProbeStoreModule {}

/** Follows probes, and takes the calls of test phones. */
@Module({
  imports: [ProbeStoreModule],
  controllers: [ProbesController],
  providers: [ProbeRunner],
})
export class ProbesModule {}
