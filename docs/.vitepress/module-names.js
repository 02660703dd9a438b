import { Converter, ReflectionKind } from 'typedoc';

/** The entries of the packages by the paths that TypeDoc names them by. */
const NAMES = {
  'messaging/src': '@dundun/messaging',
  'messaging/src/engines/bullmq': '@dundun/messaging/bullmq',
  'messaging/src/providers/smtp': '@dundun/messaging/smtp',
  'messaging/src/queue': '@dundun/messaging/queue',
  'messaging/src/terminus': '@dundun/messaging/terminus',
  'messaging/src/testing': '@dundun/messaging/testing',
  'dashboard/src': '@dundun/dashboard',
  'smpp/src': '@dundun/smpp',
};

/** A plugin of TypeDoc. */
export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module))
      reflection.name = NAMES[reflection.name] ?? reflection.name;
  });
}
