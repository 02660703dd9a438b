import type { App } from './app.js';
import type { AppEvent, Send } from './processes/protocol.js';

/** Tries of a refused caller under the same key. */
const TRIES = 20;

/** The callers: their sends and the answers. */
export class Callers {
  /** Batch id by send key, from the answers. */
  readonly accepted = new Map<string, string>();
  /** Keys in the order in which their sends resolved. */
  readonly order: string[] = [];
  /** Errors of refused sends. */
  readonly refused: string[] = [];
  readonly #refusals = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();
  /** Sends by the process they were handed to, until it has answered. */
  readonly #handed = new Map<App, Map<string, Send>>();

  /** Resolves at the first answer. */
  answered({ key }: Send): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(key, resolve));
  }

  hand(send: Send, app: App): void {
    const handed = this.#handed.get(app) ?? new Map<string, Send>();
    this.#handed.set(app, handed.set(send.key, send));
    app.tell({ command: 'send', sends: [send] });
  }

  /** Sends without an answer because their process died. */
  unanswered(app: App): Send[] {
    const handed = [...(this.#handed.get(app)?.values() ?? [])];
    this.#handed.delete(app);
    return handed;
  }

  hear(event: AppEvent, from: App): void {
    if (event.event !== 'accepted' && event.event !== 'refused') return;
    const { key } = event;
    const send = this.#handed.get(from)?.get(key);
    this.#handed.get(from)?.delete(key);
    if (event.event === 'refused') {
      this.refused.push(`${key}: ${event.error}`);
      const tries = (this.#refusals.get(key) ?? 0) + 1;
      this.#refusals.set(key, tries);
      if (send && tries < TRIES) return this.hand(send, from);
    } else {
      this.accepted.set(event.key, event.id);
      this.order.push(event.key);
    }
    this.#waiting.get(event.key)?.();
    this.#waiting.delete(event.key);
  }
}
