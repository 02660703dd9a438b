/**
 * A filter of a list under a name. `GET api/views?page=` answers `Listed<SavedView>`: the person's own and
 * those that are shared with the account, by name. The pages of all accounts keep theirs in the browser.
 */
export interface SavedView extends KeptView {
  readonly id: string;
  /** Every member of the account sees it; admins alone save and delete it. */
  readonly shared: boolean;
}

export interface KeptView {
  readonly name: string;
  /** Query of the address of the list, such as `status=failed&age=24h`. */
  readonly query: string;
}

/**
 * `PUT api/views` saves a view in place of that of its name, and answers the {@link SavedView}; one that is
 * shared also replaces the person's own of that name. `DELETE api/views/:id` (204).
 */
export interface NewSavedView extends KeptView {
  /** First part of the address of the list, such as `messages`. */
  readonly page: string;
  readonly shared: boolean;
}

/**
 * `POST api/views/import` keeps what a browser kept, as views of the person; a name that the person has
 * already stays as it is, so that a repeated request changes nothing. It answers as `GET`.
 */
export interface ImportedViews {
  readonly page: string;
  readonly views: readonly KeptView[];
}
