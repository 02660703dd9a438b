import { Comment, CommentTag, Converter, ReflectionKind } from 'typedoc';

/** `messaging/src/providers/twilio`, the path by which TypeDoc names an entry, is `@dundun/messaging/twilio`. */
const nameOf = (path) =>
  path.replace(/^(\w+)\/src(?:\/(?:providers|engines))?(\/.*)?$/, '@dundun/$1$2');

/** The sections of the main entry's page, in their order, by the sources of their names. */
const SECTIONS = {
  'Module and options': /src\/messaging\.|ports\/(?:messaging-options|dispatch|option)|providers\//,
  SMS: /channels\/sms\//,
  WhatsApp: /channels\/whatsapp\/|message\/(?:whatsapp|templates)/,
  Email: /channels\/email\//,
  Voice: /channels\/voice\//,
  'Airtime and data': /channels\/vas\/|message\/vas/,
  'One-time codes': /channels\/verification\//,
  Notifications: /channels\/notification\//,
  'All channels': /channels\/|message\/(?:message|status|views)|store\//,
  Contacts: /contacts\/|message\/address/,
  'Events and listeners': /message\/events|ports\/listeners|message-status-handlers/,
  Policies: /policy/,
  Routes: /ports\/route/,
  Callbacks: /callback/,
  Errors: /message\/errors/,
};

/** A plugin of TypeDoc. */
export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module)) reflection.name = nameOf(reflection.name);
    if (reflection.parent?.name !== '@dundun/messaging') return;
    const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    const file = declaration?.getSourceFile().fileName.replace(/^.*\/libs\/messaging\//, '') ?? '';
    const found = Object.keys(SECTIONS).find((section) => SECTIONS[section].test(file));
    reflection.comment ??= new Comment();
    reflection.comment.blockTags.push(
      new CommentTag('@group', [{ kind: 'text', text: found ?? 'More' }]),
    );
  });
}
