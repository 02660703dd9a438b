import 'reflect-metadata';

export type * from './api.js';
export { maskedText } from './masking.js';
export { MessagingDashboardModule } from './dashboard.module.js';
export type {
  AuditEntry,
  AuditManager,
  DashboardAccess,
  DashboardAsyncOptions,
  DashboardMount,
  DashboardOptions,
  DashboardRequest,
  DashboardSettings,
  MessagePrice,
  SendCheck,
} from './dashboard.options.js';
