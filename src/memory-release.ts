import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time between two looks, in milliseconds. */
const EVERY = 10_000;
/** Largest share of that time in which the event loop of an idle process works. */
const IDLE = 0.05;
/** Growth of the heap that is worth a collection, in bytes. */
const WORTH = 64 * 2 ** 20;

/**
 * Returns memory to the system once large work is over. V8 collects old objects when the heap has grown to several
 * times its live size, which an idle process never reaches: after a batch of 100,000 it stayed at 460 MiB.
 */
@Injectable()
export class MemoryRelease implements OnApplicationBootstrap, OnApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;
  #loop = performance.eventLoopUtilization();
  /** Size of the heap after the last collection. */
  #settled = process.memoryUsage().heapTotal;

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.look(), EVERY).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Collects where the event loop has been idle since the last look, and the heap has grown. */
  look(): void {
    const before = this.#loop;
    this.#loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(this.#loop, before);
    if (utilization > IDLE || process.memoryUsage().heapTotal < this.#settled + WORTH) return;
    collect();
    this.#settled = process.memoryUsage().heapTotal;
  }
}

/** A full collection that moves the live objects together, so that whole pages are free. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--compact-on-every-full-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-compact-on-every-full-gc');
}
