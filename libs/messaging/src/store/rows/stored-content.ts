import type { MessageContent, SecretContent } from '../../message/message.js';
import type { BatchLabels } from '../../message/labels.js';
import type { TraceContext } from '../../ports/tracing.js';

export interface StoredContent {
  readonly content: MessageContent;
  readonly labels?: BatchLabels | undefined;
  readonly trace?: TraceContext | undefined;
  /** The store has names or variables of the recipients. */
  readonly hasPersonal?: boolean | undefined;
}

/** The content as views show it: not that of a message with a code. */
export function shownContent(content: MessageContent): MessageContent | null {
  return (content as SecretContent).secret ? null : content;
}

type StoredJson = MessageContent & {
  trace?: TraceContext;
  $labels?: BatchLabels;
  $personal?: boolean;
};

/** The JSON of a content with the other values in it, so that they need no columns. */
export function writeContent({ content, trace, labels, hasPersonal }: StoredContent): string {
  if (!trace && !labels && !hasPersonal) return JSON.stringify(content);
  return JSON.stringify({
    ...content,
    trace,
    $labels: labels,
    ...(hasPersonal && { $personal: true }),
  });
}

export function readContent(json: string): StoredContent {
  const content = JSON.parse(json) as StoredJson;
  const { trace, $labels, $personal } = content;
  if (trace !== undefined) delete content.trace;
  if ($labels !== undefined) delete content.$labels;
  if ($personal !== undefined) delete content.$personal;
  return { content, trace, labels: $labels, hasPersonal: $personal };
}
