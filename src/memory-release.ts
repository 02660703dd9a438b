import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Time between two looks, in milliseconds. */
const EVERY = 2_000;
/** Largest share of that time in which the event loop of an idle process works. */
const IDLE = 0.05;
/**
 * Idle looks in a row before a collection. After one, the next messages cost twice the CPU for about a
 * second, so that a short pause between messages is no reason for it.
 */
const IDLE_LOOKS = 10;
/** The same after large contents, which messages without attachments never leave. */
const LARGE_LOOKS = 2;
/** Growth that is worth a collection, in bytes. */
const WORTH = 32 * 2 ** 20;
/** The same of large objects and buffers: mails of 40 MB leave 15 to 25 MiB of them, and as much again around them. */
const LARGE_WORTH = 12 * 2 ** 20;
/** Before the first look after a collection: V8 frees buffers in the background. */
const UNSETTLED = { all: Infinity, large: Infinity };

/**
 * Returns memory to the system once large work is over. V8 collects old objects when the heap has grown to several
 * times its live size, which an idle process never reaches: after a batch of 100,000 it stayed at 460 MiB.
 */
@Injectable()
export class MemoryRelease implements OnApplicationBootstrap, OnApplicationShutdown {
  #timer: NodeJS.Timeout | undefined;
  #loop = performance.eventLoopUtilization();
  /** Looks since the event loop was busy. */
  #idle = 0;
  /** Least sizes since the last collection; before the first one, what the start has left is worth it. */
  #settled = { all: 0, large: sizes().large };

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.look(), EVERY).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Collects where the event loop has been idle for some looks, and the memory has grown. */
  look(): void {
    const before = this.#loop;
    this.#loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(this.#loop, before);
    const { all, large } = sizes();
    this.#settled = {
      all: Math.min(this.#settled.all, all),
      large: Math.min(this.#settled.large, large),
    };
    this.#idle = utilization > IDLE ? 0 : this.#idle + 1;
    const isLarge = this.#idle >= LARGE_LOOKS && large >= this.#settled.large + LARGE_WORTH;
    const isLong = this.#idle >= IDLE_LOOKS && all >= this.#settled.all + WORTH;
    if (!isLarge && !isLong) return;
    collect();
    this.#settled = UNSETTLED;
  }
}

/** Bytes of the heap and of what its objects hold outside of it, such as buffers; of large ones alone. */
function sizes(): { readonly all: number; readonly large: number } {
  const { heapTotal, external } = process.memoryUsage();
  let large = external;
  for (const { space_name: name, space_size: bytes } of getHeapSpaceStatistics())
    if (name.endsWith('large_object_space')) large += bytes;
  return { all: heapTotal + external, large };
}

/** A full collection that moves the live objects together, so that whole pages are free. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--compact-on-every-full-gc');
  (runInNewContext('gc') as () => void)();
  setFlagsFromString('--no-compact-on-every-full-gc');
}
