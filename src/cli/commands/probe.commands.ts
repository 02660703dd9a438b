import { setTimeout as wait } from 'node:timers/promises';
import { type LookedProbe, Probes } from '../../probes/probes.service.js';
import { auditOf } from '../operator-gateway.js';
import type { OperatorCommand } from '../operator-command.js';

/** Milliseconds between two looks. */
const LOOK_EVERY = 500;

const LOST: LookedProbe = { state: 'missing', status: 'unknown', after: null };

export function addProbeCommand(probe: OperatorCommand): void {
  probe
    .option('--carrier <name>', 'through one carrier; through each that carries SMS without it')
    .runs(async (app, { carrier }: { readonly carrier?: string }) => {
      const probes = app.get(Probes, { strict: false });
      const sent = await probes.send(
        carrier,
        undefined,
        auditOf(app, null, 'probes.sent', carrier ?? 'all'),
      );
      const ids = sent.map(({ id }) => id);
      let looked = await probes.look(ids);
      while ([...looked.values()].some(({ state }) => state === 'waiting')) {
        await wait(LOOK_EVERY);
        await probes.follow();
        looked = await probes.look(ids);
      }
      const results = sent.map(({ id, ...one }) => {
        const { state, status, after } = looked.get(id) ?? LOST;
        return { ...one, state, reported: status, seconds: after === null ? null : after / 1_000 };
      });
      if (results.some(({ state }) => state !== 'arrived')) process.exitCode = 1;
      return { probes: results };
    });
}
