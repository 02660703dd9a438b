/**
 * Requests and answers of the portal's own API, below `portal/a/{account}/api/`; below `portal/api/`
 * they are of the account that the session started in. The dashboard's API (messages, batches,
 * contacts, lanes) is served at the same path and has its types in `@dundun/dashboard`.
 *
 * Times are ISO 8601 in UTC. Lists answer {@link Listed}; `?cursor=` is its `nextCursor`, `?limit=`
 * is 1 to 100 (default 50). A request other than GET sends `Content-Type: application/json`, also
 * with an empty body; a DELETE has no body. An error answers {@link PortalError}: 401
 * `unauthorized` without a session (show the sign-in page), 403 `insufficient_scope` for the wrong
 * role and where there is no account, 403 `account_disabled` while the account is suspended, 404 for
 * another account and its objects, 422 `invalid_field` with `fields`, 429 with `Retry-After` in
 * seconds.
 */

export * from './api/common.js';
export * from './api/session.js';
export * from './api/home.js';
export * from './api/saved-views.js';
export * from './api/settings.js';
export * from './api/account-settings.js';
export * from './api/message-callbacks.js';
export * from './api/sending.js';
export * from './api/email.js';
export * from './api/operators.js';
export * from './api/health.js';
export * from './api/requests.js';
export * from './api/orders.js';
export * from './api/insights.js';
export * from './api/alerts.js';
export * from './api/billing.js';
export * from './api/rates.js';
export * from './api/margins.js';
