/** Requests of a channel in the published interface, for the commands that the portal shows. */
export interface CurlForm {
  /** Variable with the secret. */
  readonly token: 'API_TOKEN' | 'API_KEY';
  /** `null`: a send needs more than the portal's form asks for. */
  readonly send: CurlSend | null;
  /** Path of the list of sends; `null`: there is none. */
  readonly list: string | null;
  /** Path of one message; `{message}` and `{batch}` stand for the ids. */
  readonly message: string;
  /** Path of a send; `{batch}` stands for its id. */
  readonly batch: string;
  readonly cancels?: true;
  readonly reschedules?: true;
}

export interface CurlSend {
  readonly path: string;
  /** Fields of the content, by their names in the request. @default all, with the same names */
  readonly fields?: Readonly<Record<string, string>>;
  /** Field of the kind of the content. @default none */
  readonly kind?: string;
  /** The request asks for callbacks by `delivery_report`. */
  readonly reports?: true;
  /** The request has one recipient, and neither a sender nor a time. */
  readonly toOne?: true;
}
