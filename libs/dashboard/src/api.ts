/**
 * Requests and answers of the dashboard's JSON API, shared by the server and the pages. The paths
 * are relative to the option `path`. A refused request has an {@link ErrorAnswer}: 403 `forbidden`
 * without the right, 404 `not_found` for an unknown id or one of a tenant outside `access`, 409 where
 * the state does not allow it, 422 `invalid_field` with `fields`, or the code of the policy that
 * refused the send. What the guard refuses has the app's own form. A request other than GET sends
 * `Content-Type: application/json`, also with an empty object.
 */

export type * from './api/common.js';
export type * from './api/context.js';
export type * from './api/messages.js';
export type * from './api/sending.js';
export type * from './api/batches.js';
export type * from './api/stats.js';
export type * from './api/lanes.js';
export type * from './api/contacts.js';
export type * from './api/phones.js';
