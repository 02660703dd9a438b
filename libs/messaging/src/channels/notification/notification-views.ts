import type {
  NotificationStore,
  SeenMessage,
  StoredNotification,
  StoredStep,
} from './notification-store.js';
import type { NotificationStep, NotificationView } from './notification.js';

/** @param seen the messages of its steps */
export function viewOf(
  row: StoredNotification,
  seen: ReadonlyMap<string, SeenMessage>,
  store: Pick<NotificationStore, 'stateOfStatus'>,
): NotificationView {
  const steps = row.steps.map((step) => stepView(step, row, seen));
  const isReached = ({ status }: NotificationStep) => store.stateOfStatus(status) === 'reached';
  return {
    id: row.id,
    status: row.status,
    steps,
    deliveredBy: steps.filter(isReached).map(({ channel }) => channel),
    createdAt: new Date(row.createdAt),
    endedAt: row.endedAt === null ? null : new Date(row.endedAt),
  };
}

function stepView(
  { channel, batch, at, denied, reason, status, code }: StoredStep,
  { plan }: StoredNotification,
  seen: ReadonlyMap<string, SeenMessage>,
): NotificationStep {
  const message = batch === undefined ? undefined : seen.get(batch);
  const notBegun = plan ? 'waiting' : 'unused';
  const known = denied ? 'denied' : (message?.status ?? status ?? 'unknown');
  return {
    channel,
    status: at === undefined ? notBegun : known,
    messageId: batch === undefined ? null : `${batch}-0`,
    errorCode: message?.code ?? code ?? null,
    startedAt: at === undefined ? null : new Date(at),
    reason: reason ?? null,
  };
}
