import type { MessageContent } from '../../message/message.js';
import type { TraceContext } from '../../ports/tracing.js';

export interface StoredContent {
  readonly content: MessageContent;
  readonly trace?: TraceContext | undefined;
}

/** The JSON of a content with the trace context in it, so that no separate column is needed. */
export function writeContent({ content, trace }: StoredContent): string {
  return JSON.stringify(trace ? { ...content, trace } : content);
}

export function readContent(json: string): StoredContent {
  const content = JSON.parse(json) as MessageContent & { trace?: TraceContext };
  const { trace } = content;
  if (trace !== undefined) delete content.trace;
  return { content, trace };
}
