import { Injectable } from '@nestjs/common';

/** A kind of callback as the OpenAPI document has it. */
export interface CallbackKind {
  /** Such as `sms.delivery_report`. */
  readonly type: string;
  readonly summary: string;
  readonly description: string;
  /** A whole body. */
  readonly example: unknown;
}

/** The part of the OpenAPI document that has the callbacks. */
export interface CallbackDocument {
  readonly webhooks: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly summary: string;
          readonly description: string;
          readonly requestBody: {
            readonly content: { readonly 'application/json': { readonly example: unknown } };
          };
        };
      }
    >
  >;
}

/** Every kind of callback with an example, read from the OpenAPI document when it is first asked. */
@Injectable()
export class CallbackCatalogue {
  #read: (() => CallbackDocument) | undefined;
  #kinds: readonly CallbackKind[] | undefined;

  /** @param read makes the document of the running app */
  readFrom(read: () => CallbackDocument): void {
    this.#read = read;
  }

  get kinds(): readonly CallbackKind[] {
    if (!this.#read) throw new TypeError('this process serves no OpenAPI document');
    return (this.#kinds ??= kindsOf(this.#read()));
  }
}

function kindsOf({ webhooks }: CallbackDocument): CallbackKind[] {
  return Object.entries(webhooks).map(([type, { post }]) => ({
    type,
    summary: post.summary,
    description: post.description,
    example: post.requestBody.content['application/json'].example,
  }));
}
