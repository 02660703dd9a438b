import { PermanentFailure, UnroutableFailure } from '../../message/errors.js';
import type { MessageContent, TemplateContent } from '../../message/message.js';
import type {
  MediaContent,
  MediaSource,
  TemplateButton,
  TemplateHeader,
} from '../../message/content/whatsapp-content.js';
import type { Submission } from '../../ports/message-transport.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * The body of `POST /{phone number id}/messages`.
 * @throws UnroutableFailure for a content that WhatsApp does not carry
 * @see https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages
 */
export function messageBody({ id, channel, content, recipients }: Submission, name: string): Json {
  const [to] = recipients;
  if (to === undefined || recipients.length > 1)
    throw new PermanentFailure(
      'invalid_submission',
      'The WhatsApp Cloud API takes one recipient at a time',
    );
  const parts = channel === 'whatsapp' ? contentOf(content) : undefined;
  if (!parts)
    throw new UnroutableFailure(
      'unsupported_content',
      `The ${name} transport sends texts, templates and media on WhatsApp only`,
    );
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...(to.startsWith('platform:') ? { recipient: to.slice('platform:'.length) } : { to }),
    ...parts,
    // Each status repeats it, so that the first one settles a submission whose answer was lost.
    biz_opaque_callback_data: id,
  };
}

function contentOf(content: MessageContent): Json | undefined {
  switch (content.kind) {
    case 'text': {
      const { text } = content as Extract<MessageContent, { kind: 'text' }>;
      return { type: 'text', text: { body: text, preview_url: false } };
    }
    case 'template':
      return { type: 'template', template: templateOf(content as TemplateContent) };
    case 'media': {
      const { type, caption, filename, ...source } = content as MediaContent;
      const media = {
        ...mediaOf(source),
        ...(caption !== undefined && { caption }),
        ...(filename !== undefined && { filename }),
      };
      return { type, [type]: media };
    }
    default:
      return undefined;
  }
}

function templateOf(content: TemplateContent): Json {
  const { template, language, params, paramNames, header, buttons = [] } = content;
  const body = params.map((text, n) => {
    const name = paramNames?.[n];
    return { type: 'text', ...(name !== undefined && { parameter_name: name }), text };
  });
  const components = [
    ...(header ? [{ type: 'header', parameters: [headerOf(header)] }] : []),
    ...(body.length > 0 ? [{ type: 'body', parameters: body }] : []),
    ...buttons.map(buttonOf),
  ];
  return {
    name: template,
    language: { policy: 'deterministic', code: language },
    ...(components.length > 0 && { components }),
  };
}

function headerOf(header: TemplateHeader): Json {
  if (header.type === 'text') return { type: 'text', text: header.text };
  const { type, ...source } = header;
  const filename = 'filename' in source ? { filename: source.filename } : {};
  return { type, [type]: { ...mediaOf(source), ...filename } };
}

function buttonOf(button: TemplateButton): Json {
  return {
    type: 'button',
    sub_type: button.type,
    index: String(button.index),
    parameters: [parameterOf(button)],
  };
}

function parameterOf(button: TemplateButton): Json {
  switch (button.type) {
    case 'url':
      return { type: 'text', text: button.suffix };
    case 'quick_reply':
      return { type: 'payload', payload: button.payload };
    case 'copy_code':
      return { type: 'coupon_code', coupon_code: button.code };
  }
}

function mediaOf({ link, mediaId }: MediaSource): Json {
  return link === undefined ? { id: mediaId } : { link };
}
