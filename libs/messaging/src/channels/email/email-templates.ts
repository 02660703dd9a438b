import {
  MessageValidationError,
  MessagingConfigError,
  MessagingError,
} from '../../message/errors.js';

/** Output of a template: `html`, `text` or both. */
export interface RenderedEmail {
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
}

/**
 * Renders one email, by React Email, MJML, Handlebars or any other library. It should make the same
 * email of the same props: a send that is repeated under its idempotency key renders again.
 */
export type RenderEmail<P> = (props: P) => RenderedEmail | Promise<RenderedEmail>;

/** A template with its name, made by {@link defineEmailTemplates}. */
export interface EmailTemplate<P = never> {
  readonly name: string;
  readonly render: RenderEmail<P>;
}

/** The template and its props, instead of subject, text and html. */
export interface FromTemplate<P> {
  readonly template: EmailTemplate<P>;
  readonly props: P;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the props of each template are its own
type Renderers = Readonly<Record<string, RenderEmail<any>>>;

export type EmailTemplates<R extends Renderers> = {
  readonly [Name in keyof R & string]: EmailTemplate<Parameters<R[Name]>[0]> & {
    readonly name: Name;
  };
};

/** A template failed, or made no email; nothing was stored. Its own error is the `cause`. */
export class EmailRenderError extends MessagingError {
  constructor(
    readonly template: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super('render_failed', `The email template ${template} ${problem}`, options);
  }
}

/**
 * Defines the app's email templates by name. The compiler checks the props of each send.
 * @throws MessagingConfigError naming the template
 * @example
 * export const templates = defineEmailTemplates({
 *   welcome: async ({ name }: { name: string }) => ({
 *     subject: `Welcome, ${name}`,
 *     html: await render(<Welcome name={name} />), // @react-email/render
 *   }),
 * });
 * await email.send({ from, to, template: templates.welcome, props: { name: 'Ada' } });
 */
export function defineEmailTemplates<const R extends Renderers>(renderers: R): EmailTemplates<R> {
  return Object.fromEntries(
    Object.entries(renderers).map(([name, render]) => {
      if (typeof render !== 'function')
        throw new MessagingConfigError(
          `templates.${name}: must be a function that returns { subject, html, text }`,
        );
      return [name, { name, render }];
    }),
  ) as unknown as EmailTemplates<R>;
}

const RENDERED = ['subject', 'html', 'text'] as const;

/**
 * The message with the subject and texts that its template makes.
 * @throws EmailRenderError
 * @throws MessageValidationError for no template, and for texts beside it
 */
export async function rendered<M extends FromTemplate<P>, P>(
  message: M,
): Promise<Omit<M, keyof FromTemplate<P>> & RenderedEmail> {
  const { template, props, ...rest } = message;
  const { name, render } = (template ?? {}) as Partial<EmailTemplate<P>>;
  if (typeof render !== 'function' || typeof name !== 'string')
    throw new MessageValidationError([
      { path: 'template', message: 'must be a template of defineEmailTemplates()' },
    ]);
  const given = RENDERED.filter((field) => field in rest);
  if (given.length > 0)
    throw new MessageValidationError(
      given.map((path) => ({ path, message: 'comes from the template; leave it out' })),
    );
  let made: unknown;
  try {
    made = await render(props);
  } catch (cause) {
    throw new EmailRenderError(name, 'failed; see the cause', { cause });
  }
  if (typeof made !== 'object' || made === null)
    throw new EmailRenderError(name, 'must return { subject, html, text }');
  const { subject, html, text } = made as RenderedEmail;
  return {
    ...rest,
    subject,
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
  };
}
