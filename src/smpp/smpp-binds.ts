import type { BoundSession, SmppSession } from '@dundun/smpp';
import { Injectable } from '@nestjs/common';
import type { SmppPrincipal } from './smpp-credentials.service.js';

/** A bound session and the pair that it bound with. */
export interface SmppBind {
  readonly session: SmppSession;
  readonly principal: SmppPrincipal;
}

@Injectable()
export class SmppBinds {
  readonly #binds = new Map<BoundSession, SmppBind>();
  #onReceiver: (systemId: string) => void = () => undefined;

  add(session: SmppSession, principal: SmppPrincipal): void {
    this.#binds.set(session, { session, principal });
    session.once('close', () => this.#binds.delete(session));
    if (session.mode !== 'transmitter') this.#onReceiver(principal.systemId);
  }

  /** @param told of each new receiver and transceiver */
  onReceiver(told: (systemId: string) => void): void {
    this.#onReceiver = told;
  }

  get all(): readonly SmppBind[] {
    return [...this.#binds.values()];
  }

  of(systemId: string): readonly SmppBind[] {
    return this.all.filter(({ principal }) => principal.systemId === systemId);
  }

  /** `undefined`: the bind was ended, and its last requests are refused. */
  principalOf(session: BoundSession): SmppPrincipal | undefined {
    return this.#binds.get(session)?.principal;
  }

  /** Takes no more of its requests. */
  delete(session: BoundSession): void {
    this.#binds.delete(session);
  }

  /** Sessions that take receipts and inbound messages. */
  receivers(systemId: string): readonly SmppSession[] {
    return this.of(systemId)
      .map(({ session }) => session)
      .filter(({ mode, isBound }) => isBound && mode !== 'transmitter');
  }

  /** Names of the pairs with a session that takes receipts and inbound messages. */
  get receiving(): ReadonlySet<string> {
    const ids = this.all.map(({ principal }) => principal.systemId);
    return new Set(ids.filter((systemId) => this.receivers(systemId).length > 0));
  }
}
